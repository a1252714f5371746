// How the answers of `ws discover` and the like look on a terminal.
#include "cli/commands/utilities/commands.hpp"

namespace ws::cli {
namespace {

constexpr std::string_view discovery_by[] = {"discovery.get"};
constexpr Fact discovery_facts[] = {
    {"API version", "{version}"},
    {"Operations", "{operations:count}"},
    {"OpenAPI", "{openapi_url}"},
    {"Skill", "{skill_url}"},
};
constexpr ViewColumn operation_columns[] = {
    {"OPERATION", "{id}"},
    {"SCOPE", "{scope}"},
    {"SUMMARY", "{summary:wrap}"},
};
constexpr ViewPart discovery_parts[] = {{"operations", operation_columns}};

constexpr std::string_view commands_by[] = {"ws.commands"};
constexpr ViewColumn command_columns[] = {{"ID", "{id}"}, {"COMMAND", "{command}"}, {"SUMMARY", "{summary:wrap}"}};
constexpr std::string_view exit_codes_by[] = {"ws.exit_codes"};
constexpr ViewColumn exit_code_columns[] = {{"EXIT", "{exit}"}, {"NAME", "{name}"}, {"MEANING", "{meaning:wrap}"}};

constexpr std::string_view settings_by[] = {"ws.settings"};
constexpr ViewColumn setting_columns[] = {
    {"KEY", "{key}"},
    {"VALUE", "{value}"},
    {"WHERE", "{where}"},
    {"PLACE", "{place:wrap}"},
};
constexpr std::string_view explanation_by[] = {"ws.explanation"};
constexpr ViewColumn explanation_columns[] = {
    {"IN USE", "{wins:yes}"},
    {"VALUE", "{value}"},
    {"WHERE", "{where}"},
    {"PLACE", "{place:wrap}"},
};

constexpr View views[] = {
    {.of = discovery_by, .facts = discovery_facts, .parts = discovery_parts},
    {.of = commands_by, .columns = command_columns},
    {.of = exit_codes_by, .columns = exit_code_columns},
    {.of = settings_by, .columns = setting_columns},
    {.of = explanation_by, .columns = explanation_columns},
};

}  // namespace

std::span<const View> utilities_views() { return views; }

}  // namespace ws::cli
