#include "cli/terminal/shell_word.hpp"

#include <algorithm>

#include "cli/terminal/clean.hpp"

namespace ws::cli {

std::string shell_word(std::string_view text) {
  const std::string shown = clean(text, Breaks::space);
  const bool plain = !shown.empty() && shown.front() != '~' && std::ranges::all_of(shown, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("._-/+@%,:~").find(c) != std::string::npos;
  });
  if (plain) return shown;
  std::string quoted = "'";
  for (const char c : shown) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_path(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

}  // namespace ws::cli
