// Every text that people may read, in one list: a message that is new or changed shows up in review, and is read
// against the words that the project uses. `WS_ACCEPT=1` rewrites the list.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/architecture/literals.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/golden.hpp"

namespace {

namespace fs = std::filesystem;

/// Words with a blank between them, and not the code of another language.
bool is_message(const std::string& text) {
  for (const char* const begin : {"select ", "insert ", "update ", "delete from ", "create ", "pragma "}) {
    if (text.starts_with(begin)) return false;
  }
  for (const char* const sql : {" = ?", " order by ", " join "}) {
    if (text.find(sql) != std::string::npos) return false;
  }
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const auto is_letter = [&text](std::size_t at) { return std::isalpha(static_cast<unsigned char>(text[at])) != 0; };
    if (text[i] == ' ' && (is_letter(i - 1) || text[i - 1] == '`' || text[i - 1] == '}') &&
        (is_letter(i + 1) || text[i + 1] == '`' || text[i + 1] == '{')) {
      return true;
    }
  }
  return false;
}

/// "cli/commands/docs/docs.cpp", and its messages below it in the order of the alphabet: moving one changes nothing.
std::string messages_in(const fs::path& root) {
  std::set<fs::path> files;
  for (const char* const folder : {"api-client", "cli", "server-mock", "sync-engine"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") files.insert(entry.path());
    }
  }
  std::string list;
  for (const fs::path& file : files) {
    std::ifstream stream(file);
    const std::string source(std::istreambuf_iterator<char>(stream), {});
    std::set<std::string> messages;
    for (const ws::test::Literal& literal : ws::test::literals_of(source)) {
      if (is_message(literal.text)) messages.insert(literal.text);
    }
    if (messages.empty()) continue;
    list += fs::relative(file, root).string() + "\n";
    for (const std::string& message : messages) list += "  " + message + "\n";
  }
  return list;
}

}  // namespace

TEST_CASE("messages: all of them are in the list that is read in review", "[architecture]") {
  const std::string came = messages_in(ws::test::source_path(""));
  CHECK(std::count(came.begin(), came.end(), '\n') > 1'000);
  CHECK(came == ws::test::golden("data/messages.txt", came));
}
TEST_CASE("messages: none has words that a reader must solve", "[architecture]") {
  const std::string list = messages_in(ws::test::source_path(""));
  for (const char* const riddle : {"gone on with",
                                   "goes on with",
                                   "going on with",
                                   "nobody said",
                                   "nobody is there",
                                   "at hand",
                                   "is no command",
                                   "nothing there",
                                   "may see it otherwise",
                                   "tool is set up"}) {
    CAPTURE(riddle);
    CHECK(list.find(riddle) == std::string::npos);
  }
}
