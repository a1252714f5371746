/// Who made a change of a text, and when: what the history's commits say of their authors.
#pragma once

#include <compare>
#include <string>

#include "api-client/base/clock.hpp"

namespace ws::sync {

struct Author {
  std::string name = {};  ///< of a person or an agent; empty: not known
  std::string id = {};    ///< its id on the service; empty: not known
  Time time = {};         ///< 1970: not known
  auto operator<=>(const Author&) const = default;
};

}  // namespace ws::sync
