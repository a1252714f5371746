// A command that people paste is put together by `ShellCommand` (api-client/base/shell_command.hpp), which quotes every
// value. This reads the string literals of all sources and fails on a command that is put together in another way.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/architecture/literals.hpp"
#include "tests/support/build_paths.hpp"

namespace {

namespace fs = std::filesystem;
using ws::test::Literal;
using ws::test::literals_of;

/// What is wrong with a literal; empty: nothing. A command within backticks stands in it whole, and without a place
/// that something is filled in. One that ends with a blank waits for a value that somebody adds.
std::string fault_of(const std::string& text) {
  for (const std::string_view begin : {"`ws ", "`{} ", "`--", "`git ", "`chmod ", "`rm ", "`mv "}) {
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
      const std::size_t end = text.find('`', at + 1);
      if (end == std::string::npos) return "a command in backticks goes on outside of the literal";
      if (text.substr(at, end - at).find('{') != std::string::npos) return "a value is filled into a command";
    }
  }
  // "ws docs get ", but not "ws " before words of the table, nor the keyring's name of a key.
  const bool has_words = text.starts_with("ws ") && std::count(text.begin(), text.end(), ' ') > 2;
  const bool waits = (has_words || text.starts_with(" --")) && text.ends_with(' ') && text != "ws key for ";
  return waits ? "a command waits for a value" : "";
}

}  // namespace

TEST_CASE("pasted commands: every one with a value in it is put together by ShellCommand", "[architecture]") {
  const fs::path root = ws::test::source_path("");
  std::vector<std::string> faults;
  std::size_t read = 0;
  for (const char* const folder : {"api-client", "cli", "sync-engine", "server-mock"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().filename() == "shell_command.cpp") continue;
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream stream(entry.path());
      const std::string source(std::istreambuf_iterator<char>(stream), {});
      for (const Literal& literal : literals_of(source)) {
        ++read;
        const std::string fault = fault_of(literal.text);
        const std::string place = fs::relative(entry.path(), root).string() + ":" + std::to_string(literal.line);
        if (!fault.empty()) faults.push_back(place + ": " + fault + ": " + literal.text);
      }
    }
  }
  CHECK(read > 10'000);
  CHECK(faults == std::vector<std::string>{});
}

TEST_CASE("pasted commands: what the reading of the sources takes for a fault, and what not", "[architecture]") {
  const auto faults = [](const std::string& source) {
    std::size_t count = 0;
    for (const Literal& literal : literals_of(source)) count += fault_of(literal.text).empty() ? 0 : 1;
    return count;
  };
  CHECK(faults(R"(f("run `ws login --profile " + name + "`");)") == 1);
  CHECK(faults(R"(f("check with `ws files "
                    "get {}`", id);)") == 1);
  CHECK(faults(R"(f("repeat it with `--idempotency-key {}`", key);)") == 1);
  CHECK(faults(R"(f("ws tests runs get " + id);)") == 1);
  CHECK(faults(R"(f("run `ws login`", 'x', '\'', "the key `{}`"); // "`ws x {}`")") == 0);
}
