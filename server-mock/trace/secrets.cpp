#include "server-mock/trace/secrets.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::array<std::string_view, 5> kinds = {"token", "key", "device_code", "lease_token", "upload"};
constexpr std::size_t code_length = 43;
/// Per kind: secrets with higher numbers in a trace file are not issued.
constexpr std::uint64_t max_codes = 1'000'000;
/// Encloses a name. It occurs unescaped neither in a request head nor in JSON text.
constexpr char mark = '\x01';
constexpr std::string_view control_name = "control";
constexpr std::string_view unknown = "not-a-key-of-this-world";

bool is_code_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::string replace_all(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

void SecretNames::make(std::string_view kind, std::uint64_t count) {
  std::vector<std::string>& codes = codes_[std::string(kind)];
  while (codes.size() < count) {
    codes.push_back(made_.code(kind));
    names_.emplace(codes.back(), fmt::format("{}{}:{}{}", mark, kind, codes.size() - 1, mark));
  }
}

Result<void> SecretNames::learn(World& world) {
  WS_LET(const sqlite::CachedStatement counters, world.database.cached("select kind, next from id_counters"));
  while (true) {
    WS_LET(const bool found, counters->step());
    if (!found) return {};
    const auto kind = std::ranges::find(kinds, counters->text(0));
    if (kind != kinds.end()) make(*kind, static_cast<std::uint64_t>(counters->integer(1)));
  }
}

std::string SecretNames::hide(std::string_view text) const {
  std::string hidden;
  std::size_t run = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    hidden += text[at];
    run = is_code_character(text[at]) ? run + 1 : 0;
    if (run < code_length) continue;
    const auto name = names_.find(text.substr(at + 1 - code_length, code_length));
    if (name == names_.end()) continue;
    hidden.replace(hidden.size() - code_length, code_length, name->second);
    run = 0;
  }
  if (control_token_.empty()) return hidden;
  return replace_all(std::move(hidden), control_token_, fmt::format("{}{}{}", mark, control_name, mark));
}

std::string SecretNames::hide_head(std::string_view head) const {
  std::string hidden;
  for (std::size_t start = 0; start < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", start), head.size() - 1) + 2;
    std::string line = hide(head.substr(start, end - start));
    start = end;
    const std::size_t colon = line.find(':');
    const std::string_view name = std::string_view(line).substr(0, colon == std::string::npos ? 0 : colon);
    const bool is_credential = equal_ignoring_case(name, "authorization") ||
                               equal_ignoring_case(name, "proxy-authorization") || equal_ignoring_case(name, "cookie");
    if (is_credential && line.find(mark) == std::string::npos) {
      const bool bearer = line.find("Bearer ") != std::string::npos;
      line = fmt::format("{}: {}{}\r\n", name, bearer ? "Bearer " : "", unknown);
    }
    hidden += line;
  }
  return hidden;
}

std::string SecretNames::reveal(std::string_view text) {
  std::string revealed;
  while (true) {
    const std::size_t open = text.find(mark);
    revealed += text.substr(0, open);
    if (open == std::string_view::npos) return revealed;
    const std::size_t close = text.find(mark, open + 1);
    const std::string_view name = text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
    const std::size_t colon = name.find(':');
    const std::string_view kind = name.substr(0, colon);
    std::uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const bool counted = colon != std::string_view::npos &&
                         std::from_chars(name.data() + colon + 1, end, number).ptr == end &&
                         std::ranges::find(kinds, kind) != kinds.end() && number < max_codes;
    if (close == std::string_view::npos || (!counted && name != control_name)) {
      revealed += mark;
      text.remove_prefix(open + 1);
      continue;
    }
    if (counted) make(kind, number + 1);
    revealed += counted ? codes_.at(std::string(kind))[number] : control_token_;
    text.remove_prefix(close + 1);
  }
}

}  // namespace ws::mock::trace
