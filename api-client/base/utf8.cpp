#include "api-client/base/utf8.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <utf8proc.h>

#include "api-client/base/handle.hpp"

namespace ws::utf8 {
namespace {

void release(utf8proc_uint8_t* text) noexcept { std::free(text); }

/// utf8proc_map, or nothing where the text is no UTF-8.
std::string map(std::string_view text, unsigned options) {
  // ASCII is its own form under composition; most names are ASCII.
  utf8proc_uint8_t* raw = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()),
                                             &raw,
                                             static_cast<utf8proc_option_t>(options));
  const Handle<utf8proc_uint8_t, release> mapped(raw);
  if (size < 0) return std::string(text);
  return std::string(reinterpret_cast<const char*>(mapped.get()), static_cast<std::size_t>(size));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// The code point at the start of `text` and its length; 0 bytes where it is malformed.
struct Decoded {
  char32_t code_point = 0xFFFD;
  std::size_t bytes = 0;
};

Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first >= 0xC2 && first < 0xE0 && tail(1)) return {((first & 0x1FU) << 6U) | (byte(1) & 0x3FU), 2};
  if (first >= 0xE0 && first < 0xF0 && tail(1) && tail(2)) {
    const char32_t value = ((first & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF)) return {value, 3};
  }
  if (first >= 0xF0 && first < 0xF5 && tail(1) && tail(2) && tail(3)) {
    const char32_t value =
        ((first & 0x07U) << 18U) | ((byte(1) & 0x3FU) << 12U) | ((byte(2) & 0x3FU) << 6U) | (byte(3) & 0x3FU);
    if (value >= 0x10000 && value <= 0x10FFFF) return {value, 4};
  }
  return {};
}

}  // namespace

bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = decode(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string_view prefix(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size()) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U && count-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

std::string nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string fold_key(std::string_view text) {
  if (is_ascii(text)) return ascii_lower(text);
  return map(map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD), UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string lookalike_key(std::string_view text) {
  if (is_ascii(text)) return ascii_lower(text);
  const unsigned options =
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE | UTF8PROC_STRIPNA;
  return map(map(text, options), options);
}

std::size_t columns(std::string_view text) {
  std::size_t total = 0;
  for_each(text, [&](char32_t code_point) {
    const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
    if (width > 0) total += static_cast<std::size_t>(width);
  });
  return total;
}

char32_t next(std::string_view& text) {
  const Decoded decoded = decode(text);
  text.remove_prefix(std::max<std::size_t>(decoded.bytes, 1));
  return decoded.code_point;
}

void append(std::string& text, char32_t code_point) {
  std::uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

}  // namespace ws::utf8
