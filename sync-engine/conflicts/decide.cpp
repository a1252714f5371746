#include "sync-engine/conflicts/decide.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "api-client/base/utf8.hpp"
#include "api-client/base/uuid.hpp"
#include "sync-engine/apply/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/conflict_store/end_conflict.hpp"
#include "sync-engine/conflicts/conflict_markers.hpp"
#include "sync-engine/conflicts/decide_place.hpp"
#include "sync-engine/conflicts/decide_rewound.hpp"
#include "sync-engine/conflicts/refresh_conflict.hpp"
#include "sync-engine/merge/marker_lines.hpp"
#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/session/service_text.hpp"

namespace ws::sync {
namespace {

class Decision {
 public:
  /// `not_free`: names that the service would not give a copy.
  Decision(
      Session& session, const Conflict& conflict, Keep keep, SafeWriter writer, const std::set<RelativePath>& not_free)
      : session_(session), conflict_(conflict), keep_(keep), writer_(std::move(writer)), not_free_(not_free) {}

  /// Where the copy was to lie when the service refused; empty: it was not asked.
  const std::optional<RelativePath>& refused_copy() const { return refused_copy_; }

  Result<void> carry_out(const std::optional<std::string>& merged) {
    if (auto seen = has_seen_their_text(); !seen)
      return fail(look_after_refusal(session_, conflict_, std::move(seen).error()));
    texts_ = read_conflict_texts(session_.root, conflict_.id);
    WS_TRY(is_no_folder());
    WS_LET(on_disk_, read_if_there(writer_, conflict_.path));
    WS_TRY(has_what_was_recorded());
    WS_LET(const std::optional<RelativePath> copy, copy_path());
    ResolveRequest request{.conflict_id = conflict_.id, .keep = keep_, .content = merged};
    if (conflict_.remote) request.expected_revision = conflict_.remote->revision;  // none there: none expected
    if (copy) request.path_for_local_copy = copy->string();
    std::optional<AppliedItem> result;
    if (!conflict_.here_only) {
      auto answered = session_.remote->resolve(request);
      if (!answered) {
        refused_copy_ = copy;
        return fail(look_after_refusal(session_, conflict_, std::move(answered).error()));
      }
      result = std::move(*answered);
    }
    WS_TRY(keep_their_text());
    if (copy) WS_TRY(write_copy(*copy));
    WS_LET(const std::optional<std::string> text, winning_text(merged));
    if (keep_ != Keep::local || holds_both_texts())
      WS_TRY(replace_file(session_, writer_, conflict_.path, on_disk_, text));
    return conflict_.here_only && keep_ != Keep::remote ? leave_to_push() : store(result, text);
  }

 private:
  /// One that only the service saw has no text of theirs until the next pull: nobody could know what loses.
  Result<void> has_seen_their_text() const {
    if (conflict_.remote || (conflict_.kind != ConflictKind::revision && conflict_.kind != ConflictKind::hash))
      return {};
    return fail(Failure::Kind::conflict,
                fmt::format("what the service has at {} was not seen yet", conflict_.path.text()),
                "`ws sync` fetches it; then decide");
  }

  Result<void> is_no_folder() const {
    const Descriptor folder = session_.root.open_beneath(conflict_.path.text(), O_PATH | O_NOFOLLOW | O_DIRECTORY);
    if (!folder) return {};
    return fail(Failure::Kind::conflict,
                fmt::format("{} became a folder since the conflict was recorded", conflict_.path.text()),
                "`ws sync` records it as it is now; then decide");
  }

  /// `--markers` put them there, and nobody took them out: the local text is the one that was recorded.
  bool holds_both_texts() const {
    return on_disk_ && is_merging_by_hand(session_.root, conflict_.id) &&
           adds_markers(*on_disk_, {texts_.base.value_or(""), texts_.local.value_or(""), texts_.remote.value_or("")});
  }

  /// Both texts are kept as they were recorded, there too: a file that was edited since has a third one.
  Result<void> has_what_was_recorded() const {
    if (keep_ != Keep::both || !on_disk_ || !conflict_.local) return {};
    const Sha256 now = Sha256::of(*on_disk_);
    if (now == conflict_.local->hash || (conflict_.remote && now == conflict_.remote->hash)) return {};
    return fail(Failure::Kind::conflict,
                fmt::format("{} was edited since the conflict was recorded", conflict_.path.text()),
                "`ws sync` records it as it is now; then decide");
  }

