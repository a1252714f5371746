// How conflicts, synced folders and states of the history look on a terminal.
#include "cli/commands/sync/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view conflicts_by[] = {"ws.conflicts"};
constexpr ViewColumn conflict_columns[] = {
    {"PATH", "{path}"}, {"KIND", "{kind}"}, {"CONFLICT", "{reason}"}, {"ID", "{id:short}"}};
constexpr std::string_view roots_by[] = {"ws.roots"};
constexpr ViewColumn root_columns[] = {
    {"FOLDER", "{folder}"}, {"STATE", "{state}"}, {"NAME", "{name}"}, {"SOURCE", "{source_id:short}"}};

constexpr std::string_view attachments_by[] = {"ws.attachments"};
constexpr ViewColumn attachment_columns[] = {{"PATH", "{path}"},
                                             {"BYTES", "{bytes}"},
                                             {"STATE", "{state}"},
                                             {"NOTES", "{notes}"},
                                             {"ASSET", "{asset_id:short}"}};

constexpr View views[] = {
    {.of = attachments_by, .columns = attachment_columns},
    {.of = conflicts_by, .columns = conflict_columns},
    {.of = roots_by, .columns = root_columns},
};

}  // namespace

std::span<const View> sync_views() { return views; }

}  // namespace ws::cli
