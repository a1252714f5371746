/// The width of a text on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "api-client/base/utf8.hpp"

namespace ws::test {

/// The number of columns of its widest line.
inline std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, utf8::columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

}  // namespace ws::test