  Result<std::optional<RelativePath>> copy_path() const {
    using Path = std::optional<RelativePath>;
    if (keep_ != Keep::both) return Path{};
    auto copy = name_beside(conflict_.path, "local", [this](const RelativePath& place) {
      if (not_free_.contains(place)) return false;
      const auto there = writer_.read(place);
      return there ? is_own_copy(place, *there) : there.error().kind == Failure::Kind::not_found;
    });
    if (copy) return copy;
    return fail(Failure::Kind::conflict, fmt::format("no free name for a copy of {}", conflict_.path.text()));
  }

  /// Written by a decision that was cut off before it could say so: no second copy is made.
  bool is_own_copy(const RelativePath& place, const std::string& text) const {
    if (!conflict_.local || Sha256::of(text) != conflict_.local->hash) return false;
    const auto base = session_.state.base();
    return base &&
           std::none_of(base->begin(), base->end(), [&](const auto& row) { return row.second.disk_path() == place; });
  }

  Result<std::string> local_text() const {
    if (on_disk_ && conflict_.local && Sha256::of(*on_disk_) == conflict_.local->hash) return *on_disk_;
    if (texts_.local) return *texts_.local;
    return fail(Failure::Kind::disk,
                fmt::format("the local text of the conflict at {} is lost", conflict_.path.text()));
  }

  Result<std::optional<std::string>> remote_text() {
    using Text = std::optional<std::string>;
    if (!conflict_.remote) return Text{};
    if (texts_.remote && Sha256::of(*texts_.remote) == conflict_.remote->hash) return Text(texts_.remote);
    WS_LET(Text text, text_there(session_, conflict_.document, {}, conflict_.remote->hash));
    return text ? Result<Text>(std::move(text)) : fail(changed_again(conflict_));
  }

  /// What stands at the path from now on; empty: no file.
  Result<std::optional<std::string>> winning_text(const std::optional<std::string>& merged) {
    using Text = std::optional<std::string>;
    switch (keep_) {
      case Keep::merged: return merged;
      case Keep::remote:
      case Keep::both: return remote_text();
      case Keep::local: break;
    }
    if (!conflict_.local) return Text{};
    WS_LET(std::string text, local_text());
    return Text(std::move(text));
  }

  /// Theirs loses: it is a state like any other, so that `restore` brings it back.
  Result<void> keep_their_text() {
    if (keep_ == Keep::remote || keep_ == Keep::both || !conflict_.remote || !texts_.remote) return {};
    WS_LET(const git::ObjectId blob, session_.history.keep(*texts_.remote));
    return session_.history.record_before({}, {{.path = conflict_.path.string(), .blob = blob}});
  }

  Result<void> write_copy(const RelativePath& copy) {
    if (!conflict_.local) return {};
    WS_LET(const std::string text, local_text());
    if (const auto there = writer_.read(copy); there && *there == text) return {};
    return replace_file(session_, writer_, copy, std::nullopt, text);
  }

  /// The service was not told: it has its own text, which was seen, and the next run sends ours as an edit of that.
  Result<void> leave_to_push() {
    ConflictEnd end{.base = {{conflict_.document, std::nullopt}}, .pending = {{conflict_.document, std::nullopt}}};
    WS_LET(const std::optional<std::string> theirs, remote_text());
    if (theirs) {
      BaseRow row{.entry = *conflict_.remote};
      WS_LET(row.blob, session_.history.keep(*theirs));
      row.lie_at(conflict_.path);
      row.stays = row.placed && conflict_.base && conflict_.base->path != conflict_.path;
      end.base.insert_or_assign(conflict_.document, std::move(row));
    }
    return end_conflict(session_, conflict_, end);
  }

  Result<void> store(const std::optional<AppliedItem>& result, const std::optional<std::string>& text) {
    const bool is_named = result && !result->document.empty();
    const DocumentId document = is_named ? result->document : conflict_.document;
    std::optional<BaseRow> row;
    TextChanges after = {{.path = conflict_.path.string()}};
    if (text) {
      WS_LET(after.front().blob, session_.history.keep(*text));
    }
    // A new document that the service does not name comes with the next pull, with this very text.
    if (text && (conflict_.remote || is_named)) {
      const std::uint64_t known = conflict_.remote ? conflict_.remote->revision : 1;
      row = BaseRow{.entry = {.path = path_there(result),
                              .hash = Sha256::of(*text),
                              .revision = result && result->revision != 0 ? result->revision : known},
                    .blob = *after.front().blob};
      // The name is no part of what was decided: one that was given here goes to the service, one given there comes.
      row->lie_at(conflict_.path);
      row->stays = row->placed && conflict_.base && conflict_.base->path != conflict_.path;
    }
    WS_TRY(session_.history.record_after(after, "Resolved a conflict"));
    ConflictEnd end{.base = {{conflict_.document, std::nullopt}}, .pending = {{conflict_.document, std::nullopt}}};
    if (row) end.base.insert_or_assign(document, *row);
    return end_conflict(session_, conflict_, end);
  }

