/// Worlds that are filled already, to be copied: a sandbox costs a copy of pages, not the filling of a world.
///
/// Times in a world count from when it was filled, so on a clock that runs a seed is used for a minute and then made
/// anew. A few are kept, the default one and those of fixtures that were sent lately.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

class Seeds {
 public:
  /// A sandbox of these options, in memory. `name` tells which options have the same world: those of one name do.
  /// Fails as `Sandbox::open` does.
  Result<std::unique_ptr<Sandbox>> grow(const SandboxOptions& options, const std::string& name);

 private:
  struct Seed {
    std::string name = {};
    std::chrono::steady_clock::time_point made_at = {};
    std::unique_ptr<Sandbox> sandbox = {};
  };
  std::list<Seed> seeds_ = {};  // the last that was used first
};

}  // namespace ws::mock
