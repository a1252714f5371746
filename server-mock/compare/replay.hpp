/// Replays the requests of recorded exchanges into a fresh mock and grades the answers.
#pragma once

#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"
#include "server-mock/compare/findings.hpp"
#include "server-mock/compare/probes.hpp"

namespace ws::mock::compare {

struct ReplayOptions {
  ApplicationOptions application = {};  ///< the world that the mock starts with; its clock and switches are replaced
  Assumptions assumptions = {};
  std::string project_id = {};  ///< a Project that was there before: the mock gets one in its place
};

/// Fails as `Host::start`. Exchanges whose requests name what was there before are graded by themselves alone.
Result<void> replay(const Exchanges& exchanges, const ReplayOptions& options, Findings& findings);

}  // namespace ws::mock::compare
