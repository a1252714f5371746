#include "sync-engine/steps/resolved_elsewhere.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/steps/conflict_files.hpp"

namespace ws::sync {
namespace {

bool is_recorded(const Conflict& conflict) { return !conflict.here_only && !conflict.id.empty(); }

/// What both sides agree on now: the text that this tree pushed, in the state that the service had it from.
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

/// A name is not decided by a text: what is in the way on disk still is.
bool settles_text(const Conflict& conflict) { return conflict.local && !is_about_place(conflict); }

}  // namespace

Result<void> take_over_resolutions(Session& session, Survey& survey, Pulled keep) {
  if (session.remote == nullptr ||
      std::none_of(survey.known_conflicts.begin(), survey.known_conflicts.end(), is_recorded))
    return {};
  WS_LET(const SourceInfo source, session.remote->find_source(session.tie.source_id));
  if (!source.open_conflicts) return {};  // a service that does not say
  std::vector<Conflict> still_open;
  for (const Conflict& conflict : survey.known_conflicts) {
    const bool open = std::find(source.open_conflicts->begin(), source.open_conflicts->end(), conflict.id) !=
                      source.open_conflicts->end();
    const ThreeTexts texts = read_conflict_texts(session.root.path(), conflict.id);
    const bool has_text = settles_text(conflict) && texts.local && Sha256::of(*texts.local) == conflict.local->hash;
    if (open || !is_recorded(conflict)) {
      still_open.push_back(conflict);
      continue;
    }
    std::optional<BaseRow> row;
    if (has_text) row = pushed_text(survey, conflict, git::object_id(git::ObjectType::blob, *texts.local));
    if (row) survey.base_rows.insert_or_assign(conflict.document, *row);
    if (keep == Pulled::look_at) continue;
    if (row) {
      WS_LET(row->blob, session.history.keep(*texts.local));
      // It becomes the base and was never a state: without this nobody would find it in `ws sync log`.
      WS_TRY(session.history.record_before({{.path = conflict.path.string(), .blob = row->blob}}, {}));
    }
    WS_TRY(session.history.flush());
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    if (row) WS_TRY(session.state.put_base(conflict.document, *row));
    WS_TRY(session.state.drop_conflict(conflict.id));
    WS_TRY(transaction.commit());
    remove_conflict_files(session.root.path(), conflict.id);
  }
  survey.known_conflicts = std::move(still_open);
  return {};
}

}  // namespace ws::sync
