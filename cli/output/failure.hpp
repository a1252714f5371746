/// Renders a `Failure` for stderr: at most three lines of text, or one line of JSON.
#pragma once

#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "cli/base/exit_code.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// What happened, why, the command to run next; ends with a newline.
std::string render_failure(const Failure& failure, ExitCode exit, const Terminal& terminal);

/// `{"error": {...}}` with every member of `cli.md`, "Output"; on one line, with its newline.
std::string failure_line(const Failure& failure, ExitCode exit);
/// The inner object of the same.
Json failure_to_json(const Failure& failure, ExitCode exit);

}  // namespace ws::cli
