/// The commands of ws-mock: their flags, execution and exit codes; help pages and usage errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/serve.hpp"
#include "server-mock/flags.hpp"

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

// `sweep [flags] -- CMD...`

/// The flags of the subcommand `sweep`.
void add_sweep_flags(CLI::App& sweep, SweepFlags& flags);

/// The words before `--` that are needed to replay a row: not those that narrow the plan or name the report.
std::vector<std::string> replayed_flags(const CLI::App& sweep, const std::vector<std::string>& words);

/// Exit code: 0 no findings, 1 findings, 3 stopped. Fails with `usage` or `invalid` (the clean run failed), which exit
/// with 2, and as `LocalServer::start`.
Result<int> run_sweep(const SweepFlags& flags, const std::vector<std::string>& command, ApplicationOptions options);

// `diff` and `record`

void add_record_flags(CLI::App& record, RecordFlags& flags);

/// Serves until a signal. Exit code: 0.
Result<int> run_record(const RecordFlags& flags, const ServeSettings& settings);

void add_diff_flags(CLI::App& diff, DiffFlags& flags);

/// Exit code: 0 no differences, 1 differences. If it fails, the exit code is 2.
Result<int> run_diff(const DiffFlags& flags, const ApplicationOptions& options);

// `grade`, and `--expect` and `--save` of `exec`: the final world against a wanted one

/// The flags of `exec`.
void add_expect_flags(CLI::App& exec, GradeFlags& flags);
/// The flags of the subcommand `grade`.
void add_grade_flags(CLI::App& grade, GradeFlags& flags);

/// Exit code: 0 the world is as wanted, 1 it is not. `data`: the file of `--data`; empty: none. Fails with `usage`,
/// `disk`, `invalid` or `unreachable`.
Result<int> run_grade(const GradeFlags& flags, const std::string& data, const std::string& control_token);

/// For `ServeSettings::after_command`: grades and saves the world that a command left. Empty without flags.
std::function<Result<int>(Application&, int)> grade_after_command(const GradeFlags& flags);

// `exec --trace`, `open FILE` and `serve --trace FILE --at N`

/// Runs the command of the settings and records its requests. Fails as `serve`, with `usage` if a flag cannot be
/// combined with a trace, with `disk` if the file cannot be written.
Result<int> exec_traced(const Flags& flags, ServeSettings settings);

/// Serves the page with the slider. Fails with `invalid` if the file is not a trace.
Result<int> open_trace(Flags flags);

/// Serves the world as it was after request `flags.at` (default: the last one). Fails with `invalid` or `usage`.
Result<int> serve_trace(Flags flags);

// `start`, `env` and `stop`: a server in the background, one for each folder and name. What is known of it stands in
// `.ws-mock/NAME.json` of the folder, which git ignores: its addresses and keys, its process, and when that started, so
// that a later process with the same number is not taken for it.

/// The flag of the three subcommands.
void add_name_flag(CLI::App& command, std::string& name);

/// Starts a server with these words of the command line, and prints `export` lines once it answers. Exit code: 0, or
/// that of a server that did not start, whose output is printed. Fails with `usage` if one of that name is running.
Result<int> start_in_background(const std::string& name, std::vector<std::string> words);
/// Prints the `export` lines again. Fails with `usage` if none of that name is running.
Result<int> print_environment(const std::string& name);
/// Stops it and waits for its end. Fails with `usage` as before, with `internal` if it does not end.
Result<int> stop_in_background(const std::string& name);

}  // namespace ws::mock
