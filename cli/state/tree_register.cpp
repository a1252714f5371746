#include "cli/state/tree_register.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

std::optional<TiedTree> read_tree(const fs::path& file) {
  const auto text = read_file(file);
  const auto value = text ? parse_bounded(*text) : fail(Failure(text.error()));
  if (!value) return std::nullopt;
  const auto member = [&](std::string_view key) { return find_text(*value, key).value_or(""); };
  TiedTree tree{.folder = member("folder"),
                .name = member("name"),
                .source_id = member("source_id"),
                .base_url = member("base_url")};
  return tree.folder.empty() ? std::nullopt : std::optional(std::move(tree));
}

std::string key_of(const fs::path& folder) { return Sha256::of(folder.string()).hex().substr(0, 32); }
std::string name_of(const fs::path& folder) { return key_of(folder) + ".json"; }
std::string told_name_of(const fs::path& folder) { return key_of(folder) + ".told"; }

}  // namespace

Result<void> TreeRegister::remove(const fs::path& folder) const {
  set_told(folder, "");
  std::error_code error;
  fs::remove(folder_ / name_of(folder), error);
  if (error) return fail(Failure::Kind::disk, "cannot remove " + (folder_ / name_of(folder)).string(), error.message());
  return {};
}

Result<void> TreeRegister::add(const TiedTree& tree) const {
  const fs::path file = folder_ / name_of(tree.folder);
  if (read_tree(file) == tree) return {};
  WS_TRY(make_folders(folder_, 0700));
  const Json value = {{"v", 1},
                      {"folder", tree.folder.string()},
                      {"name", tree.name},
                      {"source_id", tree.source_id},
                      {"base_url", tree.base_url}};
  return write_file(file, dump(value, 2) + "\n", 0600);
}

std::string TreeRegister::told(const fs::path& folder) const {
  return read_file(folder_ / told_name_of(folder)).value_or("");
}

void TreeRegister::set_told(const fs::path& folder, const std::string& mark) const {
  std::error_code ignored;
  if (mark.empty()) {
    fs::remove(folder_ / told_name_of(folder), ignored);
  } else if (make_folders(folder_, 0700)) {
    static_cast<void>(write_file(folder_ / told_name_of(folder), mark, 0600));
  }
}

Result<std::vector<TiedTree>> TreeRegister::all() const {
  std::vector<TiedTree> trees;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (auto tree = read_tree(at->path())) trees.push_back(std::move(*tree));
  }
  std::sort(trees.begin(), trees.end(), [](const TiedTree& a, const TiedTree& b) { return a.folder < b.folder; });
  return trees;
}

}  // namespace ws::cli
