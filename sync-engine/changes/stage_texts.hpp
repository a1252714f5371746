/// Writes the texts of a batch of actions to temporary files.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// The remote text of a document, in the history; empty: the pull did not bring it.
git::ObjectId pending_blob(const Survey& survey, const DocumentId& document);

/// The merge equals the local text: the remote edit was part of ours.
bool keeps_text(const Action& action);

/// The outcome of each action, by its index; empty: it writes no text. One text is written while the next is read;
/// texts that the pull wrote already (`Survey::ahead`) are used as they are. Stops at a failure that ends the run.
/// `next` is called before each action.
StagedTexts stage_texts(Session& session,
                        const Survey& survey,
                        SafeWriter& writer,
                        std::span<const Action* const> actions,
                        const std::function<void()>& next);

/// Whether a failure ends the run, not only the row.
bool ends_run(const Failure& failure);

}  // namespace ws::sync
