#include "tests/architecture/literals.hpp"

#include <algorithm>

namespace ws::test {
namespace {

/// Skips a comment or a character constant at `at`; false where neither begins there.
bool skip_other(const std::string& source, std::size_t& at) {
  if (source.compare(at, 2, "//") == 0) {
    at = std::min(source.find('\n', at), source.size());
  } else if (source.compare(at, 2, "/*") == 0) {
    at = std::min(source.find("*/", at), source.size() - 2) + 2;
  } else if (source[at] == '\'' && at + 2 < source.size() && (source[at + 1] == '\\' || source[at + 2] == '\'')) {
    at = source.find('\'', at + (source[at + 1] == '\\' ? 3 : 1)) + 1;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<Literal> literals_of(const std::string& source) {
  std::vector<Literal> found;
  bool joins = false;  // only blanks and comments since the last literal
  int line = 1;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t before = at;
    if (source.compare(at, 2, "R\"") == 0) {
      const std::size_t open = source.find('(', at);
      const std::string close = ")" + source.substr(at + 2, open - at - 2) + "\"";
      at = source.find(close, open) + close.size();
      joins = false;
    } else if (source[at] == '"') {
      std::size_t end = at + 1;
      while (source[end] != '"') end += source[end] == '\\' ? 2 : 1;
      if (!joins) found.push_back({.line = line});
      found.back().text += source.substr(at + 1, end - at - 1);
      joins = true;
      at = end + 1;
    } else if (!skip_other(source, at)) {
      if (source[at] != ' ' && source[at] != '\n') joins = false;
      ++at;
    }
    line += static_cast<int>(std::count(source.begin() + static_cast<std::ptrdiff_t>(before),
                                        source.begin() + static_cast<std::ptrdiff_t>(std::min(at, source.size())),
                                        '\n'));
  }
  return found;
}

}  // namespace ws::test
