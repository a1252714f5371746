/// Runs a program with arguments, environment and stdin, and keeps all it said.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ws::test {

struct Command {
  std::filesystem::path program = {};
  std::vector<std::string> arguments = {};
  /// The whole environment but for PATH, which is kept.
  std::map<std::string, std::string> environment = {};
  std::string input = {};
  std::filesystem::path folder = {};  ///< where it runs; empty: here
  std::chrono::milliseconds timeout{30'000};
  /// Sent once the program wrote something on stderr; 0: none.
  int signal_after_output = 0;
};

struct Outcome {
  int exit = -1;  ///< 128 + signal where it was killed; -1: it ran out of time
  std::string out = {};
  std::string err = {};
};

Outcome run_command(const Command& command);

}  // namespace ws::test
