/// Documents.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

// docs.cpp
Command docs_share_command();
Command docs_create_command();
Command docs_get_command();
Command docs_update_command();
Command docs_archive_command();

// edit.cpp
Command docs_edit_command();

// export.cpp
Command docs_export_command();
/// The documents as files of the folder that `--output` names.
Result<ExitCode> get_into_folder(Session& session, const std::vector<std::string>& ids);

}  // namespace ws::cli
