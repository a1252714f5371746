#include "cli/state/shown_ids.hpp"

#include <algorithm>
#include <set>

#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/text.hpp"
#include "api-client/base/uuid.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_ids = 2'000;
constexpr std::size_t max_projects = 500;
constexpr std::size_t shortest_ending = 4;
constexpr std::size_t max_bytes = std::size_t{1} << 20U;

constexpr std::size_t id_length = 36;

/// Lines that begin with an id, newest first. Other programs may have written to the file: anything else is ignored.
std::vector<std::string> lines_in(const fs::path& file) {
  std::vector<std::string> lines;
  const auto text = read_file(file, max_bytes);
  if (!text) return lines;
  for (const std::string_view line : split_lines(*text)) {
    if (is_uuid(line.substr(0, id_length))) lines.emplace_back(line);
  }
  return lines;
}

std::vector<std::string> ids_in(const fs::path& file) {
  std::vector<std::string> ids = lines_in(file);
  std::erase_if(ids, [](const std::string& line) { return line.size() != id_length; });
  return ids;
}

void write(const fs::path& file, const std::string& text) {
  if (!make_folders(file.parent_path(), 0700)) return;
  static_cast<void>(write_file(file, text, 0600));  // a convenience: the command itself has succeeded
}

}  // namespace

ShownIds::ShownIds(const fs::path& state, std::string_view server)
    : folder_(state / "shown" / Sha256::of(server).hex().substr(0, 16)) {}

void ShownIds::keep(const std::vector<std::string>& ids) const {
  const std::vector<std::string> before = ids_in(folder_ / "ids");
  std::set<std::string_view> known;
  std::string text;
  for (const std::vector<std::string>* some : {&ids, &before}) {
    for (const std::string& id : *some) {
      if (known.size() < max_ids && known.insert(id).second) text += id + "\n";
    }
  }
  write(folder_ / "ids", text);
}

std::vector<std::string> ShownIds::ending_with(std::string_view ending) const {
  if (ending.size() < shortest_ending) return {};
  std::vector<std::string> ids = ids_in(folder_ / "ids");
  std::erase_if(ids, [ending](const std::string& id) { return !id.ends_with(ending); });
  return ids;
}

void ShownIds::keep_project(const std::string& id, std::string_view title) const {
  if (!is_uuid(id) || title.find('\n') != std::string_view::npos) return;
  std::string text = id + " " + std::string(title) + "\n";
  std::size_t kept = 1;
  for (const std::string& line : lines_in(folder_ / "projects")) {
    if (!line.starts_with(id) && kept++ < max_projects) text += line + "\n";
  }
  write(folder_ / "projects", text);
}

std::vector<std::string> ShownIds::projects_titled(std::string_view title) const {
  std::vector<std::string> ids;
  for (const std::string& line : lines_in(folder_ / "projects")) {
    if (line.size() > id_length && std::string_view(line).substr(id_length + 1) == title) {
      ids.push_back(line.substr(0, id_length));
    }
  }
  return ids;
}

std::vector<std::string> ShownIds::project_titles() const {
  std::vector<std::string> titles;
  for (const std::string& line : lines_in(folder_ / "projects")) {
    if (line.size() > id_length) titles.push_back(line.substr(id_length + 1));
  }
  return titles;
}

void ShownIds::keep_last(std::string_view kind, std::string_view id) const {
  if (!is_uuid(id)) return;
  const std::string line = std::string(id) + " " + std::string(kind);
  const std::vector<std::string> before = lines_in(folder_ / "last");
  if (std::ranges::find(before, line) != before.end()) return;
  std::string text = line + "\n";
  for (const std::string& one : before) {
    if (std::string_view(one).substr(id_length) != " " + std::string(kind)) text += one + "\n";
  }
  write(folder_ / "last", text);
}

std::optional<std::string> ShownIds::last(std::string_view kind) const {
  for (const std::string& line : lines_in(folder_ / "last")) {
    if (std::string_view(line).substr(id_length) == " " + std::string(kind)) return line.substr(0, id_length);
  }
  return std::nullopt;
}

}  // namespace ws::cli
