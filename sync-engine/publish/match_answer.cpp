#include "sync-engine/publish/match_answer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

using ItemPlaces = std::vector<std::size_t>;
using ItemsByText = std::unordered_map<std::string, ItemPlaces>;
using ItemsOfDocument = std::unordered_map<DocumentId, ItemPlaces>;

template <class Places>
const ItemPlaces& places_at(const Places& places, const typename Places::key_type& key) {
  static const ItemPlaces none;
  const auto found = places.find(key);
  return found == places.end() ? none : found->second;
}

/// The places of the items by their paths as they go out.
ItemsByText by_service_form(const std::vector<StagedItem>& items) {
  ItemsByText places;
  for (std::size_t i = 0; i < items.size(); ++i) places[service_form(items[i].item.path.text())].push_back(i);
  return places;
}

class AnswerMatcher {
 public:
  AnswerMatcher(Remote& remote, const std::vector<StagedItem>& items, const CommitAnswer& answer)
      : remote_(remote), items_(items), answer_(answer), answered_(items.size()), at_path_(by_service_form(items)) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].item.document.empty()) of_document_[items[i].item.document].push_back(i);
    }
    for (std::size_t i = 0; i < answer.applied.size(); ++i) {
      const AppliedItem& applied = answer.applied[i];
      applied_at_[service_form(applied.path)].push_back(i);
      if (!applied.document.empty()) applied_to_[applied.document].push_back(i);
    }
  }

  Result<std::vector<Answered>> match() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const PushItem& item = items_[i].item;
      if (!item.document.empty()) answered_[i].applied = best_for(item, places_at(applied_to_, item.document));
    }
    for (const RecordedConflict& conflict : answer_.conflicts) {
      WS_LET(const ItemPlaces about, items_of(conflict));
      for (const std::size_t i : about) answered_[i].conflict = &conflict;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (is_open(i)) answered_[i].applied = applied_by_path(items_[i].item);
    }
    return std::move(answered_);
  }

 private:
  bool is_open(std::size_t place) const {
    return answered_[place].applied == nullptr && answered_[place].conflict == nullptr;
  }

  /// A moved and edited document is named twice: matched by kind, or by text where the answer has no kind.
  const AppliedItem* best_for(const PushItem& item, const ItemPlaces& candidates) const {
    const AppliedItem* best = nullptr;
    for (const std::size_t i : candidates) {
      const AppliedItem& applied = answer_.applied[i];
      if (applied.kind == item.kind) return &applied;
      if (best == nullptr || (best->hash != item.hash && applied.hash == item.hash)) best = &applied;
    }
    return best;
  }

  /// For new items, and answers without a document. An answer about another item's document does not count.
  const AppliedItem* applied_by_path(const PushItem& item) const {
    const std::string path = service_form(item.path.text());
    const bool alone = places_at(at_path_, path).size() == 1;
    ItemPlaces candidates;
    for (const std::size_t i : places_at(applied_at_, path)) {
      const AppliedItem& applied = answer_.applied[i];
      const bool same_kind = applied.kind == item.kind;
      const bool fits = applied.document.empty() ? alone || same_kind
                                                 : item.document.empty() && (same_kind || !is_ours(applied.document));
      if (fits) candidates.push_back(i);
    }
    return best_for(item, candidates);
  }

  bool is_ours(const DocumentId& document) const { return of_document_.contains(document); }

  /// All items of the document that a conflict is about.
  Result<ItemPlaces> items_of(const RecordedConflict& conflict) {
    ItemPlaces at;
    for (const std::size_t i : places_at(at_path_, service_form(conflict.path))) {
      if (is_open(i)) at.push_back(i);
    }
    if (!at.empty() && all_of_one(at)) return at;
    if (conflict.id.empty()) return by_kind(conflict, at);
    const auto there = remote_.find_conflict(conflict.id);
    if (!there && !is_about_one(there.error())) return fail(there.error());
    ItemPlaces named;
    for (const std::size_t i : places_at(of_document_, there ? there->remote.document : DocumentId())) {
      if (is_open(i)) named.push_back(i);
    }
    return named.empty() ? by_kind(conflict, at) : named;
  }

  bool all_of_one(const ItemPlaces& places) const {
    const DocumentId& first = items_[places.front()].item.document;
    return places.size() == 1 || (!first.empty() && std::all_of(places.begin(), places.end(), [&](std::size_t i) {
             return items_[i].item.document == first;
           }));
  }

  /// Prefers a delete for `delete_edit` and a new file for the rest, as the service cannot name its document.
  ItemPlaces by_kind(const RecordedConflict& conflict, const ItemPlaces& at) const {
    const auto rank = [&](std::size_t i) {
      const PushItem& item = items_[i].item;
      const bool deletes = item.kind == ActionKind::push_delete;
      if (deletes != (conflict.kind == ConflictKind::delete_edit)) return 2;
      return item.document.empty() ? 0 : 1;
    };
    const auto best = std::min_element(at.begin(), at.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
    return best == at.end() ? ItemPlaces{} : ItemPlaces{*best};
  }

  Remote& remote_;
  const std::vector<StagedItem>& items_;
  const CommitAnswer& answer_;
  std::vector<Answered> answered_;
  ItemsByText at_path_;          ///< of `items_`
  ItemsOfDocument of_document_;  ///< of `items_`
  ItemsByText applied_at_;       ///< of the answer's, by path
  ItemsOfDocument applied_to_;   ///< of the answer's
};

