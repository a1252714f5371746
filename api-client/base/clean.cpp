#include "api-client/base/clean.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "api-client/base/invisible.hpp"
#include "api-client/base/utf8.hpp"

namespace ws {
namespace {

using utf8::is_control;
using utf8::is_hidden;

constexpr char32_t replacement = 0xFFFD;
constexpr char32_t escape = 0x1B;

/// `text` starts after the introducer of a control sequence (ECMA-48, 5.4): parameters, intermediates, a final byte.
void skip_control_sequence(std::string_view& text) {
  while (!text.empty() && text.front() >= 0x20 && text.front() <= 0x3F) text.remove_prefix(1);
  if (!text.empty() && text.front() >= 0x40 && text.front() <= 0x7E) text.remove_prefix(1);
}

/// Skips a control string (OSC, DCS, SOS, PM, APC) up to BEL or ST, otherwise to the end of the line.
void skip_control_string(std::string_view& text) {
  while (!text.empty()) {
    if (text.front() == '\n') return;
    const char32_t c = utf8::next(text);
    if (c == 0x07 || c == 0x9C) return;
    if (c == escape) {
      if (!text.empty() && text.front() == '\\') text.remove_prefix(1);
      return;
    }
  }
}

/// `introducer` is the character after ESC, or the equivalent C1 character.
void skip_sequence(char32_t introducer, std::string_view& text) {
  switch (introducer) {
    case U'[': return skip_control_sequence(text);
    case U']':
    case U'P':
    case U'X':
    case U'^':
    case U'_': return skip_control_string(text);
    default: return;
  }
}

void after_escape(std::string_view& text) {
  if (text.empty()) return;
  const char first = text.front();
  if (first < 0x20 || first > 0x7E) return;
  text.remove_prefix(1);
  if (first <= 0x2F) {  // intermediate bytes, then one final byte: "ESC ( B"
    while (!text.empty() && text.front() >= 0x20 && text.front() <= 0x2F) text.remove_prefix(1);
    if (!text.empty() && text.front() >= 0x30 && text.front() <= 0x7E) text.remove_prefix(1);
    return;
  }
  skip_sequence(static_cast<char32_t>(first), text);
}

bool needs_nothing(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7E) return false;
  }
  return true;
}

void append_escaped(std::string& json, char32_t c) {
  if (c < 0x10000) {
    json += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    return;
  }
  const auto rest = static_cast<std::uint32_t>(c) - 0x10000U;
  json += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
}

}  // namespace

std::string clean(std::string_view text, Breaks breaks) {
  if (needs_nothing(text)) return std::string(text);
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const char32_t c = utf8::next(text);
    if (c == U'\n' || c == U'\t') {
      safe += breaks == Breaks::keep ? static_cast<char>(c) : ' ';
    } else if (c == U'\r') {
      if (!text.empty() && text.front() == '\n') continue;
      safe += breaks == Breaks::keep ? '\n' : ' ';
    } else if (c == escape) {
      after_escape(text);
    } else if (c == 0x9B || c == 0x9D || c == 0x90 || c == 0x98 || c == 0x9E || c == 0x9F) {
      skip_sequence(c - 0x40, text);
    } else if (is_hidden(c)) {
      continue;
    } else {
      utf8::append(safe, is_control(c) ? replacement : c);
    }
  }
  return safe;
}

std::string escape_json(std::string_view json) {
  if (needs_nothing(json)) return std::string(json);
  std::string safe;
  safe.reserve(json.size());
  while (!json.empty()) {
    const char32_t c = utf8::next(json);
    const bool is_blank = c == U'\n' || c == U'\t';
    if (c == U'\r') continue;  // between JSON tokens; inside a JSON string it is already escaped
    if (!is_blank && (is_control(c) || is_hidden(c))) {
      append_escaped(safe, c);
    } else {
      utf8::append(safe, c);
    }
  }
  return safe;
}

}  // namespace ws
