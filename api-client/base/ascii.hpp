/// Letter case, trimming and hexadecimal digits of ASCII text. Unlike <cctype>, these functions ignore the locale and
/// accept any `char`; bytes that are not ASCII are returned unchanged.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ws {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

inline std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = to_upper(c);
  return upper;
}

inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// Removes the characters in `blanks` from both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes the characters in `blanks` from the end.
constexpr std::string_view trimmed_end(std::string_view text, std::string_view blanks = " \t\r\n") {
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The same of the text itself.
inline void trim_end(std::string& text, std::string_view blanks = " \t\r\n") {
  text.resize(trimmed_end(text, blanks).size());
}

/// The value of a hexadecimal digit, or -1 if `c` is not one.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace ws
