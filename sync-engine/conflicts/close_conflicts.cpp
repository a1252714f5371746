#include "sync-engine/conflicts/close_conflicts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sync-engine/conflict_store/end_conflict.hpp"

namespace ws::sync {
namespace {

using ByDocument = std::multimap<DocumentId, const Conflict*>;

ByDocument by_document(const std::vector<Conflict>& conflicts) {
  ByDocument found;
  for (const Conflict& conflict : conflicts) found.emplace(conflict.document, &conflict);
  return found;
}

/// The file may have been renamed since: a conflict recorded on the service is matched by its document.
bool is_still_open(const ByDocument& planned, const Conflict& known) {
  const auto [first, last] = planned.equal_range(known.document);
  return std::any_of(first, last, [&](const auto& each) {
    const bool same_record = !known.is_here_only() && !known.document.empty() && each.second->row().pushed_as;
    return each.second->path == known.path || same_record;
  });
}

DocumentRevision revision_there(const Survey& survey, const DocumentId& document) {
  if (const auto changed = survey.remote.changed.find(document); changed != survey.remote.changed.end())
    return changed->second.revision;
  if (const auto gone = survey.remote.gone.find(document); gone != survey.remote.gone.end()) return gone->second;
  const auto base = survey.base.documents.find(document);
  return base == survey.base.documents.end() ? DocumentRevision{} : base->second.revision;
}

bool is_on_service(const Session& session, const Conflict& conflict) {
  return conflict.is_on_service() && session.remote != nullptr;
}

/// Recorded before the service is called: if the run is killed in between, the next one must not take the resolved
/// conflict for a decision of another client, which would make this tree's text the loser.
Result<void> mark_closing(Session& session, const std::vector<const Conflict*>& conflicts) {
  std::vector<Conflict> closing;
  for (const Conflict* conflict : conflicts) {
    if (conflict->record != ConflictRecord::closing && is_on_service(session, *conflict)) closing.push_back(*conflict);
  }
  if (closing.empty()) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (Conflict& conflict : closing) {
    conflict.record = ConflictRecord::closing;
    WS_TRY(session.state.put_conflict(conflict));
  }
  return transaction.commit();
}

/// False: it stays open for now.
Result<bool> close_there(Session& session, const Survey& survey, const Conflict& conflict) {
  if (!is_on_service(session, conflict)) return true;
  auto closed = session.remote->resolve({.conflict_id = conflict.id,
                                         .keep = Keep::remote,
                                         .expected_revision = revision_there(survey, conflict.document)});
  if (closed || closed.error().code == "conflict_resolved") return true;
  const Failure::Kind why = closed.error().kind;
  if (why == Failure::Kind::conflict) return false;
  // Not known there, or not accessible: nothing to close.
  if (why == Failure::Kind::not_found || why == Failure::Kind::forbidden) return true;
  if (is_about_one(closed.error())) return false;
  return fail(std::move(closed).error());
}

}  // namespace

HiddenFiles::HiddenFiles(const Survey& survey) : survey_(survey) {
  for (const Skipped& each : survey.plan.skipped) skipped_.insert(each.path);
}

bool HiddenFiles::hides(const Conflict& known) const {
  const auto& absent = survey_.remote.absent;
  if (survey_.local.unsyncable.contains(known.document)) return true;
  if (std::binary_search(absent.begin(), absent.end(), known.document)) return true;
  // An unsynced file is always skipped; whether it still blocks a document is in the plan.
  if (known.which == ConflictCase::not_synced) return false;
  return skipped_.contains(known.path.text());
}

Result<void> close_settled_conflicts(Session& session, const Survey& survey, const RunOptions& options) {
  const bool rewound = std::ranges::any_of(
      survey.plan.conflicts, [](const Conflict& each) { return each.which == ConflictCase::service_went_back; });
  if (options.only || rewound || survey.plan.guard || survey.known_conflicts.empty()) return {};
  const ByDocument planned = by_document(survey.plan.conflicts);
  const HiddenFiles hidden_files(survey);
  std::vector<const Conflict*> settled;
  for (const Conflict& known : survey.known_conflicts) {
    if (!is_still_open(planned, known) && !hidden_files.hides(known)) settled.push_back(&known);
  }
  WS_TRY(mark_closing(session, settled));
  std::vector<EndedConflict> ended;
  std::optional<Failure> ended_by;
  for (const Conflict* known : settled) {
    auto closed = close_there(session, survey, *known);
    if (!closed) {
      ended_by = std::move(closed).error();
      break;
    }
    if (*closed) ended.push_back({.id = known->id});
  }
  WS_TRY(end_conflicts(session, ended));
  return ended_by ? Result<void>(fail(std::move(*ended_by))) : Result<void>();
}

}  // namespace ws::sync
