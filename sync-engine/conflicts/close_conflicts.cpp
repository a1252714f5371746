#include "sync-engine/conflicts/close_conflicts.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/conflict_store/end_conflict.hpp"

namespace ws::sync {
namespace {

/// The plan's conflict may have another place by now: the service's record of its document is the same.
bool is_still_open(const Survey& survey, const Conflict& known) {
  return std::any_of(survey.plan.conflicts.begin(), survey.plan.conflicts.end(), [&](const Conflict& conflict) {
    if (conflict.document != known.document) return false;
    const bool same_record = !known.here_only && !known.document.empty() && is_for_service(conflict);
    return conflict.path == known.path || same_record;
  });
}

std::uint64_t revision_there(const Survey& survey, const DocumentId& document) {
  if (const auto changed = survey.remote.changed.find(document); changed != survey.remote.changed.end())
    return changed->second.revision;
  if (const auto gone = survey.remote.gone.find(document); gone != survey.remote.gone.end()) return gone->second;
  const auto base = survey.base.documents.find(document);
  return base == survey.base.documents.end() ? 0 : base->second.revision;
}

/// Before it is told: a run that ends in between must not take the service's word for somebody's decision, and this
/// tree's text for one that lost.
Result<void> note_closing(Session& session, Conflict conflict) {
  if (conflict.closing) return {};
  conflict.closing = true;
  return session.state.put_conflict(conflict);
}

/// False: it has to stay open for now.
Result<bool> close_there(Session& session, const Survey& survey, const Conflict& conflict) {
  if (conflict.here_only || conflict.id.empty() || session.remote == nullptr) return true;
  WS_TRY(note_closing(session, conflict));
  auto closed = session.remote->resolve({.conflict_id = conflict.id,
                                         .keep = Keep::remote,
                                         .expected_revision = revision_there(survey, conflict.document)});
  if (closed || closed.error().code == "conflict_resolved") return true;
  const Failure::Kind why = closed.error().kind;
  if (why == Failure::Kind::conflict) return false;
  // Nothing of it is ours to close.
  if (why == Failure::Kind::not_found || why == Failure::Kind::forbidden) return true;
  if (is_about_one(closed.error())) return false;
  return fail(std::move(closed).error());
}

}  // namespace

bool is_out_of_sight(const Survey& survey, const Conflict& known) {
  const auto& absent = survey.remote.absent;
  if (survey.local.hindered.contains(known.document)) return true;
  if (std::binary_search(absent.begin(), absent.end(), known.document)) return true;
  // What is not synced is skipped for as long as it is there: the plan knows whether a document wants its name.
  if (known.kind == ConflictKind::path && !known.local) return false;
  return std::ranges::any_of(survey.plan.skipped, [&](const Skipped& each) { return each.path == known.path.text(); });
}

Result<void> close_settled_conflicts(Session& session, const Survey& survey, const RunOptions& options) {
  const bool rewound = std::any_of(survey.plan.conflicts.begin(), survey.plan.conflicts.end(), is_rewound_service);
  if (options.only || rewound || survey.plan.guard) return {};
  for (const Conflict& known : survey.known_conflicts) {
    if (is_still_open(survey, known) || is_out_of_sight(survey, known)) continue;
    WS_LET(const bool closed, close_there(session, survey, known));
    if (closed) WS_TRY(end_conflict(session, known));
  }
  return {};
}

}  // namespace ws::sync
