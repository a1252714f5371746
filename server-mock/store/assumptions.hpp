/// Where the mock can be told to answer otherwise than `decisions.md` says ("Assumption switches").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::mock {

/// One switch; the first of its values is the default.
struct AssumptionSwitch {
  std::string_view key = {};
  std::span<const std::string_view> values = {};
};

/// Every switch there is, in the order of the page.
std::span<const AssumptionSwitch> assumption_switches();

/// How the switches of one world stand.
class Assumptions {
 public:
  Assumptions();

  /// The value that `key` stands at; empty where there is no such switch.
  std::string_view value(std::string_view key) const;
  bool is(std::string_view key, std::string_view wanted) const { return value(key) == wanted; }
  /// "KEY=VALUE" as it stands.
  std::string assignment(std::string_view key) const;
  /// Fails with `invalid`, naming the keys or values there are.
  Result<void> set(std::string_view key, std::string_view value);
  /// `KEY=VALUE`, the form of `--assume`.
  Result<void> set(std::string_view assignment);

 private:
  std::vector<std::size_t> chosen_;  // by place in assumption_switches()
};

}  // namespace ws::mock
