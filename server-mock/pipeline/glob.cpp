#include "server-mock/pipeline/glob.hpp"

namespace ws::mock {

bool glob_matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const bool deep = pattern.starts_with("**");
  std::size_t taken = 0;
  if (pattern.front() == '*') taken = deep ? 2 : 1;
  if (pattern.front() == '{' && pattern.find('}') != std::string_view::npos) taken = pattern.find('}') + 1;
  if (taken == 0) {
    return !text.empty() && pattern.front() == text.front() && glob_matches(pattern.substr(1), text.substr(1));
  }
  for (std::size_t length = 0; length <= text.size(); ++length) {
    if (length > 0 && text[length - 1] == '/' && !deep) return false;
    if (glob_matches(pattern.substr(taken), text.substr(length))) return true;
  }
  return false;
}

}  // namespace ws::mock
