/// Compares the two sides of the files that notes show: their part of `ws sync diff`.
#pragma once

#include <vector>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/survey/differences.hpp"

namespace ws::sync {

/// What each side changed of the files that a run would handle, or that are in conflict: of each row of the plan one
/// difference at least.
std::vector<Difference> file_differences(const AttachmentSurvey& found);

}  // namespace ws::sync
