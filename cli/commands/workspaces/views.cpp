// How Workspaces, Projects and nodes look on a terminal.
#include "cli/commands/workspaces/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view workspaces_by[] = {"workspaces.list"};
constexpr ViewColumn columns[] = {
    {"NAME", "{name}"}, {"ROLE", "{role}"}, {"CREATED", "{created_at:time}"}, {"ID", "{id:short}"}};
constexpr std::string_view workspace_by[] = {"workspaces.create"};
constexpr std::string_view workspace[] = {"Created the Workspace \"{name}\" ({id})"};
constexpr std::string_view project_by[] = {"projects.create"};
constexpr std::string_view project[] = {"Created the Project \"{title}\" ({id})"};
constexpr std::string_view moved_by[] = {"nodes.move"};
constexpr std::string_view moved[] = {"Moved \"{title}\" ({id})"};

constexpr View views[] = {
    {.of = workspaces_by, .columns = columns, .none = "No Workspaces."},
    {.of = workspace_by, .lines = workspace},
    {.of = project_by, .lines = project},
    {.of = moved_by, .lines = moved},
};

}  // namespace

std::span<const View> workspaces_views() { return views; }

}  // namespace ws::cli
