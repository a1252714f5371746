#include "tests/sync-engine/merge/merge_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/build_paths.hpp"

namespace ws::sync::test {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string* section_of(MergeCase& one, const std::string& name) {
  if (name == "base") return &one.base;
  if (name == "ours") return &one.ours;
  if (name == "theirs") return &one.theirs;
  if (name == "merged") return &one.merged.emplace();
  if (name == "mirrored") return &one.mirrored.emplace();
  if (name == "conflict") return nullptr;
  throw std::runtime_error(one.name + ": no section is called " + name);
}

void read_cases(const std::filesystem::path& file, std::vector<MergeCase>& cases) {
  std::ifstream stream(file, std::ios::binary);
  std::string* section = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("#### ")) {
      cases.push_back({.name = file.stem().string() + ": " + line.substr(5)});
      section = nullptr;
    } else if (line.starts_with("==== ")) {
      section = section_of(cases.back(), line.substr(5));
    } else if (section != nullptr) {
      *section += line + "\n";
    }
  }
}

}  // namespace

std::vector<MergeCase> merge_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ws::test::source_path("/tests/data/merge"))) {
    if (entry.path().extension() == ".merge") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<MergeCase> cases;
  for (const auto& file : files) read_cases(file, cases);
  for (MergeCase& one : cases) {
    for (std::string* text : {&one.base, &one.ours, &one.theirs}) {
      replace_all(*text, "<NONL>\n", "");
      replace_all(*text, "<CR>", "\r");
    }
    if (one.merged) {
      replace_all(*one.merged, "<NONL>\n", "");
      replace_all(*one.merged, "<CR>", "\r");
    }
    if (!one.mirrored) one.mirrored = one.merged;
  }
  return cases;
}

}  // namespace ws::sync::test
