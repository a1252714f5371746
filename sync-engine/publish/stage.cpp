#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/state/state_store.hpp"
#include "sync-engine/survey/held_documents.hpp"

namespace ws::sync {
namespace {

// Splits a push into commits.
//
// The answer to a commit is one bounded JSON value, which limits its items. Paths are checked after all items of a
// commit took effect: so documents that exchange paths are in one commit, and moves and deletes go before the rest.

struct CommitParts {
  std::vector<std::size_t> order;  ///< the places of the items, in the order in which they go
  std::vector<std::size_t> ends;   ///< of each part, in `order`
};

/// Union-find: each set is named by one of its members.
class JoinedSets {
 public:
  std::size_t add() {
    parents_.push_back(parents_.size());
    return parents_.size() - 1;
  }
  std::size_t find(std::size_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  /// The older of the two stands for both.
  void join(std::size_t a, std::size_t b) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    parents_[second] = first;
  }

 private:
  std::vector<std::size_t> parents_;
};

/// Documents that exchange paths and must be in one commit.
class Movers {
 public:
  explicit Movers(const std::vector<const StagedItem*>& items) {
    for (const StagedItem* staged : items) {
      const PushItem& item = staged->item;
      if (item.kind == ActionKind::push_delete) leave(item.document, item.path);
      if (item.kind != ActionKind::push_move) continue;
      leave(item.document, item.previous_path.value_or(item.path));
      take(item.document, item.path);
    }
    // A file that becomes a folder of others, and a folder that becomes a file.
    join_above(taken_, left_);
    join_above(left_, taken_);
  }

  /// The set of a document; empty: it stays where it is.
  std::optional<std::size_t> set_of(const DocumentId& document) {
    const auto found = members_.find(document);
    return found == members_.end() ? std::nullopt : std::optional(sets_.find(found->second));
  }

 private:
  using Places = std::unordered_map<std::string, std::size_t>;

  std::size_t member(const DocumentId& document) {
    const auto [found, fresh] = members_.try_emplace(document, 0);
    if (fresh) found->second = sets_.add();
    return found->second;
  }

  void leave(const DocumentId& document, const RelativePath& path) { note(document, path.twin_key(), left_, taken_); }
  void take(const DocumentId& document, const RelativePath& path) { note(document, path.twin_key(), taken_, left_); }

  void note(const DocumentId& document, const std::string& key, Places& here, const Places& others) {
    const std::size_t who = member(document);
    const auto [same, fresh] = here.try_emplace(key, who);
    if (!fresh) sets_.join(same->second, who);
    if (const auto other = others.find(key); other != others.end()) sets_.join(other->second, who);
  }

  void join_above(const Places& places, const Places& others) {
    for (const auto& [key, who] : places) {
      for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
        if (const auto above = others.find(key.substr(0, slash)); above != others.end()) {
          sets_.join(above->second, who);
        }
      }
    }
  }

  JoinedSets sets_;
  std::unordered_map<DocumentId, std::size_t> members_;
  Places left_;
  Places taken_;
};

/// At most `most` items a part, unless more of them change places with each other.
CommitParts commit_parts(const std::vector<const StagedItem*>& items, std::size_t most) {
  CommitParts parts;
  parts.order.resize(items.size());
  std::iota(parts.order.begin(), parts.order.end(), std::size_t{0});
  if (items.size() <= most) {
    parts.ends.push_back(items.size());
    return parts;
  }
  Movers movers(items);
  const std::size_t none = items.size();
  std::vector<std::size_t> sets;
  sets.reserve(items.size());
  for (const StagedItem* staged : items) sets.push_back(movers.set_of(staged->item.document).value_or(none));
  // With a document that moves go its edits, which are made from the same revision.
  std::stable_sort(parts.order.begin(), parts.order.end(), [&](auto a, auto b) { return sets[a] < sets[b]; });
  std::size_t begin = 0;
  std::size_t fits = 0;  // where the part at hand can end
  for (std::size_t i = 1; i <= items.size(); ++i) {
    const bool together =
        i < items.size() && sets[parts.order[i]] != none && sets[parts.order[i]] == sets[parts.order[i - 1]];
    if (together) continue;
    if (i - begin > most && fits > begin) {
      parts.ends.push_back(fits);
      begin = fits;
    }
    fits = i;
  }
  parts.ends.push_back(items.size());
  return parts;
}

/// Chooses what is staged, and sends it a part at a time.
class Stager {
 public:
  Stager(Session& session, const Survey& survey, std::vector<Row>& rows)
      : session_(session), survey_(survey), rows_(rows), revision_(survey.revision) {
    for (const Conflict& conflict : survey.plan.conflicts) {
      planned_conflicts_.try_emplace({conflict.document, conflict.path}, &conflict);
    }
    for (const Conflict& conflict : survey.known_conflicts) known_conflicts_.emplace(conflict.document, &conflict);
  }

