/// Opens, closes and lists the sandboxes below the base URL, for the control calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"

namespace ws::mock {

/// The limit at one time: each sandbox holds a database (about half a MiB once used) and a journal.
inline constexpr std::size_t max_sandboxes = 512;

class Sandboxes {
 public:
  Sandboxes() = default;
  Sandboxes(const Sandboxes&) = delete;
  Sandboxes& operator=(const Sandboxes&) = delete;
  virtual ~Sandboxes() = default;

  struct SandboxRequest {
    bool has_fixtures = false;  ///< false: as the server itself started
    Fixtures fixtures = {};
    StartWith start = StartWith::seed;  ///< if the fixtures are empty
    std::string name = {};              ///< requests of the same name start from the same world
  };
  /// `{id, base_url, control_url, token}`. Fails with `conflict` at the limit, `invalid` if the fixtures are wrong.
  virtual Result<Json> open(const SandboxRequest& wanted) = 0;
  /// Frees the sandbox after its pending requests are answered. False if the id is unknown.
  virtual bool close(std::string_view id) = 0;
  /// `[{id, base_url, control_url, token, requests}]`, oldest first.
  virtual Json list() const = 0;
};

}  // namespace ws::mock
