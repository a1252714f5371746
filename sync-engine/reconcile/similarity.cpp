#include "sync-engine/reconcile/similarity.hpp"

#include <algorithm>
#include <functional>

namespace ws::sync {
namespace {

std::string_view without_ends(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

std::size_t shared_lines(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t shared = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) {
      ++shared;
      ++left;
      ++right;
    } else if (*left < *right) {
      ++left;
    } else {
      ++right;
    }
  }
  return shared;
}

}  // namespace

LineProfile::LineProfile(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_ends(text.substr(0, end));
    if (!line.empty()) lines_.push_back(std::hash<std::string_view>{}(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(lines_.begin(), lines_.end());
}

bool is_similar(const LineProfile& a, const LineProfile& b) {
  const std::size_t longer = std::max(a.lines().size(), b.lines().size());
  if (longer == 0) return false;
  return shared_lines(a.lines(), b.lines()) * 10 >= longer * 6;
}

}  // namespace ws::sync
