/// A proxy between `ws` and the real mock that can alter or drop single exchanges.
///
///     Relay relay(server, [](const Seen& seen, const Forward& forward) {
///       forward();                         // the mock processes the request ...
///       return Script{CloseConnection{}};  // ... and the client gets no response
///     });
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/support/hostile_server.hpp"
#include "tests/support/mock_process.hpp"

namespace ws::test {

/// Forwards the request to the mock and returns a script that sends its response.
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

/// A mock behind a relay that answers in its place what `meddles` wants to.
struct MeddledServer {
  MockProcess server;
  std::function<std::optional<Script>(const Seen&)> meddles = [](const Seen&) { return std::nullopt; };
  Relay relay{server, [this](const Seen& seen, const Forward& forward) {
                if (auto own = meddles(seen)) return *own;
                return forward();
              }};
};

}  // namespace ws::test
