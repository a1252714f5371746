/// The requests of `ws-mock diff --against`, as data, and the code that runs them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/journal/redactor.hpp"

namespace ws::mock::compare {

enum class Phase { reading, writing };

/// One request. `{name}` in request, body and headers is replaced by a value that an earlier step captured or that the
/// run was given; a step is skipped if a name has no value.
struct Step {
  Phase phase = Phase::reading;
  std::string_view request = {};   ///< "GET /v1/me"
  std::string_view body = {};      ///< JSON; empty: none
  std::string_view captures = {};  ///< "name=/json/pointer name=/pointer"
  std::string_view headers = {};   ///< "Name: value"
  WithKey key = WithKey::right;
  /// The step is repeated for up to some seconds until the value at this pointer is one of these words:
  /// "/status=completed,failed".
  std::string_view until = {};
};

std::span<const Step> script();

/// Where the run may write on the other side.
enum class Access {
  read_only,  ///< nowhere
  project,    ///< in an existing Project
  scratch,    ///< in a Project that the run creates
};

struct RunOptions {
  Access access = Access::read_only;
  std::string project_id = {};
  std::string mark = {};  ///< unique part of titles and keys of the objects that the run creates
};

struct ScriptRun {
  std::vector<Exchange> exchanges = {};
  std::string stopped = {};            ///< why the run ended early; empty: it did not
  std::size_t requests = 0;            ///< requests sent, including repetitions
  std::vector<std::string> left = {};  ///< documents that could not be archived, an agent not revoked; by id
};

/// Runs the script, then archives every document and revokes the agent that it created, even after an error. Fails if
/// the first request does: the other side cannot be reached.
Result<ScriptRun> run_script(Caller& caller, Redactor& redactor, const RunOptions& options);

/// What `--project` and `--scratch` leave behind permanently, for the confirmation prompt.
std::string_view permanent_effects(Access access);

}  // namespace ws::mock::compare
