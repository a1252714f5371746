/// Named copies of a world: state, clock and assumption switches, without journal and faults. Kept until the server
/// stops.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "server-mock/sandbox/clock.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

class Snapshots {
 public:
  /// Replaces the snapshot of that name.
  Result<void> take(World& world, const MockClock& clock, const BuiltIn& built_in, const std::string& name);
  /// False if the name is unknown.
  Result<bool> restore(World& world, MockClock& clock, BuiltIn& built_in, std::string_view name) const;
  bool remove(World& world, std::string_view name);
  void clear(World& world);

  /// `{name, created_at}`; null if the name is unknown.
  Json read(std::string_view name) const;
  Json read() const;  ///< all of them, by name

 private:
  struct Copy {
    sqlite::Database database;
    MockClock clock = {};
    Assumptions assumptions = {};
    BuiltIn built_in = {};
    std::int64_t created_at = 0;
    std::vector<std::string> blobs = {};
  };
  static void release_blobs(World& world, const Copy& copy);

  std::map<std::string, Copy, std::less<>> copies_ = {};
};

}  // namespace ws::mock
