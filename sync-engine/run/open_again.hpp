/// Decided conflicts that the undo of their decision opens again, with what each side had.
#pragma once

#include <map>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/run/begin.hpp"
#include "sync-engine/state/attachment_store.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// In the rows that give the service its text: why.
void tell_opened_again(const std::vector<DecidedText>& decided,
                       const std::vector<FileStep>& steps,
                       std::vector<Row>& rows);
/// Of an undo that is not begun: what `tell_of_conflicts` would come to.
void foresee_conflicts(const std::vector<DecidedText>& decided,
                       const std::vector<FileStep>& steps,
                       std::vector<Row>& rows);
/// Adds the conflicts about files to the report.
void tell_file_conflicts(const std::map<RelativePath, OpenAttachment>& files, Row::State state, Report& report);

/// Once the service has its text again, this side gets back what it had: the base of the conflict and, by the steps
/// that are journalled here, its text. `files`: see `give_theirs_back`. Empty: nothing is left to do here.
Result<std::vector<FileStep>> open_again(Session& session,
                                         const Operation& undo,
                                         const std::vector<DecidedText>& decided,
                                         const std::map<RelativePath, OpenAttachment>& files,
                                         const std::vector<FileStep>& steps,
                                         const std::vector<LeftAlone>& left);

/// A run of the documents whose conflicts are open again: the service records these.
Result<void> tell_of_conflicts(RunContext& context, const std::vector<FileStep>& steps, Report& report);

}  // namespace ws::sync
