/// Links to renamed files: counted, and with `links: keep` edited before the renames are pushed.
#pragma once

#include <cstddef>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// `status` (`only_looks`) counts all links that lead nowhere. A run reads the notes only where it sees a rename: a
/// first pull would read each of them once more.
void count_links(Session& session,
                 const Survey& survey,
                 const AttachmentSurvey& files,
                 const RunOptions& options,
                 bool only_looks,
                 Report& report);
/// With `links: keep`. How many links were edited.
Result<std::size_t> update_links(Session& session, const Survey& survey, const RunOptions& options);

}  // namespace ws::sync
