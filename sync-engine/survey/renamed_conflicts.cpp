#include "sync-engine/survey/renamed_conflicts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "sync-engine/tree/hash.hpp"

namespace ws::sync {
namespace {

/// Whether the file of the conflict is its document's own. What only stands at a place that the document wants, and
/// was renamed, is in nobody's way any more.
bool has_file(const Conflict& conflict) {
  using enum ConflictCase;
  constexpr std::array of_own_name = {renamed_on_both, renamed_on_both_kept_here, folder_at_old_name, place_refused};
  const bool is_its_own =
      conflict.is_about(ConflictSubject::text) || std::ranges::find(of_own_name, conflict.which) != of_own_name.end();
  return is_its_own && conflict.local && !conflict.document.empty();
}

}  // namespace

void follow_renames(Survey& survey) {
  for (Conflict& known : survey.known_conflicts) {
    const auto file = survey.local.tracked.find(known.document);
    if (!has_file(known) || file == survey.local.tracked.end() || file->second.path == known.path) continue;
    if (known.local->path == known.path) known.local->path = file->second.path;
    known.path = file->second.path;
    survey.unstored.renamed.push_back(known);
  }
}

Result<std::vector<Conflict>> find_open_conflicts(Session& session) {
  WS_LET(std::vector<Conflict> open, session.state.conflicts());
  if (std::ranges::none_of(open, has_file)) return open;
  WS_LET(const auto numbers, session.state.files());
  const auto may_be_elsewhere = [&](const Conflict& each) {
    if (!has_file(each)) return false;
    const auto here = find_file_id(session.root, each.path);
    const auto known = numbers.find(each.document);
    return !here || (known != numbers.end() && is_same_file(known->second, *here) == SameFile::no);
  };
  if (std::ranges::none_of(open, may_be_elsewhere)) return open;
  const RunOptions look{.merge = false, .offline = true, .dry_run = true, .whole = true};
  WS_LET(Survey seen, survey(session, look, PullMode::inspect));
  return std::move(seen.known_conflicts);
}

Result<void> store_renamed_conflicts(Session& session) {
  WS_LET(const std::vector<Conflict> before, session.state.conflicts());
  WS_LET(const std::vector<Conflict> now, find_open_conflicts(session));
  if (now == before) return {};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const Conflict& each : now) WS_TRY(session.state.put_conflict(each));
  return transaction.commit();
}

}  // namespace ws::sync