  Result<void> collect() {
    WS_TRY(session_.state.clear_staged());
    WS_LET(refused_, session_.state.refused());
    WS_LET(const SafeWriter files, SafeWriter::open(session_.root));
    // A failed local row holds back the pushes of its document: a move would name the revision of a text that is not
    // here.
    for (const Row& row : rows_) {
      if (row.state == Row::State::failed && !row.action.document.empty()) held_up_.insert(row.action.document);
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (held_up_.contains(rows_[row].action.document)) continue;
      if (auto item = item_for(rows_[row])) WS_TRY(add(files, row, std::move(*item)));
    }
    hold_back_conflicts();
    if (waiting_.empty()) return {};
    note_sizes();
    put_in_order();
    WS_TRY(session_.check_cancelled());
    return session_.history.record_before({}, used_up_);
  }

  /// Stages and returns the next part; empty: none is left. A part without items: the service refused them all.
  Result<CommitPart> send_next() {
    CommitPart part;
    part.commit.items.reserve(ends_.front() - next_);
    for (const std::size_t end = ends_.front(); next_ < end; ++next_) {
      part.commit.items.push_back(std::move(waiting_.front().first));
      part.rows.push_back(waiting_.front().second);
      waiting_.pop_front();
    }
    ends_.pop_front();
    const auto sent =
        send_part(session_, part, revision_, rows_, [this] { session_.progress(Stage::push, ++sent_, all_); });
    if (sent) return part;
    if (sent.error().kind != Failure::Kind::forbidden) return fail(sent.error());
    // Missing permission fails each row; any other failure ends the call.
    for (const std::size_t row : part.rows) rows_[row].fail(cannot_push(sent.error()));
    return CommitPart{};
  }

  bool any_left() const { return !ends_.empty(); }

  /// The counter after the parts that are committed.
  void expect_revision(SourceRevision revision) { revision_ = std::max(revision_, revision); }

 private:
  using Waiting = std::deque<std::pair<StagedItem, std::size_t>>;

  /// Do not push a conflicting file in the same commit as a change to the document that occupies its path: the commit
  /// might accept it, and a path can be pushed once only. The next run records the conflict.
  void hold_back_conflicts() {
    const auto records = [](const auto& each) { return each.first.conflict != nullptr; };
    if (std::none_of(waiting_.begin(), waiting_.end(), records)) return;
    std::multimap<std::string, DocumentId> changed;
    for (const auto& [staged, row] : waiting_) {
      if (!staged.conflict) changed.emplace(staged.item.path.twin_key(), staged.item.document);
    }
    std::erase_if(waiting_, [&](const auto& each) {
      if (!records(each)) return false;
      const auto [first, last] = changed.equal_range(each.first.item.path.twin_key());
      return std::any_of(first, last, [&](const auto& other) { return other.second != each.first.item.document; });
    });
  }

  void note_sizes() {
    PushItems unsized;
    for (auto& [staged, row] : waiting_) {
      if (!staged.conflict) unsized.emplace(staged.disk_path.text(), &staged.item);
    }
    ws::sync::note_sizes(survey_.scan, unsized);
  }

  void put_in_order() {
    all_ = waiting_.size();
    std::vector<const StagedItem*> items;
    for (const auto& [staged, row] : waiting_) items.push_back(&staged);
    const CommitParts parts = commit_parts(items, session_.options.commit_items);
    ends_.assign(parts.ends.begin(), parts.ends.end());
    if (std::is_sorted(parts.order.begin(), parts.order.end())) return;
    Waiting ordered;
    for (const std::size_t place : parts.order) ordered.push_back(std::move(waiting_[place]));
    waiting_ = std::move(ordered);
  }

  std::optional<StagedItem> item_for(const Row& row) const {
    const Action& action = row.action;
    if (is_push(action.kind) && row.state == Row::State::planned)
      return StagedItem{.item = push_item_of(action), .disk_path = action.path};
    if (action.kind == ActionKind::merge && row.state == Row::State::done) {
      return StagedItem{.item = {.kind = ActionKind::push_update,
                                 .path = action.service_path.value_or(action.path),
                                 .document = action.document,
                                 .hash = action.result,
                                 .revision = action.revision},
                        .disk_path = action.path};
    }
    return action.kind == ActionKind::conflict ? item_for_conflict(action) : std::nullopt;
  }

  /// Pushed with the revision that it was made from, so that the commit refuses it and records both texts.
  std::optional<StagedItem> item_for_conflict(const Action& action) const {
    const auto planned = planned_conflicts_.find({action.document, action.path});
    if (planned == planned_conflicts_.end()) return std::nullopt;
    const Conflict* const found = planned->second;
    const std::optional<ActionKind>& kind = found->row().pushed_as;
    if (!kind || is_recorded(*found)) return std::nullopt;
    PushItem item{.kind = *kind, .path = found->path, .hash = found->local->hash};
    if (*kind != ActionKind::push_create) {
      item.document = found->document;
      item.revision = found->base->revision;
    }
    if (*kind == ActionKind::push_move) item.previous_path = found->base->path;
    return StagedItem{
        .item = std::move(item), .disk_path = found->path, .conflict = std::make_unique<Conflict>(*found)};
  }

