/// Files: up, down, organized.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

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

// views.cpp
std::span<const View> files_views();

}  // namespace ws::cli
