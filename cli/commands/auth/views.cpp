// How identities and keys look on a terminal: in sentences.
#include "cli/commands/auth/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view identity_by[] = {"me.get"};
constexpr std::string_view identity[] = {
    "You are {user.display_name}[ ({user.email})][ at {@server}].",
    "You are the agent @{agent.handle}[ at {@server}].",
    "The Workspace is {workspace.name}[, your role is {workspace.role}].",
    "The key {credential.expires_at:until}.",
    "The key may use {credential.scopes}.",
};
constexpr Fact identity_facts[] = {
    {"User ID", "{user.id}"},
    {"Agent ID", "{agent.id}"},
    {"Workspace ID", "{workspace.id}"},
    {"Key ID", "{credential.key_id}"},
};

constexpr std::string_view status_by[] = {"ws.status"};
constexpr std::string_view status[] = {
    "Logged in at {base_url}[, Workspace {workspace_name}][, profile {profile}].",
    "The key is kept in {kept_in}[; it was made {created_at:time}][ and {expires_at:until}].",
    "The key may use {scopes}.",
};
constexpr Fact status_facts[] = {{"Workspace ID", "{workspace_id}"}, {"Key ID", "{key_id}"}};

constexpr std::string_view keys_by[] = {"ws.keys"};
constexpr ViewColumn key_columns[] = {
    {"PROFILE", "{profile}"},
    {"IN USE", "{current:yes}"},
    {"WORKSPACE", "{workspace_name}"},
    {"SERVER", "{base_url}"},
    {"EXPIRES", "{expires_at:time}"},
    {"KEY", "{key_id:short}"},
};

constexpr View views[] = {
    {.of = identity_by, .lines = identity, .facts = identity_facts},
    {.of = status_by, .lines = status, .facts = status_facts},
    {.of = keys_by, .columns = key_columns, .none = "No key is stored; `ws login --base-url URL` gets one."},
};

}  // namespace

std::span<const View> auth_views() { return views; }

}  // namespace ws::cli
