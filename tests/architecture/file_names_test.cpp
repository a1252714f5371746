// Names from outside become names of files in one place, `sync-engine/model/file_name`: this reads the sources for any
// other way. It knows an id, a title or a given name by the words that the code uses for them.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/build_paths.hpp"

namespace {

namespace fs = std::filesystem;

/// `folder / asset_id`, `folder / (id + ".json")`, `folder / std::string(title)`; `id + ".md"`, `"." + title`.
bool builds_a_name(const std::string& line) {
  const std::string word = R"((?:[A-Za-z_]+(?:\.|->))*(?:[a-z_]*_)?(?:id|ids\[\w+\]|title|handle|file_name))";
  const std::string ends = R"((?![A-Za-z_(:.]|->))";
  static const std::regex joined(R"(\s/\s*\(?(?:std::string\()?\*?)" + word + ends);
  static const std::regex with_ending(word + R"(\)?\s*\+\s*"\.[a-z]+")");
  static const std::regex asked(R"(\s/\s*(?:\*)?find_text\()");
  const std::string code = line.substr(0, line.find("//"));
  // Most lines have neither a slash nor an ending, and an expression is slow to say so.
  if (code.find(" /") == std::string::npos && code.find("\".") == std::string::npos) return false;
  return std::regex_search(code, joined) || std::regex_search(code, with_ending) || std::regex_search(code, asked);
}

/// The rule itself may stand only where it is made, where the disk is walked, and where names of ours are read.
bool asks_the_rule(const std::string& file, const std::string& line) {
  if (line.find("dangerous_part(") == std::string::npos) return false;
  for (const char* const home : {"sync-engine/model/", "sync-engine/tree/", "sync-engine/watch/"}) {
    if (file.starts_with(home)) return false;
  }
  return true;
}

std::vector<std::string> other_ways() {
  const fs::path root = ws::test::source_path("");
  std::vector<std::string> found;
  std::size_t lines = 0;
  for (const char* folder : {"api-client", "sync-engine", "server-mock", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp") continue;
      const std::string file = fs::relative(entry.path(), root).string();
      if (file.starts_with("server-mock/services/")) continue;  // paths of documents in the database; no files
      std::ifstream stream(entry.path());
      std::string line;
      for (int number = 1; std::getline(stream, line); ++number, ++lines) {
        if (builds_a_name(line) || asks_the_rule(file, line))
          found.push_back(file + ":" + std::to_string(number) + ": " + line);
      }
    }
  }
  REQUIRE(lines > 50'000);
  return found;
}

}  // namespace

TEST_CASE("file names: a text from outside becomes the name of a file by one function", "[architecture]") {
  for (const std::string& way : other_ways()) FAIL_CHECK(way);
}

TEST_CASE("file names: the check itself sees the other ways", "[architecture]") {
  CHECK(builds_a_name("  return folder_ / (std::string(upload_id) + \".json\");"));
  CHECK(builds_a_name("  fs::path target = folder / id;"));
  CHECK(builds_a_name("  fs::path target = folder / document.title;"));
  CHECK(builds_a_name("  fs::remove(folder_ / asset->file_name, ignored);"));
  CHECK(builds_a_name("                                  id + \".md\"}) {"));
  CHECK(builds_a_name("  write_file(folder / find_text(asset, \"original_file_name\").value_or(\"\"), bytes);"));
  CHECK_FALSE(builds_a_name("  return folder_ / sync::file_name(sync::NamedBy::id, upload_id, \".json\");"));
  CHECK_FALSE(builds_a_name("  const auto half = size / 2;  // folder / id"));
  CHECK_FALSE(builds_a_name("  return folder / name;"));
}
