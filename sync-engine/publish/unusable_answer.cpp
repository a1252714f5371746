#include "sync-engine/publish/unusable_answer.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "sync-engine/survey/refused_documents.hpp"

namespace ws::sync {
namespace {

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
    const auto known = of_document_.find(pulled.document.text);
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
    Wish& wish = of_document_[item.document.text];
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
  std::unordered_map<std::string, Wish> of_document_;
  std::unordered_map<std::string, std::size_t> created_;  ///< by path
  CommitAnswer answer_;
};

}  // namespace

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
