/// Cache of filled worlds: a new sandbox is a copy of one, which is much cheaper than filling a world.
///
/// Times in a world count from its creation, so on a running clock an entry is used for one minute only. The cache
/// holds a few entries: the default content and recently sent fixtures.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

class SeedWorlds {
 public:
  /// A new sandbox in memory. Options with the same `name` must describe the same content. Fails as `Sandbox::open`
  /// does.
  Result<std::unique_ptr<Sandbox>> copy_of(const SandboxOptions& options, const std::string& name);

 private:
  struct SeedWorld {
    std::string name = {};
    Time made_at = {};
    std::unique_ptr<Sandbox> sandbox = {};
  };
  std::list<SeedWorld> seed_worlds_ = {};  // most recently used first
};

}  // namespace ws::mock
