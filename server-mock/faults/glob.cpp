#include "server-mock/faults/glob.hpp"

#include <utility>
#include <vector>

namespace ws::mock {

// For each prefix of the pattern the set of matching prefixes of the text: O(pattern * text).
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::vector<bool> reached(text.size() + 1, false);
  reached[0] = true;
  const std::size_t last_brace = pattern.rfind('}');
  const char* const braces_end = last_brace == std::string_view::npos ? nullptr : pattern.data() + last_brace;
  while (!pattern.empty()) {
    const bool deep = pattern.starts_with("**");
    std::size_t taken = 0;
    if (pattern.front() == '*') taken = deep ? 2 : 1;
    if (pattern.front() == '{' && pattern.data() < braces_end) taken = pattern.find('}') + 1;
    std::vector<bool> next(text.size() + 1, false);
    for (std::size_t at = 0; at <= text.size(); ++at) {
      if (taken == 0) {
        next[at] = at > 0 && reached[at - 1] && text[at - 1] == pattern.front();
      } else {
        next[at] = reached[at] || (at > 0 && next[at - 1] && (deep || text[at - 1] != '/'));
      }
    }
    reached = std::move(next);
    pattern.remove_prefix(taken == 0 ? 1 : taken);
  }
  return reached[text.size()];
}

}  // namespace ws::mock
