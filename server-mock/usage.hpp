/// Help pages and usage errors of ws-mock.
#pragma once

#include <string>

#include "api-client/base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ws::mock {

/// The help page of the given command, or of the program: two columns, 80 characters wide.
std::string render_help(const CLI::App& program);

/// The parser's error as a plain sentence, with the next step.
Failure usage_failure(const CLI::App& program, const CLI::ParseError& error);

/// The error for a command after `--` where none is allowed, or for a missing one. `word` is from the command line, or
/// empty.
Failure command_failure(const std::string& word, bool has_command);

}  // namespace ws::mock
