// How agents look on a terminal.
#include "cli/commands/agents/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view agents_by[] = {"agents.list"};
constexpr ViewColumn columns[] = {
    {"HANDLE", "@{handle}"},
    {"NAME", "{display_name}"},
    {"STATUS", "{status:words}"},
    {"MAY", "{permissions}"},
    {"LAST SEEN", "{last_seen_at:time}"},
    {"ID", "{id:short}"},
};
constexpr std::string_view created_by[] = {"agents.create"};
constexpr std::string_view created[] = {
    "Created the agent @{handle} ({id})",
    "Secret, shown only this once: {credential.secret}",
};
constexpr std::string_view rotated_by[] = {"agents.rotate"};
constexpr std::string_view rotated[] = {
    "The agent {agent_id} has a new secret; the old one is revoked",
    "Secret, shown only this once: {secret}",
};
constexpr std::string_view updated_by[] = {"agents.update"};
constexpr std::string_view updated[] = {"The agent @{handle} is {status:words}[, permissions {permissions}] ({id})"};

constexpr View views[] = {
    {.of = agents_by, .columns = columns, .none = "No agents."},
    {.of = created_by, .lines = created},
    {.of = rotated_by, .lines = rotated},
    {.of = updated_by, .lines = updated},
};

}  // namespace

std::span<const View> agents_views() { return views; }

}  // namespace ws::cli
