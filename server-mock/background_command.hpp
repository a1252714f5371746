/// `ws-mock start`, `env` and `stop`: a server in the background, one for each folder and name.
///
/// What is known of it stands in `.ws-mock/NAME.json` of the folder, which git ignores: its addresses and keys, its
/// process, and when that started, so that a later process with the same number is not taken for it.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/result.hpp"

namespace CLI {
class App;
}

namespace ws::mock {

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
