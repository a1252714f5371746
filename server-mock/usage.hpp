/// What ws-mock says about its command line: the help pages, and what is wrong with the words that it got.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ws::mock {

/// The page of the command that was named, or of the program. A flag and its text have two columns, 80 wide.
std::string render_help(const CLI::App& program);

/// The parser's finding as a plain sentence, with the next step.
Failure usage_failure(const CLI::App& program, const CLI::ParseError& error);

/// A command after -- where none is taken, or none where one is needed. `word`: of the command line, or empty.
Failure command_failure(const std::string& word, bool has_command);

}  // namespace ws::mock
