/// Files: up, down, organized.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

// upload.cpp
Command files_upload_command();
Command files_finalize_command();
Command files_uploads_command();

// download.cpp
Command files_download_command();

// organize.cpp
Command files_organize_command();
Command files_operation_command();

}  // namespace ws::cli
