/// Assumption switches: settings that make the mock behave differently from `decisions.md` ("Assumption switches").
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::mock {

/// One switch; its first value is the default.
struct AssumptionSwitch {
  std::string_view key = {};
  std::span<const std::string_view> values = {};
};

/// All switches, in the order of `decisions.md`.
std::span<const AssumptionSwitch> assumption_switches();

/// The values of the switches in one world.
class Assumptions {
 public:
  Assumptions();

  /// The value of `key`; empty if there is no such switch.
  std::string_view value(std::string_view key) const;
  bool is(std::string_view key, std::string_view wanted) const { return value(key) == wanted; }
  /// Whether it was set, be it to its default.
  bool is_given(std::string_view key) const { return given_.contains(key); }
  /// "KEY=VALUE" with the current value.
  std::string assignment(std::string_view key) const;
  /// Fails with `invalid`, listing the known keys or values.
  Result<void> set(std::string_view key, std::string_view value);
  /// Parses `KEY=VALUE`, the form of `--assume`.
  Result<void> set(std::string_view assignment);

 private:
  std::vector<std::size_t> chosen_;  // index of the value, by index in assumption_switches()
  std::set<std::string, std::less<>> given_ = {};
};

}  // namespace ws::mock
