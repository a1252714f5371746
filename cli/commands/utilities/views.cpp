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
    {"SUMMARY", "{summary}"},
    {"SCOPE", "{scope}"},
};
constexpr ViewPart discovery_parts[] = {{"operations", operation_columns}};

constexpr View views[] = {{.of = discovery_by, .facts = discovery_facts, .parts = discovery_parts}};

}  // namespace

std::span<const View> utilities_views() { return views; }

}  // namespace ws::cli
