/// A hand on the wire between `ws` and the real mock: everything passes, until the test decides otherwise.
///
///     Relay relay(server, [](const Seen& seen, const Forward& forward) {
///       forward();                       // the mock did it ...
///       return Script{CloseConnection{}};  // ... and nobody hears of it
///     });
#pragma once

#include <functional>
#include <string>

#include "tests/support/hostile_server.hpp"
#include "tests/support/mock_process.hpp"

namespace ws::test {

/// Hands the request to the mock and gives its answer, as a script that passes it on.
using Forward = std::function<Script()>;
using Meddler = std::function<Script(const Seen& seen, const Forward& forward)>;

class Relay {
 public:
  Relay(const MockProcess& server, Meddler meddler);
  std::string origin() const { return hostile_.origin(); }
  const HostileServer& server() const { return hostile_; }

 private:
  HostileServer hostile_;
};

}  // namespace ws::test
