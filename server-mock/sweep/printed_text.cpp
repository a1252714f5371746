#include "server-mock/sweep/printed_text.hpp"

#include <cstdint>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/text.hpp"

namespace ws::mock::sweep {
namespace {

constexpr std::size_t shown_part = 16;

/// An id; a time; a duration; a hash, request id, secret or time in seconds since 1970; a path below the folder of the
/// run.
const std::regex& changing() {
  static const std::regex pattern(
      "([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})"
      "|(\\d{4}-\\d\\d-\\d\\d([T "
      "]\\d\\d:\\d\\d(:\\d\\d)?(\\.\\d+)?(Z|[+-]\\d\\d:?\\d\\d)?)?|\\b\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?)"
      "|(\\b\\d+(\\.\\d+)? ?(ms|s|sec|seconds?)\\b)"
      "|(\\b[0-9a-f]{32,}\\b|\\breq_[0-9a-f]+\\b|\\b1[0-9]{9}([0-9]{3})?\\b|\\bwsk_[A-Za-z0-9_-]+)"
      "|(<folder>[^\\s'\"]*)",
      std::regex::ECMAScript | std::regex::optimize);
  return pattern;
}

bool has_part_of(std::string_view text, std::string_view key) {
  if (text.size() < shown_part || key.size() < shown_part) return false;
  for (std::size_t at = 0; at + shown_part <= key.size(); ++at) {
    if (text.find(key.substr(at, shown_part)) != std::string_view::npos) return true;
  }
  return false;
}

/// The value of a base64 or base64url character; -1: none.
int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

std::string decoded(std::string_view run) {
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : run) {
    held = (held << 6U) | static_cast<std::uint32_t>(digit_of(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((held >> static_cast<unsigned>(bits)) & 0xFFU);
  }
  return bytes;
}

void collect_ids(const Json& value, std::set<std::string>& found) {
  if (value.is_structured()) {
    for (const Json& one : value) collect_ids(one, found);
  } else if (value.is_string() && value.get_ref<const std::string&>().size() == 36) {
    found.insert(value.get<std::string>());
  }
}

}  // namespace

std::set<std::string> ids_in(const Json& state) {
  std::set<std::string> found;
  collect_ids(state, found);
  return found;
}

std::string TextBinder::bind(std::string_view text) {
  std::string plain(text);
  for (const auto& [from, to] : own_) {
    if (!from.empty()) plain = replace_all(std::move(plain), from, to);
  }
  std::string bound;
  std::size_t end = 0;
  for (std::sregex_iterator one(plain.begin(), plain.end(), changing()), last; one != last; ++one) {
    const std::smatch& match = *one;
    bound.append(plain, end, static_cast<std::size_t>(match.position()) - end);
    end = static_cast<std::size_t>(match.position() + match.length());
    if (match[1].matched && kept_.contains(match.str())) {
      bound += match.str();
    } else if (match[1].matched) {
      bound += fmt::format("<id {}>", numbers_.emplace(match.str(), numbers_.size() + 1).first->second);
    } else {
      bound += "<...>";
    }
  }
  return bound.append(plain, end, std::string::npos);
}

std::string without_id_numbers(std::string_view bound) {
  static const std::regex number("<id [0-9]+>");
  return std::regex_replace(std::string(bound), number, "<id>");
}

std::vector<PrintedLine> printed_lines(std::string_view text, TextBinder& binder) {
  std::vector<PrintedLine> lines;
  for (const std::string_view line : split_lines(text)) {
    lines.push_back({.raw = std::string(line), .bound = binder.bind(line)});
  }
  return lines;
}

bool shows_key(std::string_view text, std::string_view key) {
  if (has_part_of(text, key)) return true;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && digit_of(text[end]) >= 0) ++end;
    // A part of the key begins at any of four places within a group of base64.
    for (std::size_t shift = 0; shift < 4 && at + shift + shown_part < end; ++shift) {
      if (has_part_of(decoded(text.substr(at + shift, end - at - shift)), key)) return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace ws::mock::sweep
