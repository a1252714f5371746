/// The worlds of the process beside the one at the base URL, as the control surface opens and closes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"

namespace ws::mock {

/// So many at once: each holds a database (about half a MiB once it was used) and a journal of its own.
inline constexpr std::size_t most_sandboxes = 512;

class Worlds {
 public:
  Worlds() = default;
  Worlds(const Worlds&) = delete;
  Worlds& operator=(const Worlds&) = delete;
  virtual ~Worlds() = default;

  struct Wishes {
    bool has_fixtures = false;  ///< else the world that the server itself began with
    Fixtures fixtures = {};
    StartWith start = StartWith::seed;  ///< with fixtures that are empty
    std::string name = {};              ///< worlds of one name begin alike
  };
  /// `{id, base_url, control_url, token}`. Fails with `conflict` where there are enough, `invalid` for the fixtures.
  virtual Result<Json> open(const Wishes& wishes) = 0;
  /// Frees all that it held; who waits in it is answered. False: there is none of that id.
  virtual bool close(std::string_view id) = 0;
  /// `[{id, base_url, control_url, token, requests}]`, in the order in which they were opened.
  virtual Json list() const = 0;
};

}  // namespace ws::mock
