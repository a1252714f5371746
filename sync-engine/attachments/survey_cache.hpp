/// Caches that a survey of the attachments found nothing to do and nothing to report, so that the next run need not
/// repeat it.
///
/// The cache is valid while everything that the survey read is the same: the names and texts of the walk, the stored
/// state of the attachments, the settings, and the stamp of every attachment. Kept in `.ws/quiet.cache`; disposable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// A hash of everything that the survey reads, except the stamps of attachments. Empty: the survey has to be made.
std::optional<std::uint64_t> survey_inputs(const Session& session, const Scan& scan, const LocalFiles& files);

/// How many attachments are here. Empty: the cached survey had other inputs, or one of the files changed.
std::optional<std::uint64_t> find_clean_survey(const Session& session, std::uint64_t inputs);

/// `stamps`: of every attachment, by its name on disk; an empty stamp where no file is. Keeps nothing where a file
/// changed so recently that one more change could leave its stamp as it is.
void save_clean_survey(const Session& session,
                       std::uint64_t inputs,
                       const LocalFiles& files,
                       const std::map<std::string, FileStamp>& stamps);

}  // namespace ws::sync
