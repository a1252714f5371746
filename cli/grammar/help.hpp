/// Help for people and machines, read off the commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "cli/grammar/catalogue.hpp"
#include "cli/grammar/command.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// All nouns, with what can be done to them.
std::string render_overview(const std::vector<Entry>& entries, const Terminal& terminal);
/// `ws help flags`.
std::string render_flags(const Terminal& terminal);
/// The verbs below some words: "docs".
std::string render_group(const std::vector<Entry>& entries, std::string_view words, const Terminal& terminal);
/// One command: usage, arguments, flags with their limits, examples.
std::string render_help(const Command& command, const Terminal& terminal);

/// `{v: 1, command, summary, usage, arguments, flags, examples, operation, ...}`.
Json help_to_json(const Command& command);
/// `{v: 1, commands: [{command, summary}], global_flags: [...]}`.
Json catalogue_to_json(const std::vector<Entry>& entries, std::string_view words);

}  // namespace ws::cli
