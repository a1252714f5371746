#include "sync-engine/model/relative_path.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/invisible.hpp"
#include "api-client/base/utf8.hpp"

namespace ws::sync {
namespace {

/// What no part of a path may be taken for.
constexpr std::array<std::string_view, 6> reserved = {
    ".ws", ".ws.yaml", ".wsignore", ".git", ".gitmodules", ".gitattributes"};
/// DOS short names of the same.
constexpr std::array<std::string_view, 3> short_names = {"git~1", "gitmod~1", "gitatt~1"};
/// Base names that are devices on Windows.
constexpr std::array<std::string_view, 6> devices = {"con", "prn", "aux", "nul", "conin$", "conout$"};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_forbidden(char32_t c) { return utf8::is_control(c) || utf8::is_hidden_in_name(c); }

/// Whether one part may be taken for a reserved name by a file system that folds, strips, or has streams.
bool is_reserved(std::string_view part) {
  // The look-alike key of ASCII is its lower case: most names are settled by their first byte.
  const bool ascii = is_ascii(part);
  if (ascii && part.front() != '.' && part.front() != 'g' && part.front() != 'G' && part.front() != ' ') return false;
  const std::string key = utf8::lookalike_key(part);
  std::string_view name = key;
  name = name.substr(0, name.find(':'));  // an alternate data stream of one
  name = trimmed_end(name, ". ");
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  return std::find(reserved.begin(), reserved.end(), name) != reserved.end() ||
         std::find(short_names.begin(), short_names.end(), name) != short_names.end();
}

bool has_forbidden_character(std::string_view part) {
  bool found = false;
  utf8::for_each(part, [&](char32_t c) { found = found || is_forbidden(c); });
  return found;
}

bool is_drive(std::string_view text) {
  if (text.size() < 2 || text[1] != ':') return false;
  const char letter = to_lower(text[0]);
  return letter >= 'a' && letter <= 'z' && (text.size() == 2 || text[2] == '/');
}

/// For a message: nothing that a terminal would obey.
std::string shown(std::string_view text) {
  std::string out;
  utf8::for_each(utf8::prefix(text, 80), [&](char32_t c) { utf8::append(out, is_forbidden(c) ? U'\uFFFD' : c); });
  return out;
}

tl::unexpected<Failure> refused(std::string_view text, std::string_view rule) {
  return fail(Failure::Kind::invalid, fmt::format("the path \"{}\" {}", shown(text), rule));
}

}  // namespace

std::optional<std::string_view> dangerous_part(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == "." || part == "..") return "has a part . or ..";
  if (part.size() > max_segment_bytes) return "has a part over 255 bytes";
  const bool plain = is_ascii(part);
  for (const char c : part) {
    if (c == '\\' || c == '/') return "has a backslash or a slash in the name of a file or folder";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "holds a control character";
  }
  if (!plain) {
    if (!utf8::is_valid(part)) return "is not UTF-8";
    if (has_forbidden_character(part)) return "holds a control or an invisible character";
    if (utf8::has_stray_joiner(part)) return "holds a zero-width joiner that joins nothing";
  }
  if (is_reserved(part)) return "has a part that may be taken for .ws or .git";
  return std::nullopt;
}

Result<RelativePath> RelativePath::parse(std::string_view text) {
  if (text.empty()) return refused(text, "is empty");
  if (text.size() > max_path_bytes) return refused(text, "is over 1024 bytes");
  if (text.front() == '/' || is_drive(text)) return refused(text, "is absolute");
  std::size_t levels = 0;
  for (std::string_view rest = text;;) {
    const std::size_t slash = rest.find('/');
    if (const auto rule = dangerous_part(rest.substr(0, slash))) return refused(text, *rule);
    if (++levels > max_path_levels) return refused(text, "has more than 200 levels");
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  return RelativePath(std::string(text));
}

std::string_view parent_folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

std::string_view RelativePath::folder() const noexcept { return parent_folder(text()); }

std::string_view RelativePath::name() const noexcept { return last_part(text()); }

std::string RelativePath::twin_key() const { return utf8::fold_key(text()); }

std::string service_form(std::string_view path) { return utf8::nfc(path); }

bool is_at_or_below(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

bool is_nested(const RelativePath& a, const RelativePath& b) {
  return a != b && (is_at_or_below(a.text(), b.text()) || is_at_or_below(b.text(), a.text()));
}

bool is_markdown(std::string_view name) {
  const auto ends_in = [&](std::string_view ending) {
    return name.size() > ending.size() && equal_ignoring_case(name.substr(name.size() - ending.size()), ending);
  };
  return ends_in(".md") || ends_in(".markdown");
}

bool is_for_programs(const RelativePath& path) {
  static constexpr std::string_view names[] = {
      "AGENTS.md", "CLAUDE.md", "GEMINI.md", "SKILL.md", "copilot-instructions.md"};
  return std::ranges::any_of(names, [&](std::string_view each) { return equal_ignoring_case(path.name(), each); });
}

bool is_unportable(const RelativePath& path) {
  for (std::string_view rest = path.text();;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.find_first_of(":<>|?*\"") != std::string_view::npos) return true;
    // Programs take it for a flag.
    if (part.front() == '-' || part.front() == ' ' || part.back() == ' ' || part.back() == '.') return true;
    std::string base = utf8::fold_key(part.substr(0, part.find('.')));
    if (std::find(devices.begin(), devices.end(), base) != devices.end()) return true;
    const bool numbered = base.size() == 4 && (base.substr(0, 3) == "com" || base.substr(0, 3) == "lpt");
    if (numbered && base[3] >= '0' && base[3] <= '9') return true;
    if (slash == std::string_view::npos) return false;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace ws::sync
