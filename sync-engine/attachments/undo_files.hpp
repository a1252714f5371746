/// A recorded run taken back for the files that notes show: which steps.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

/// Adds the steps of those rows of `undone` to the plan of the notes, and answers what the run that follows does about
/// these files: planned with the steps against what the service has. A file that changed since is left alone where the
/// two changes collide, and so is one that the service has and that a rule keeps from it now.
Result<std::vector<Action>> plan_file_undo(Session& session,
                                           const Operation& undone,
                                           const std::vector<OperationRow>& rows,
                                           const UndoOptions& options,
                                           AsksService asks,
                                           PlannedUndo& planned);

/// Gives the service back what it had in the decided conflicts about files that the undo has taken over, and answers
/// these. One whose row somebody changed since is left alone. Needs the service; fails as `publish_list` does.
Result<std::map<RelativePath, OpenAttachment>> give_theirs_back(Session& session,
                                                                const Operation& undo,
                                                                std::vector<LeftAlone>& left);

/// Opens them again, within the caller's transaction, and adds the steps that give files here back what they had.
Result<void> open_files_again(Session& session,
                              std::uint64_t undo,
                              const std::map<RelativePath, OpenAttachment>& conflicts,
                              const std::vector<FileStep>& steps,
                              std::vector<FileStep>& back);

}  // namespace ws::sync
