/// The width of a text on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "api-client/base/utf8.hpp"

namespace ws::test {

/// The number of columns of its widest line. What follows a cleared line stands in its place: a line of progress, which
/// a slow machine shows, and the words that replace it are two.
inline std::size_t widest_line(std::string_view text) {
  constexpr std::string_view clear_line = "\x1b[K";
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t cleared = text.find(clear_line);
    const bool is_cleared = cleared < end;
    widest = std::max(widest, utf8::columns(text.substr(0, is_cleared ? cleared : end)));
    text.remove_prefix(is_cleared ? cleared + clear_line.size() : std::min(end + 1, text.size()));
  }
  return widest;
}

}  // namespace ws::test
