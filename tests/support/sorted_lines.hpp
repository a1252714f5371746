/// The lines of a merged text, whichever side was called ours: what both put into one place of a list stands with ours
/// first, numbered by its place, with the blank lines of its neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace ws::test {

/// Without line ends, blank lines and the numbers of ordered lists.
inline std::vector<std::string> sorted_lines(std::string text) {
  std::erase(text, '\r');
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t digits = std::min(text.find_first_not_of("0123456789", at), text.size());
    const bool is_numbered = digits > at && digits < end && (text[digits] == '.' || text[digits] == ')');
    if (end > at) lines.push_back(text.substr(is_numbered ? digits : at, end - (is_numbered ? digits : at)));
    at = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace ws::test
