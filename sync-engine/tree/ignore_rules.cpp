#include "sync-engine/tree/ignore_rules.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/tree/wildmatch.hpp"

namespace ws::sync {
namespace {

/// The one form in which names and patterns are compared, whichever the disk and the editor have; `held` keeps it.
std::string_view in_one_form(std::string_view text, std::string& held) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_plain) return text;
  held = utf8::nfc(text);
  return held;
}

/// Line by line: one that is not UTF-8 stays as it is.
std::string lines_in_one_form(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines += utf8::nfc(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// What editors and office programs leave beside a file for a moment. Hidden names are passed over anyway.
bool is_built_in(std::string_view name) {
  if (name.empty()) return false;
  return name.starts_with("~$") ||
         (name.size() > 1 && (name.back() == '~' || (name.front() == '#' && name.back() == '#')));
}

/// As git does: spaces at the end do not count, but for one behind a backslash.
std::string_view without_trailing_spaces(std::string_view line) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ' ') continue;
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    end = at + 1;
  }
  return line.substr(0, end);
}

/// A text's patterns and the folder that they speak for.
struct InForce {
  std::size_t folder_size = 0;  ///< of the folder's path with its '/'
  const Patterns* patterns = nullptr;
};

bool is_ignored_itself(std::string_view path, bool is_folder, const std::vector<InForce>& in_force) {
  for (auto found = in_force.rbegin(); found != in_force.rend(); ++found) {
    if (const auto verdict = found->patterns->verdict(path.substr(found->folder_size), is_folder)) return *verdict;
  }
  return is_built_in(last_part(path));
}

}  // namespace

Patterns::Patterns(std::string_view text) : text_(lines_in_one_form(text)) {
  std::string_view rest = text_;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('#')) add(without_trailing_spaces(line));
  }
}

void Patterns::add(std::string_view line) {
  Pattern pattern;
  pattern.negated = line.starts_with('!');
  if (pattern.negated) line.remove_prefix(1);
  pattern.folders_only = line.ends_with('/');
  if (pattern.folders_only) line.remove_suffix(1);
  pattern.whole_path = line.find('/') != std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  if (line.empty() || !can_match(line)) return;
  pattern.literal = line.find_first_of("*?[\\") == std::string_view::npos;
  pattern.begin = static_cast<std::uint32_t>(line.data() - text_.data());
  pattern.size = static_cast<std::uint32_t>(line.size());
  patterns_.push_back(pattern);
}

bool Patterns::matches(const Pattern& pattern, std::string_view path, std::string_view name) const {
  const std::string_view text = std::string_view(text_).substr(pattern.begin, pattern.size);
  const std::string_view subject = pattern.whole_path ? path : name;
  return pattern.literal ? text == subject : wildmatch(text, subject);
}

std::optional<bool> Patterns::verdict(std::string_view path, bool is_folder) const {
  std::string held;
  path = in_one_form(path, held);
  const std::string_view name = last_part(path);
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->folders_only && !is_folder) continue;
    if (matches(*pattern, path, name)) return !pattern->negated;
  }
  return std::nullopt;
}

void IgnoreRules::add(std::string_view folder, std::string_view text) {
  Patterns patterns(text);
  if (patterns.empty()) return;
  const std::lock_guard lock(mutex_);
  by_folder_.insert_or_assign(folder.empty() ? "" : utf8::nfc(folder) + "/", std::move(patterns));
  has_rules_ = true;
}

bool IgnoreRules::is_ignored(std::string_view path) const {
  const bool is_folder = path.ends_with('/');
  if (is_folder) path.remove_suffix(1);
  if (!has_rules_ && path.find('/') == std::string_view::npos) return is_built_in(path);
  std::string held;
  path = in_one_form(path, held);
  const std::shared_lock lock(mutex_);
  std::vector<InForce> in_force;
  for (std::size_t begin = 0;;) {
    if (const auto found = by_folder_.find(path.substr(0, begin)); found != by_folder_.end())
      in_force.push_back({begin, &found->second});
    const std::size_t slash = path.find('/', begin);
    if (slash == std::string_view::npos) return is_ignored_itself(path, is_folder, in_force);
    if (is_ignored_itself(path.substr(0, slash), true, in_force)) return true;
    begin = slash + 1;
  }
}

}  // namespace ws::sync
