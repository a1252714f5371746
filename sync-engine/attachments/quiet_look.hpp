/// A look at the attachments that found nothing to do and nothing to report is kept: the next one need not be made.
///
/// It is valid while all that it was made of is the same: the names and texts of the walk, the stored state of the
/// attachments, the settings, and the stamp of every attachment. Kept in `.ws/quiet.cache`, which is disposable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/tree/scan.hpp"

namespace ws::sync {

/// One number for all that a look is made of, except the stamps of attachments. Empty: it has to be made.
std::optional<std::uint64_t> inputs_of_look(const Session& session, const Scan& scan, const LocalFiles& files);

/// How many attachments are here. Empty: the kept look is of other inputs, or one of the files changed.
std::optional<std::uint64_t> still_quiet(const Session& session, std::uint64_t inputs);

/// `stamps`: of every attachment, by its name on disk; an empty stamp where no file is. Keeps nothing where a file
/// changed so recently that one more change could leave its stamp as it is.
void keep_quiet_look(const Session& session,
                     std::uint64_t inputs,
                     const LocalFiles& files,
                     const std::map<std::string, FileStamp>& stamps);

}  // namespace ws::sync