  /// Where the service has the document now, in the disk's own spelling where it is the same name.
  RelativePath path_there(const std::optional<AppliedItem>& result) const {
    if (!result && conflict_.here_only && conflict_.remote) return conflict_.remote->path;
    if (!result || result->path.empty() || result->path == utf8::nfc(conflict_.path.text())) return conflict_.path;
    auto parsed = RelativePath::parse(result->path);
    return parsed ? std::move(*parsed) : conflict_.path;
  }

  Session& session_;
  const Conflict& conflict_;
  Keep keep_;
  SafeWriter writer_;
  const std::set<RelativePath>& not_free_;
  std::optional<RelativePath> refused_copy_;
  ThreeTexts texts_;
  std::optional<std::string> on_disk_;
};

/// With both kept nothing is chosen: where the service's text changed again, or it has another file of the copy's name,
/// the same decision holds.
Result<void> decide_text(Session& session, Conflict conflict, Keep keep, const std::optional<std::string>& merged) {
  constexpr int most_attempts = 4;
  std::set<RelativePath> not_free;
  for (int attempt = 1;; ++attempt) {
    WS_LET(SafeWriter writer, SafeWriter::open(session.root));
    Decision decision(session, conflict, keep, std::move(writer), not_free);
    auto decided = decision.carry_out(merged);
    const bool met_change = !decided && decided.error().kind == Failure::Kind::conflict;
    if (!met_change || keep != Keep::both || attempt == most_attempts) return decided;
    WS_LET(const std::optional<Conflict> now, session.state.find_conflict(conflict.id));
    if (!now || (*now == conflict && !decision.refused_copy())) return decided;
    if (*now == conflict) not_free.insert(*decision.refused_copy());
    conflict = *now;
  }
}

}  // namespace

std::optional<ActionKind> decided_as(const Conflict& conflict, Keep keep) {
  if (conflict.here_only && keep == Keep::local) return std::nullopt;  // the plan that follows sends it
  switch (conflict.kind) {
    case ConflictKind::revision:
    case ConflictKind::hash: return keep == Keep::local ? ActionKind::push_update : ActionKind::pull_update;
    case ConflictKind::edit_delete: return keep == Keep::local ? ActionKind::push_create : ActionKind::pull_delete;
    case ConflictKind::path:
      // The rest of what is decided about names is carried out by the plan that follows, and told by it.
      return renamed_on_both(conflict) && keep == Keep::remote ? std::optional(ActionKind::pull_move) : std::nullopt;
    case ConflictKind::delete_edit:
    case ConflictKind::rewound: return std::nullopt;
  }
  return std::nullopt;
}

Result<void> decide_conflict(Session& session,
                             const Conflict& conflict,
                             Keep keep,
                             const std::optional<std::string>& merged) {
  WS_LET(const std::optional<Conflict> open, session.state.find_conflict(conflict.id));
  if (!open) {
    return fail(Failure::Kind::not_found,
                fmt::format("there is no open conflict at {} here", conflict.path.text()),
                "`ws sync conflicts` lists them; `ws sync` records what is new");
  }
  if (!open->here_only && !is_uuid(open->id)) {
    return fail(Failure::Kind::conflict,
                fmt::format("the service recorded the conflict at {} under an id that is none", conflict.path.text()),
                "`ws sync` has it recorded anew; then decide");
  }
  if (open->kind == ConflictKind::rewound) return decide_rewound(session, *open, keep);
  if (is_about_place(*open)) return decide_place(session, *open, keep);
  if (keep == Keep::merged && !merged) {
    return fail(Failure::Kind::usage, "`merged` needs the merged text", "give it with --file");
  }
  return decide_text(session, *open, keep, merged);
}

}  // namespace ws::sync
