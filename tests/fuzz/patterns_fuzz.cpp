// Patterns of `.wsignore` and of the mock's rules match in time whatever their stars are, and, where both are short, as
// the plainest matcher does.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server-mock/faults/operation_names.hpp"
#include "sync-engine/tree/ignore_rules.hpp"
#include "sync-engine/tree/wildmatch.hpp"
#include "tests/fuzz/target.hpp"

namespace {

/// `*` and `?` alone, by trying everything.
bool plain_match(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() == '*') {
    for (std::size_t taken = 0;; ++taken) {
      if (plain_match(pattern.substr(1), path.substr(taken))) return true;
      if (taken == path.size() || path[taken] == '/') return false;
    }
  }
  if (path.empty() || (pattern.front() == '?' ? path.front() == '/' : pattern.front() != path.front())) return false;
  return plain_match(pattern.substr(1), path.substr(1));
}

}  // namespace

void ws_fuzz_one(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view pattern = bytes.substr(0, end);
  const std::string_view path = bytes.substr(std::min(end + 1, bytes.size())).substr(0, 1024);
  const bool matches = ws::sync::wildmatch(pattern, path);
  const bool is_plain =
      pattern.find_first_of("[\\") == std::string_view::npos && pattern.find("**") == std::string_view::npos;
  if (is_plain && pattern.size() < 12 && path.size() < 12 && matches != plain_match(pattern, path)) std::abort();
  static_cast<void>(ws::sync::Patterns(std::string(pattern)).verdict(path, false));
  static_cast<void>(ws::mock::glob_matches(pattern, path));
}
