#include "sync-engine/attachments/staged_files.hpp"

#include <algorithm>

#include "api-client/base/text.hpp"

namespace ws::sync {
namespace {

const std::string staged_note = "staged";

/// No path holds a tab or a line feed.
std::string change_text(const Action& action) {
  const std::string from = action.previous_path ? action.previous_path->string() : std::string();
  const std::string hash = action.result ? action.result->hex() : std::string();
  return std::string(name(action.kind)) + "\t" + action.path.string() + "\t" + from + "\t" + hash;
}

}  // namespace

Result<StagedFiles> StagedFiles::load(Session& session) {
  StagedFiles staged;
  if (!session.knows_attachments()) return staged;
  WS_LET(const std::string noted, session.attachments().note(staged_note));
  for (const std::string_view change : split(noted, '\n')) {
    if (!change.empty()) staged.changes_.emplace(change);
  }
  return staged;
}

bool StagedFiles::has(const Action& action) const {
  return action.attachment && changes_.contains(change_text(action));
}

std::set<RelativePath> StagedFiles::paths() const {
  std::set<RelativePath> all;
  for (const std::string& change : changes_) {
    if (auto path = RelativePath::parse(split(change, '\t')[1])) all.insert(std::move(*path));
  }
  return all;
}

void StagedFiles::add(const Action& action) { changes_.insert(change_text(action)); }

void StagedFiles::drop(const Action& action) { changes_.erase(change_text(action)); }

Result<void> StagedFiles::store(AttachmentStore& store) const {
  std::string noted;
  for (const std::string& change : changes_) noted += change + "\n";
  return store.set_note(staged_note, noted);
}

Result<AttachmentSurvey> survey_staged(Session& session, const RunOptions& options) {
  WS_LET(const StagedFiles staged, StagedFiles::load(session));
  if (staged.is_empty()) return AttachmentSurvey{};
  // What is staged was weighed when it was.
  const RunOptions looking{.allow_deletes = true,
                           .allow_large = true,
                           .offline = true,
                           .dry_run = options.dry_run,
                           .looks_only = options.dry_run,
                           .whole = true,
                           .only = options.only};
  WS_LET(const Survey survey, ws::sync::survey(session, looking, PullMode::inspect));
  WS_LET(AttachmentSurvey found, survey_attachments(session, survey, looking));
  const auto others = std::erase_if(found.plan.actions, [&](const Action& each) { return !staged.has(each); });
  found.is_partial = found.is_partial || others + found.plan.collisions.size() > 0;
  found.plan = {.actions = std::move(found.plan.actions), .known_as = std::move(found.plan.known_as)};
  found.open.clear();
  found.remarks.clear();
  return found;
}

Result<void> mark_staged_files(Session& session, std::vector<Row>& rows) {
  WS_LET(const StagedFiles staged, StagedFiles::load(session));
  for (Row& row : rows) {
    if (row.state == Row::State::planned && staged.has(row.action)) row.state = Row::State::staged;
  }
  return {};
}

}  // namespace ws::sync
