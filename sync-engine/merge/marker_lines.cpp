#include "sync-engine/merge/marker_lines.hpp"

#include <algorithm>
#include <array>

namespace ws::sync {
namespace {

constexpr std::array<std::string_view, 3> marker_lines = {"<<<<<<< local", "||||||| base", ">>>>>>> remote"};

std::size_t count_lines(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == wanted) ++count;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return count;
}

}  // namespace

bool adds_markers(std::string_view text, const std::vector<std::string_view>& others) {
  return std::any_of(marker_lines.begin(), marker_lines.end(), [&](std::string_view line) {
    const std::size_t count = count_lines(text, line);
    return count > 0 && std::all_of(others.begin(), others.end(), [&](std::string_view other) {
             return count_lines(other, line) < count;
           });
  });
}

}  // namespace ws::sync
