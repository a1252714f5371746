/// The half of a plan that changes the service: stage, then commit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sync-engine/steps/survey.hpp"

namespace ws::sync {

/// Stages what `rows` want to push, and the open conflicts that no commit has recorded yet, with both texts. Rows that
/// may not be pushed (a viewer's key) or were refused say so. Nobody sees anything of it before the commit. At most
/// `EngineOptions::commit_items`, unless more change places: the answer to a commit is one bounded JSON value.
Result<void> stage_changes(Session& session, const Survey& survey, std::vector<Row>& rows);

/// Stages and commits the same, all of it, in as many commits as it takes.
Result<void> publish_changes(Session& session,
                             const Survey& survey,
                             const std::string& message,
                             std::vector<Row>& rows);

/// Asks for a plan of the items and stages their texts, which the history has: fills in what commits them. Those that
/// the service would not take are still among the items. Fails as `Remote::plan` and `Remote::push` do.
Result<std::vector<Rejected>> send_staged(Session& session,
                                          StagedCommit& staged,
                                          std::uint64_t revision,
                                          const std::function<void()>& next_text);

/// Commits what is staged; where its plan has expired, it is staged once more first; sent again as it is after an
/// interruption, which the service answers as before. Rows that `rows` lacks are added. Nothing staged: nothing
/// happens. A commit under way keeps the message it was sent with.
Result<void> commit_staged(Session& session, const std::string& message, std::vector<Row>& rows);

}  // namespace ws::sync
