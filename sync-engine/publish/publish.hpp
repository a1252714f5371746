/// Carries out the pushes of a plan: stage, then commit.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// What one commit holds, and the place of each item's row among those of the report.
struct CommitPart {
  StagedCommit commit = {};
  std::vector<std::size_t> rows = {};
};

/// Removes the items that `is_out` marks, in their order.
void drop_items(CommitPart& part, const std::vector<bool>& is_out);

/// Stages what `rows` want to push (they become `staged`), and the open conflicts that no commit has recorded yet, with
/// both texts. Rows that may not be pushed (a viewer's key) or were refused say so. Nobody sees anything of it before
/// the commit. At most `EngineOptions::commit_items`, unless more change places with each other: see stage.cpp.
Result<void> stage_changes(Session& session, const Survey& survey, std::vector<Row>& rows);

/// Called once a commit was answered, before anything of it is recorded: waits until its new files are in their places.
/// Returns those that are not there. Their documents are not recorded: the next pull brings them.
using AwaitFiles = std::function<Result<std::set<RelativePath>>()>;

/// Stages and commits the same, all of it, in as many commits as it takes. `await_files`: where the files may not be in
/// their places yet.
Result<void> publish_changes(Session& session,
                             const Survey& survey,
                             const std::string& message,
                             std::vector<Row>& rows,
                             const AwaitFiles& await_files = {});

/// A file is no longer as the plan saw it.
Failure changed_meanwhile(const RelativePath& file);

/// Requests a plan for the items, stages their texts and fills in the commit request. Each text is read from its file,
/// or from the history if the file changed since; on return all of them are in the history. Items whose file changed
/// before that, and items that the service refused, are removed; their rows say why. Fails as `Remote::plan` and
/// `Remote::push` do.
Result<void> send_part(Session& session,
                       CommitPart& part,
                       SourceRevision revision,
                       std::vector<Row>& rows,
                       const std::function<void()>& next_text);

/// Commits a part that was sent; where its plan has expired, it is sent once more first. After a complete but unusable
/// answer the outcome is found by a pull, and the call still fails with `unknown_outcome`; see match_answer.hpp.
Result<void> commit_part(Session& session, CommitPart part, std::vector<Row>& rows, const AwaitFiles& await_files = {});
/// The same for one that is not as it was sent: it is sent first.
Result<void> commit_anew(Session& session, CommitPart part, std::vector<Row>& rows);
/// Of one that was sent, and may have been committed: what the service has of it is taken over, the rest is dropped.
Result<void> take_over_part(Session& session, CommitPart part, std::vector<Row>& rows);

/// Commits what was staged by an earlier call, less the deletes of files that are there again; sent again as it is
/// after an interruption, which the service answers as before. Adds a row for each item. Nothing staged: nothing
/// happens. A commit under way keeps the message it was sent with. `wanted` leaves out the rest, which is staged again;
/// empty: all of it. `await_files`: as above, for a commit under way.
Result<void> commit_staged(Session& session,
                           const std::string& message,
                           std::vector<Row>& rows,
                           const WantedPath& wanted = {},
                           const AwaitFiles& await_files = {});
/// Whether the files are no longer what a commit under way was made of: somebody took a change back, or went on. To
/// send it again would publish what nobody wants.
Result<bool> is_withdrawn(Session& session, const StagedCommit& staged);
/// Takes over what the service has of a commit under way, with a row for each such item; the rest is dropped, not sent.
Result<void> take_over_sent(Session& session, std::vector<Row>& rows);
/// The rows that this would add, each `staged`.
Result<std::vector<Row>> staged_rows(Session& session, const WantedPath& wanted);
/// Those of `rows` that an earlier call staged just so become `staged`: a commit publishes them.
Result<void> mark_staged(Session& session, std::vector<Row>& rows);

}  // namespace ws::sync
