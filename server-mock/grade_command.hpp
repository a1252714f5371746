/// `ws-mock grade`, and `--expect` and `--save` of `ws-mock exec`: the final world against a wanted one.
#pragma once

#include <functional>
#include <string>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"

namespace CLI {
class App;
}

namespace ws::mock {

struct GradeFlags {
  std::string expect = {};
  std::string save = {};
  std::string state = {};  ///< of `grade` only, as `url`
  std::string url = {};
};

/// The flags of `exec`.
void add_expect_flags(CLI::App& exec, GradeFlags& flags);
/// The flags of the subcommand `grade`.
void add_grade_flags(CLI::App& grade, GradeFlags& flags);

/// Exit code: 0 the world is as wanted, 1 it is not. `data`: the file of `--data`; empty: none. Fails with `usage`,
/// `disk`, `invalid` or `unreachable`.
Result<int> run_grade(const GradeFlags& flags, const std::string& data, const std::string& control_token);

/// For `ServeSettings::after_command`: grades and saves the world that a command left. Empty without flags.
std::function<Result<int>(Application&, int)> grade_after_command(const GradeFlags& flags);

}  // namespace ws::mock
