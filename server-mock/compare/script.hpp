/// The requests of `ws-mock diff --against`, as data, and their execution.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/compare/exchange.hpp"

namespace ws::mock::compare {

enum class Phase { reading, writing };

/// One request. `{name}` in target, body and headers stands for a value that an earlier step captured or that the run
/// was given; a step with a name that nobody knows is left out.
struct Step {
  Phase phase = Phase::reading;
  std::string_view method = "GET";
  std::string_view target = {};
  std::string_view body = {};      ///< JSON; empty: none
  std::string_view captures = {};  ///< "name=/json/pointer name=/pointer"
  std::string_view headers = {};   ///< "Name: value"
  WithKey key = WithKey::right;
  /// The step is repeated, at most for some seconds, until the answer has one of these words at this pointer:
  /// "/status=completed,failed".
  std::string_view until = {};
};

std::span<const Step> script();

/// Where the other side may be written.
enum class Access {
  read_only,  ///< nowhere
  project,    ///< in a Project that exists
  scratch,    ///< in a Project that the run makes
};

struct RunOptions {
  Access access = Access::read_only;
  std::string project_id = {};
  std::string mark = {};  ///< part of the titles and keys of what the run makes
};

struct ScriptRun {
  std::vector<SealedExchange> exchanges = {};
  std::string stopped = {};            ///< why it ended before its end; empty: it did not
  std::size_t requests = 0;            ///< that were sent, with repetitions
  std::vector<std::string> left = {};  ///< documents that could not be archived, by id
};

/// Runs the script, then archives every document that it made, whatever ended it. Fails as the first request does: the
/// other side cannot be reached.
Result<ScriptRun> run_script(Caller& caller, Sealer& sealer, const RunOptions& options);

/// What `--project` and `--scratch` leave behind, for people who are asked before.
std::string_view cannot_be_undone(Access access);

}  // namespace ws::mock::compare
