/// What `ws doctor` found, one line a check.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/shared/session.hpp"
#include "cli/output/failure.hpp"

namespace ws::cli {

enum class State { good, note, bad };

struct Check {
  std::string name = {};
  State state = State::good;
  std::string detail = {};
  std::string hint = {};
};

/// The checks one after another, and the exit code that the first bad one would have had.
class Checks {
 public:
  void good(std::string name, std::string detail) { add({std::move(name), State::good, std::move(detail), ""}); }
  void note(std::string name, std::string detail, std::string hint) {
    add({std::move(name), State::note, std::move(detail), std::move(hint)});
  }
  void bad(std::string name, const Failure& failure) {
    if (exit_ == ExitCode::done) exit_ = exit_code_of(failure, 0);
    add({std::move(name), State::bad, failure.what, failure.hint});
  }
  const std::vector<Check>& all() const { return checks_; }
  ExitCode exit() const { return exit_; }

 private:
  void add(Check check) { checks_.push_back(std::move(check)); }

  std::vector<Check> checks_ = {};
  ExitCode exit_ = ExitCode::done;
};

/// `ws doctor --service`: reads what the key may read and holds it against the published document and what this client
/// relies on. Sends some 25 requests, none of which changes anything. A broken expectation ends with the exit code of a
/// server failure.
void check_service(Session& session, Checks& checks);

}  // namespace ws::cli
