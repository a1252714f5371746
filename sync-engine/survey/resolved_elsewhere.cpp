#include "sync-engine/survey/resolved_elsewhere.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/uuid.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"

namespace ws::sync {
namespace {

/// Missing from the list of open conflicts does not mean resolved: a restored service forgets its records.
/// `listed`: the ids of the open ones; empty: the service does not list them.
Result<ConflictState> state_of(Session& session,
                               const std::optional<std::set<std::string>>& listed,
                               const Conflict& conflict) {
  if (!conflict.is_on_service()) return ConflictState::open;
  // Without a valid id it can be neither read nor resolved: the next commit records it again.
  if (!is_uuid(conflict.id)) return ConflictState::unknown;
  if (!listed || listed->contains(conflict.id)) return ConflictState::open;
  const auto there = session.remote->find_conflict(conflict.id);
  if (there) return there->state;
  return is_about_one(there.error()) ? Result<ConflictState>(ConflictState::open) : fail(there.error());
}

/// The new base: the text that this tree pushed, at the base's path and revision.
std::optional<BaseRow> pushed_text(const Survey& survey, const Conflict& conflict, const git::ObjectId& blob) {
  const auto known = survey.base_rows.find(conflict.document);
  if (known != survey.base_rows.end()) {
    BaseRow row = known->second;
    row.entry.hash = conflict.local->hash;
    row.blob = blob;
    return row;
  }
  if (!conflict.remote) return std::nullopt;
  return BaseRow{.entry = {.path = conflict.path, .hash = conflict.local->hash, .revision = conflict.remote->revision},
                 .blob = blob};
}

/// Where the service's text won: what an undo of the run that receives it opens again, for this tree's text was never
/// the service's. Empty: another text won, which is taken back as any that is received.
std::optional<DecidedText> decided_for_theirs(const Survey& survey, const Conflict& conflict, const BaseRow& ours) {
  const auto pending = survey.pending.find(conflict.document);
  if (pending == survey.pending.end()) return std::nullopt;
  const std::optional<Entry>& there = pending->second.entry;
  DecidedText decided{.document = conflict.document,
                      .text = there ? there->hash : Sha256{},
                      .conflict = conflict,
                      .local_blob = ours.blob};
  return decided.is_for_theirs() ? std::optional(std::move(decided)) : std::nullopt;
}

/// A resolution of a text does not settle a path conflict: the obstacle is still on disk.
bool settles_text(const Conflict& conflict) { return conflict.local && !conflict.is_about(ConflictSubject::place); }

}  // namespace

Result<void> take_over_resolutions(Session& session, Survey& survey, PullMode mode) {
  if (session.remote == nullptr ||
      std::ranges::none_of(survey.known_conflicts, [](const Conflict& each) { return each.is_on_service(); }))
    return {};
  WS_LET(const SourceInfo source, session.remote->find_source(session.binding.source_id));
  std::optional<std::set<std::string>> listed;
  if (source.open_conflicts) listed.emplace(source.open_conflicts->begin(), source.open_conflicts->end());
  std::vector<Conflict> still_open;
  std::vector<EndedConflict> ended;
  TextChanges kept;
  for (const Conflict& conflict : survey.known_conflicts) {
    WS_LET(const ConflictState state, state_of(session, listed, conflict));
    if (state == ConflictState::open) {
      still_open.push_back(conflict);
      continue;
    }
    // The file holds conflict markers: ending the conflict would push them as an edit.
    if (state == ConflictState::unknown && is_merging_by_hand(session.root, conflict.id)) {
      still_open.push_back(conflict);
      still_open.back().record = ConflictRecord::here;
      if (mode != PullMode::inspect) WS_TRY(session.state.put_conflict(still_open.back()));
      continue;
    }
    const ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
    const bool has_text = settles_text(conflict) && texts.local && Sha256::of(*texts.local) == conflict.local->hash;
    std::optional<BaseRow> row;
    // A record that the service lost is no decision: the document is planned again from its base.
    if (has_text && state == ConflictState::resolved && conflict.record != ConflictRecord::closing)
      row = pushed_text(survey, conflict, git::object_id(git::ObjectType::blob, *texts.local));
    if (row) survey.base_rows.insert_or_assign(conflict.document, *row);
    if (mode == PullMode::inspect) continue;
    if (row) {
      WS_LET(row->blob, session.history.keep(*texts.local));
      // It becomes the base without being a state of the history: recorded, so that `ws sync log` shows it.
      kept.push_back({.path = conflict.path.string(), .blob = row->blob});
    }
    ended.push_back({.id = conflict.id});
    if (!row) continue;
    ended.back().end.base.emplace(conflict.document, *row);
    ended.back().end.decided = decided_for_theirs(survey, conflict, *row);
  }
  if (!kept.empty()) WS_TRY(session.history.record_before(kept, {}));
  WS_TRY(end_conflicts(session, ended));
  survey.known_conflicts = std::move(still_open);
  return {};
}

}  // namespace ws::sync
