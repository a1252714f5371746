/// What a person here decides about files that are not synced, or that wait to be taken.
#pragma once

#include <string>
#include <vector>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/links/rewrite_links.hpp"

namespace ws::sync {

enum class FileChoice {
  add,     ///< it is synced from now on
  accept,  ///< what the service has for it is taken
  refuse,  ///< it is named no more, until other bytes come
};

/// Writes the decisions down; the next run carries them out. `names`: paths, and of `add` globs too; all of them, or
/// none where one fails. A decision is about the bytes that are there now. Answers the files. Fails with `not_found`,
/// `usage` or `disk`.
Result<std::vector<RelativePath>> choose_attachments(Session& session,
                                                     const AttachmentSurvey& found,
                                                     FileChoice choice,
                                                     const std::vector<std::string>& names);

/// A renamed file is as foreign, as wished for, and as refused as it was. Both names: the rename comes after it.
Result<void> carry_marks(Session& session, const links::Renames& renamed);

}  // namespace ws::sync
