/// The exit codes of `ws`: stable numbers that scripts depend on (`cli.md`, "Exit codes").
#pragma once

#include <span>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::cli {

enum class ExitCode {
  done = 0,
  unexpected = 1,
  usage = 2,
  refused = 3,
  auth = 4,
  forbidden = 5,
  not_found = 6,
  conflict = 7,
  pending = 8,
  rate_limited = 9,
  server = 10,
  network = 11,
  unknown_outcome = 12,
  partial = 13,
  local = 14,
  integrity = 15,
  interrupted = 130,
  broken_pipe = 141,
  terminated = 143,
};

constexpr int number(ExitCode code) { return static_cast<int>(code); }

/// For `ws help exit-codes`.
struct ExitCodeMeaning {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};
std::span<const ExitCodeMeaning> exit_codes();

/// `signal` is the signal that was caught (0: none); it decides the exit code of a cancelled command.
ExitCode exit_code_of(const Failure& failure, int signal);

}  // namespace ws::cli