/// Whether a refusal's code can apply to an item: a delete has no text that could be refused.
bool may_refuse(const std::string& code, const PushItem& item) {
  if (is_out_of_reach(code)) return !item.document.empty();
  return item.kind != ActionKind::push_delete;
}

/// The state of a document on the service if all of its items were applied.
struct Wish {
  std::vector<std::size_t> places;  ///< of its items
  std::optional<Sha256> hash;       ///< empty: deleted
  std::string path = {};            ///< empty: it was not moved
  bool updates = false;
};

class ArrivalsFinder {
 public:
  explicit ArrivalsFinder(const std::vector<StagedItem>& items) : items_(items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].conflict) add(i);
    }
  }

  Result<void> visit(const PulledItem& pulled) {
    const auto known = of_document_.find(pulled.document);
    if (known != of_document_.end()) {
      if (is_as_wished(known->second, pulled)) note(known->second.places, pulled);
      return {};
    }
    const auto created = created_.find(service_form(pulled.path));
    if (created == created_.end() || pulled.deleted || hash_of(pulled) != items_[created->second].item.hash) return {};
    note({created->second}, pulled);
    return {};
  }

  CommitAnswer take() { return std::move(answer_); }

 private:
  void add(std::size_t place) {
    const PushItem& item = items_[place].item;
    const std::string path = service_form(item.path.text());
    if (item.document.empty()) {
      created_.emplace(path, place);
      return;
    }
    Wish& wish = of_document_[item.document];
    wish.places.push_back(place);
    // A move names the text before an edit in the same commit.
    if (!wish.updates) wish.hash = item.hash;
    wish.updates = wish.updates || item.kind == ActionKind::push_update;
    if (item.kind == ActionKind::push_move) wish.path = path;
  }

  static std::optional<Sha256> hash_of(const PulledItem& pulled) {
    return pulled.hash || !pulled.content ? pulled.hash : Sha256::of(*pulled.content);
  }

  static bool is_as_wished(const Wish& wish, const PulledItem& pulled) {
    if (!wish.hash || pulled.deleted) return !wish.hash && pulled.deleted;
    return hash_of(pulled) == wish.hash && (wish.path.empty() || service_form(pulled.path) == wish.path);
  }

  void note(const std::vector<std::size_t>& places, const PulledItem& pulled) {
    for (const std::size_t place : places) {
      const PushItem& item = items_[place].item;
      answer_.applied.push_back({.path = item.path.string(),
                                 .kind = item.kind,
                                 .document = pulled.document,
                                 .revision = pulled.revision,
                                 .hash = item.hash});
    }
  }

  const std::vector<StagedItem>& items_;
  std::unordered_map<DocumentId, Wish> of_document_;
  std::unordered_map<std::string, std::size_t> created_;  ///< by path
  CommitAnswer answer_;
};

}  // namespace

Result<std::vector<Answered>> match_answer(Remote& remote,
                                           const std::vector<StagedItem>& items,
                                           const CommitAnswer& answer) {
  return AnswerMatcher(remote, items, answer).match();
}

std::vector<Refusal> find_refused(const std::vector<StagedItem>& items, const std::vector<Rejected>& rejected) {
  if (rejected.empty()) return {};
  std::vector<Refusal> refusals;
  std::vector<bool> taken(items.size());
  const ItemsByText at_path = by_service_form(items);
  for (const Rejected& each : rejected) {
    std::optional<std::size_t> meant;
    for (const std::size_t i : places_at(at_path, service_form(each.path))) {
      if (taken[i]) continue;
      if (!meant || (may_refuse(each.code, items[i].item) && !may_refuse(each.code, items[*meant].item))) meant = i;
    }
    if (!meant) continue;
    taken[*meant] = true;
    refusals.push_back({.place = *meant, .why = &each});
  }
  return refusals;
}

bool is_unusable_answer(const Failure& failure) {
  return failure.kind == Failure::Kind::unknown_outcome && failure.code == "unusable_answer";
}

Result<CommitAnswer> find_applied_items(Session& session, const std::vector<StagedItem>& items) {
  ArrivalsFinder finder(items);
  WS_LET(const SourceRevision since, session.state.source_revision());
  WS_TRY(session.remote->pull(
      session.binding.source_id, since, [&finder](const PulledItem& pulled) { return finder.visit(pulled); }));
  return finder.take();
}

}  // namespace ws::sync
