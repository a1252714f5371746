#include "sync-engine/links/targets.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "api-client/base/utf8.hpp"

namespace ws::sync::links {
namespace {

using Kind = Reference::Kind;
using Encoding = Reference::Encoding;

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

bool is_ascii_punctuation(char c) {
  return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(c) != std::string_view::npos;
}

int hex_digit(char c) {
  if (is_ascii_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool is_percent_escape(std::string_view text, std::size_t at) {
  return text[at] == '%' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
}

/// `https:`, `mailto:`, `C:`, `//host`.
bool leads_away(std::string_view target) {
  if (target.starts_with("//") || target.starts_with("\\\\")) return true;
  if (target.empty() || !is_ascii_letter(target[0])) return false;
  const auto end = std::ranges::find_if(
      target, [](char c) { return !is_ascii_letter(c) && !is_ascii_digit(c) && c != '+' && c != '-' && c != '.'; });
  return end != target.end() && *end == ':';
}

/// The named entities that stand in addresses; others stay as they are.
std::string_view named_entity(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known = {
      {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", "\xC2\xA0"}}};
  const auto found = std::ranges::find(known, name, &std::pair<std::string_view, std::string_view>::first);
  return found == known.end() ? std::string_view() : found->second;
}

/// The entity at `at`, decoded; its length, or 0.
std::size_t take_entity(std::string_view text, std::size_t at, std::string& into) {
  constexpr std::size_t longest = 10;
  const std::size_t end = text.substr(at, longest).find(';');
  if (end == std::string_view::npos || end < 2) return 0;
  std::string_view name = text.substr(at + 1, end - 1);
  if (name[0] != '#') {
    const std::string_view meaning = named_entity(name);
    into += meaning;
    return meaning.empty() ? 0 : end + 1;
  }
  name.remove_prefix(1);
  const bool is_hex = !name.empty() && (name[0] == 'x' || name[0] == 'X');
  if (is_hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  const bool is_character = code != 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  if (error != std::errc() || stop != name.data() + name.size() || !is_character) return 0;
  utf8::append(into, static_cast<char32_t>(code));
  return end + 1;
}

bool knows_backslashes(Kind kind) { return kind == Kind::link || kind == Kind::image || kind == Kind::definition; }
bool knows_entities(Kind kind) { return knows_backslashes(kind) || kind == Kind::html; }
bool knows_percents(Kind kind) { return knows_entities(kind) || kind == Kind::autolink; }
bool has_query(Kind kind) { return knows_percents(kind); }

/// Backslashes and entities resolved: what an address reads like in the source of a page.
std::string unescaped(std::string_view text, Kind kind) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (knows_backslashes(kind) && text[at] == '\\' && at + 1 < text.size() && is_ascii_punctuation(text[at + 1])) {
      out += text[at + 1];
      at += 2;
      continue;
    }
    const std::size_t length = knows_entities(kind) && text[at] == '&' ? take_entity(text, at, out) : 0;
    if (length == 0) out += text[at];
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

/// Where the path ends: at a query or a fragment that no backslash hides.
std::size_t path_length(std::string_view raw, Kind kind) {
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const bool is_escaped = knows_backslashes(kind) && raw[at] == '\\';
    const bool is_entity = knows_entities(kind) && raw.substr(at, 2) == "&#";
    if (is_escaped || is_entity) {
      ++at;
    } else if (raw[at] == '#' || (raw[at] == '?' && has_query(kind))) {
      return at;
    }
  }
  return raw.size();
}

std::string decoded(std::string_view raw, Kind kind) {
  std::string text = unescaped(raw, kind);
  return knows_percents(kind) ? percent_decoded(text) : text;
}

/// What cannot stand as it is in that place.
bool needs_escape(char c, const Reference& reference) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) return true;
  switch (reference.kind) {
    case Kind::link:
    case Kind::image:
    case Kind::definition:
      if (std::string_view("%#?&\\<>").find(c) != std::string_view::npos) return true;
      return reference.encoding != Encoding::angle && std::string_view(" ()").find(c) != std::string_view::npos;
    case Kind::html: return std::string_view("%#?&\"'<> `=").find(c) != std::string_view::npos;
    case Kind::autolink: return std::string_view("%#?<> ").find(c) != std::string_view::npos;
    case Kind::wiki_link:
    case Kind::wiki_embed:
    case Kind::front_matter: return false;
  }
  return false;
}

/// `%C3%A4`: whoever wrote it leaves no letter beyond ASCII as it is.
bool escapes_beyond_ascii(std::string_view raw) {
  for (std::size_t at = raw.find('%'); at != std::string_view::npos; at = raw.find('%', at + 1)) {
    if (is_percent_escape(raw, at) && hex_digit(raw[at + 1]) >= 8) return true;
  }
  return false;
}

/// What an attribute shows by itself that its place can hold: a blank stands only between quotes, and a quote only
/// between the other ones.
bool stands_already(char c, std::string_view was, const Reference& reference) {
  return reference.kind == Kind::html && std::string_view("\"'<> `=").find(c) != std::string_view::npos &&
         was.find(c) != std::string_view::npos;
}

/// `was`: the whole path as it was written.
std::string percent_encoded(std::string_view part, std::string_view was, const Reference& reference) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const bool all_beyond_ascii = escapes_beyond_ascii(was);
  std::string out;
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_unfit = needs_escape(c, reference) && !stands_already(c, was, reference);
    if (is_unfit || (all_beyond_ascii && byte >= 0x80)) {
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_percent_escape(text, at)) {
      out += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::optional<Reference> read_target(std::string_view text, const RawTarget& raw) {
  const std::string_view written = text.substr(raw.begin, raw.end - raw.begin);
  Reference reference{.kind = raw.kind, .target_begin = raw.begin, .target_end = raw.end};
  if (written.empty() || leads_away(unescaped(written, raw.kind))) return std::nullopt;
  const std::size_t length = path_length(written, raw.kind);
  const std::string_view path = written.substr(0, length);
  reference.path_end = raw.begin + length;
  reference.path = decoded(path, raw.kind);
  if (const std::size_t hash = written.find('#', length); hash != std::string_view::npos) {
    reference.has_fragment = true;
    reference.fragment = decoded(written.substr(hash + 1), raw.kind);
  }
  if (raw.is_angle) {
    reference.encoding = Encoding::angle;
  } else if (knows_percents(raw.kind)) {
    for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
      if (is_percent_escape(path, at)) reference.encoding = Encoding::percent;
    }
  }
  const bool is_hostile = reference.path.find('\0') != std::string::npos || !utf8::is_valid(reference.path);
  if (is_hostile || (reference.path.empty() && !reference.has_fragment)) return std::nullopt;
  return reference;
}

std::optional<std::string> write_path(std::string_view path, std::string_view was, const Reference& reference) {
  if (path.find_first_of("\r\n") != std::string_view::npos) return std::nullopt;
  if (reference.is_wiki() && path.find_first_of("|#[]^") != std::string_view::npos) return std::nullopt;
  if (reference.kind == Kind::front_matter && path.find_first_of("\"'\\#:,[]{}") != std::string_view::npos)
    return std::nullopt;
  std::map<std::string, std::string_view> spelled;
  for (const std::string_view part : parts_of(was)) spelled.emplace(decoded(part, reference.kind), part);
  std::string out;
  bool is_first = true;
  for (const std::string_view part : parts_of(path)) {
    if (!std::exchange(is_first, false)) out += '/';
    const auto known = spelled.find(std::string(part));
    out += known != spelled.end() ? std::string(known->second) : percent_encoded(part, was, reference);
  }
  return out;
}

}  // namespace ws::sync::links
