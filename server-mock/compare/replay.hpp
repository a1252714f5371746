/// Replays the requests of recorded exchanges against a new mock and grades the responses.
#pragma once

#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/compare/probes.hpp"

namespace ws::mock::compare {

struct ReplayOptions {
  ApplicationOptions application = {};  ///< the initial world of the mock; its clock and switches are replaced
  Assumptions assumptions = {};
  std::string project_id = {};  ///< an existing Project; the mock gets one in its place
};

/// Fails as `LocalServer::start`. Exchanges that refer to objects from before the recording are graded without
/// comparison.
Result<void> replay(const Exchanges& exchanges, const ReplayOptions& options, Findings& findings);

}  // namespace ws::mock::compare
