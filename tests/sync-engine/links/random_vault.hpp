/// Vaults of a few notes and pictures with links of every style, drawn from names that clash and need to be encoded.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/links/rewrite_links.hpp"
#include "sync-engine/links/targets.hpp"
#include "sync-engine/model/relative_path.hpp"

namespace ws::sync::links {

using Vault = std::map<std::string, std::string>;

inline TreeFiles tree_of(const Vault& vault) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : vault) paths.push_back(path);
  return TreeFiles(std::move(paths));
}

/// The same vault and the same renames for the same seed.
class VaultMaker {
 public:
  explicit VaultMaker(std::uint64_t seed) : random_(seed) {}

  Vault vault() {
    Vault made;
    for (std::size_t i = 2 + pick(8); i > 0; --i) made[path(pick(3) == 0 ? ".png" : ".md")] = "";
    made["top.md"] = "";
    const TreeFiles files = tree_of(made);
    for (auto& [note, text] : made) {
      if (!note.ends_with(".md")) continue;
      text = "# " + note + "\n\n`[no](top.md)` <!-- [no](top.md) -->\n\n";
      for (std::size_t i = pick(6); i > 0; --i) text += link(note, files.paths()[pick(files.paths().size())]) + "\n\n";
    }
    return made;
  }

  Renames renames(const Vault& vault) {
    Renames made;
    const TreeFiles files = tree_of(vault);
    const std::string& one = files.paths()[pick(files.paths().size())];
    const std::string& two = files.paths()[pick(files.paths().size())];
    const std::string folder(parent_folder(one));
    switch (pick(4)) {
      case 0:
        if (one != two && one.substr(one.size() - 3) == two.substr(two.size() - 3)) {
          made = {{one, two}, {two, one}};
          break;
        }
        [[fallthrough]];
      case 1:
        if (!folder.empty()) {
          for (const std::string& file : files.paths()) {
            if (file.starts_with(folder + "/")) made[file] = "moved here" + file.substr(folder.size());
          }
          break;
        }
        [[fallthrough]];
      default: made[one] = path(one.substr(one.rfind('.')));
    }
    for (const auto& [from, to] : made) {
      if (vault.contains(to) && !made.contains(to)) return {};
    }
    return made;
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

  std::string path(const std::string& suffix) {
    static const std::vector<std::string> folders = {"", "a/", "a/b/", "c d/", "\xC3\xA4/"};
    static const std::vector<std::string> names = {"one", "two", "Three", "a b", "x(1)", "\xC3\xBC", "100%", "q&a"};
    return folders[pick(folders.size())] + names[pick(names.size())] + suffix;
  }

  std::string encoded(const std::string& path) {
    Reference place{.kind = Reference::Kind::link};
    return write_path(path, pick(2) == 0 ? "" : "%C3%A4", place).value_or("");
  }

  std::string link(const std::string& note, const std::string& file) {
    const std::string relative = relative_from(note, file);
    const std::string stem = file.substr(0, file.rfind('.'));
    const std::string fragment = pick(3) == 0 ? "#part" : "";
    switch (pick(9)) {
      case 0: return "[t](" + encoded(relative) + fragment + " \"title\")";
      case 1:
        return "![t](<" + write_path(relative, "", {.encoding = Reference::Encoding::angle}).value() + fragment + ">)";
      case 2: return "[t](/" + encoded(file) + ")";
      case 3: return "[l]: " + encoded(relative) + " 'x'";
      case 4: return "<img src=\"" + write_path(relative, "", {.kind = Reference::Kind::html}).value() + "\">";
      case 5: return "[[" + std::string(last_part(file.ends_with(".md") ? stem : file)) + fragment + "|t]]";
      case 6: return "![[" + std::string(last_part(file)) + "|300]]";
      case 7: return "[[" + (file.ends_with(".md") ? stem : file) + "]]";
      default: return "text [t](" + encoded("./" + relative) + ") and [gone](no/such.md)";
    }
  }

  std::mt19937_64 random_;
};

}  // namespace ws::sync::links
