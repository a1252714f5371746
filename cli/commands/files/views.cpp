// How files, uploads and organization runs look on a terminal.
#include "cli/commands/files/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view asset_by[] = {"files.get"};
constexpr Fact asset_facts[] = {
    {"Size", "{size_bytes:size}"},
    {"Type", "{mime_type}"},
    {"Title", "{title}"},
    {"Status", "{status:words}[, processing {processing_status:words}]"},
    {"Sensitivity", "{sensitivity_status:words}[, {sensitivity_reasons:count} reasons]"},
    {"Reading by AI", "{ai_read_policy:words}"},
    {"Created", "{created_at:time}"},
    {"SHA-256", "{content_sha256}"},
    {"ID", "{id}"},
};
constexpr std::string_view assets_by[] = {"files.list"};
constexpr ViewColumn asset_columns[] = {
    {"FILE", "{original_file_name}"},
    {"SIZE", "{size_bytes:size}"},
    {"TYPE", "{mime_type}"},
    {"STATUS", "{status:words}"},
    {"CREATED", "{created_at:time}"},
    {"ID", "{id:short}"},
};
constexpr std::string_view uploaded_by[] = {"files.upload_finish"};
constexpr std::string_view uploaded[] = {"Uploaded \"{original_file_name}\", {size_bytes:size} ({id})"};
constexpr std::string_view started_by[] = {"files.upload_start"};
constexpr std::string_view started[] = {"Started the upload {upload_id}[; it expires {expires_at:time}]"};
constexpr std::string_view uploads_by[] = {"ws.uploads"};
constexpr ViewColumn upload_columns[] = {
    {"FILE", "{file_name}"},
    {"SIZE", "{size_bytes:size}"},
    {"STATE", "{state}"},
    {"EXPIRES", "{expires_at:time}"},
    {"UPLOAD", "{upload_id}"},
};
constexpr std::string_view organized_by[] = {"files.organize"};
constexpr std::string_view organized[] = {"Started the organization run {operation_id}, {status:words}"};
constexpr std::string_view operation_by[] = {"files.operation"};
constexpr std::string_view operation_lines[] = {
    "Organization run {operation_id}: {status:words}[, phase {phase:words}]"};
constexpr Fact operation_facts[] = {
    {"File", "{asset_id}"}, {"Started", "{created_at:time}"}, {"Changed", "{updated_at:time}"}};

constexpr View views[] = {
    {.of = asset_by, .title = "{original_file_name}", .facts = asset_facts},
    {.of = assets_by, .columns = asset_columns, .none = "No files."},
    {.of = uploaded_by, .lines = uploaded},
    {.of = started_by, .lines = started},
    {.of = uploads_by, .columns = upload_columns, .none = "No unfinished uploads."},
    {.of = organized_by, .lines = organized},
    {.of = operation_by, .lines = operation_lines, .facts = operation_facts},
};

}  // namespace

std::span<const View> files_views() { return views; }

}  // namespace ws::cli
