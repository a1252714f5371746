#include <algorithm>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/files/files.hpp"

namespace ws::mock {
namespace {

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// RFC 9110, 5.6.2.
bool is_token_char(char c) {
  return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// RFC 8187, 3.2.1: characters that need no percent-encoding.
bool is_attribute_char(char c) {
  return is_letter_or_digit(c) || std::string_view("!#$&+-.^_`|~").find(c) != std::string_view::npos;
}

/// Characters that need no escape in quotes; not `%`, which some browsers decode.
bool is_plain(char c) { return c >= ' ' && c <= '~' && std::string_view("\"\\/%").find(c) == std::string_view::npos; }

bool is_media_type(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  const std::string_view rest = text.substr(slash + 1);
  const std::string_view subtype = rest.substr(0, rest.find_first_of("; "));
  return !subtype.empty() && std::ranges::all_of(text.substr(0, slash), is_token_char) &&
         std::ranges::all_of(subtype, is_token_char) &&
         std::ranges::all_of(rest, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string content_disposition(std::string_view file_name) {
  std::string value = "attachment; filename=\"";
  bool plain = true;
  for (const char c : file_name) {
    // One underscore for each code point.
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;
    plain = plain && is_plain(c);
    value += is_plain(c) ? c : '_';
  }
  value += '"';
  if (plain) return value;
  value += "; filename*=UTF-8''";
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : file_name) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_attribute_char(c)) {
      value += c;
    } else {
      value.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
  }
  return value;
}

std::string safe_media_type(std::string_view mime_type) {
  return is_media_type(mime_type) ? std::string(mime_type) : "application/octet-stream";
}

}  // namespace ws::mock