  bool is_recorded(const Conflict& conflict) const {
    const auto [first, last] = known_conflicts_.equal_range(conflict.document);
    return std::any_of(first, last, [&](const auto& each) {
      const Conflict& known = *each.second;
      return (!known.is_here_only() || !known.row().pushed_as) && known.local == conflict.local &&
             known.remote == conflict.remote;
    });
  }

  Result<void> add(const SafeWriter& files, std::size_t row, StagedItem staged) {
    if (!staged.item.hash && came_back(files, staged.disk_path)) {
      rows_[row].fail({.kind = Failure::Kind::conflict,
                       .what = fmt::format("{} was created again during the sync", staged.disk_path.text()),
                       .hint = "run the same command again"});
      return {};
    }
    if (staged.item.kind == ActionKind::push_move && !staged.conflict) {
      // Its text stays where it is.
    } else if (staged.item.hash) {
      // What records a conflict is looked at now; the others are read when they are sent.
      if (staged.conflict) {
        WS_LET(const bool is_sent, add_conflict_text(files, row, staged));
        if (!is_sent) return {};
      }
    } else if (const auto there = survey_.pending.find(staged.item.document);
               there != survey_.pending.end() && !there->second.blob.empty()) {
      // A local delete that wins over a remote edit: the remote text is kept in the history.
      used_up_.push_back({.path = staged.item.path.string(), .blob = there->second.blob});
    }
    waiting_.emplace_back(std::move(staged), row);
    return {};
  }

  Result<bool> add_conflict_text(const SafeWriter& files, std::size_t row, StagedItem& staged) {
    const auto text = files.read(staged.disk_path);
    if (!text || Sha256::of(*text) != *staged.item.hash) {
      rows_[row].fail(changed_meanwhile(staged.disk_path));
      return false;
    }
    // The file has conflict markers: the conflict keeps its recorded text.
    if (was_refused(session_, refused_, staged.disk_path, *staged.item.hash)) return false;
    if (is_being_merged(session_.root, staged.conflict->id, *text)) return false;
    staged.item.size_bytes = text->size();
    WS_LET(staged.blob, session_.history.keep(*text));
    return true;
  }

  /// Editors that save by replacing a file remove it for a moment. Another document may be at the path legitimately.
  bool came_back(const SafeWriter& files, const RelativePath& path) {
    if (survey_.absent.contains(path)) return false;
    if (!files.read(path)) return false;
    if (places_.empty()) {
      for (const auto& [document, entry] : survey_.local.tracked) places_.insert(entry.path);
      for (const auto& [created, hash] : survey_.local.created) places_.insert(created);
      for (const Skipped& skipped : survey_.local.skipped) {
        if (auto skipped_path = RelativePath::parse(skipped.path)) places_.insert(std::move(*skipped_path));
      }
    }
    return !places_.contains(path);
  }

  Session& session_;
  const Survey& survey_;
  std::vector<Row>& rows_;
  SourceRevision revision_;       ///< as far as this run knows
  Waiting waiting_;               ///< with the places of their rows
  std::deque<std::size_t> ends_;  ///< of the parts, counted from the first item of all
  std::size_t next_ = 0;          ///< how many items went
  std::size_t all_ = 0;
  std::uint64_t sent_ = 0;
  TextChanges used_up_;
  std::set<DocumentId> held_up_;
  std::map<std::string, std::string> refused_;
  std::map<std::pair<DocumentId, RelativePath>, const Conflict*> planned_conflicts_;
  std::multimap<DocumentId, const Conflict*> known_conflicts_;
  std::set<RelativePath> places_;  ///< where the plan saw files; filled when a delete asks
};

}  // namespace

Result<void> stage_changes(Session& session, const Survey& survey, std::vector<Row>& rows) {
  Stager stager(session, survey, rows);
  WS_TRY(stager.collect());
  if (!stager.any_left()) return {};
  WS_LET(const CommitPart part, stager.send_next());
  if (part.commit.items.empty()) return {};
  WS_TRY(session.state.put_staged(part.commit));
  for (const std::size_t row : part.rows) {
    if (is_push(rows[row].action.kind)) rows[row].state = Row::State::staged;
  }
  return {};
}

Result<void> publish_changes(Session& session,
                             const Survey& survey,
                             const std::string& message,
                             std::vector<Row>& rows,
                             const AwaitFiles& await_files) {
  Stager stager(session, survey, rows);
  WS_TRY(stager.collect());
  while (stager.any_left()) {
    WS_LET(CommitPart part, stager.send_next());
    if (part.commit.items.empty()) continue;
    part.commit.request.message = message;
    WS_TRY(commit_part(session, std::move(part), rows, await_files));
    WS_LET(const SourceRevision revision, session.state.source_revision());
    stager.expect_revision(revision);
  }
  return {};
}

}  // namespace ws::sync
