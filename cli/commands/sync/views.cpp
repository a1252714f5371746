// How conflicts, synced folders and states of the history look on a terminal.
#include "cli/commands/sync/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view conflicts_by[] = {"ws.conflicts"};
constexpr ViewColumn conflict_columns[] = {{"PATH", "{path}"}, {"CONFLICT", "{reason}"}, {"ID", "{id:short}"}};
constexpr std::string_view roots_by[] = {"ws.roots"};
constexpr ViewColumn root_columns[] = {
    {"FOLDER", "{folder}"}, {"STATE", "{state}"}, {"NAME", "{name}"}, {"SOURCE", "{source_id:short}"}};

constexpr std::string_view states_by[] = {"ws.states"};
constexpr ViewColumn state_columns[] = {
    {"STATE", "{state}"},
    {"TIME", "{time:time}"},
    {"MESSAGE", "{message}"},
    {"AUTHOR", "{author}"},
    {"FILES", "{files}"},
    {"FIRST FILE", "{first}"},
};
constexpr std::string_view runs_by[] = {"ws.runs"};
constexpr ViewColumn run_columns[] = {
    {"RUN", "{run}"},
    {"TIME", "{time:time}"},
    {"COMMAND", "{command}"},
    {"CHANGES", "{counts}"},
    {"NOTE", "{note}"},
};
constexpr std::string_view run_rows_by[] = {"ws.run_rows"};
constexpr ViewColumn run_row_columns[] = {
    {"PATH", "{path}"},
    {"CHANGE", "{action}"},
    {"HOW", "{way}"},
    {"PREVIOUS PATH", "{previous_path}"},
};

constexpr std::string_view attachments_by[] = {"ws.attachments"};
constexpr ViewColumn attachment_columns[] = {{"PATH", "{path}"},
                                             {"SIZE", "{bytes:size}"},
                                             {"STATE", "{state}"},
                                             {"NOTES", "{notes}"},
                                             {"ASSET", "{asset_id:short}"}};

constexpr View views[] = {
    {.of = attachments_by, .columns = attachment_columns, .none = "No note here shows a file."},
    {.of = conflicts_by, .columns = conflict_columns, .none = "No conflict is open."},
    {.of = roots_by, .columns = root_columns, .none = "No folder is synced; `ws sync init` sets one up."},
    {.of = states_by, .columns = state_columns, .none = "Nothing was synced here yet."},
    {.of = runs_by, .columns = run_columns, .none = "No run has changed anything here yet."},
    {.of = run_rows_by, .columns = run_row_columns, .none = "The run changed nothing."},
};

}  // namespace

std::span<const View> sync_views() { return views; }

}  // namespace ws::cli
