/// A random source with constant output: delays are the shortest that the rules allow.
#pragma once

#include <cstdint>

#include "api-client/base/random.hpp"

namespace ws::test {

class NoJitter final : public Random {
 public:
  std::uint64_t next() override { return 0; }
};

}  // namespace ws::test
