#include "sync-engine/tree/ignore_rules.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/tree/file_kinds.hpp"
#include "tests/support/random_cases.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ws::sync {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// Processor time: others on the machine do not count.
template <class Work>
double seconds_of(const Work& work) {
  const std::clock_t before = std::clock();
  work();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

TEST_CASE("ignore_rules: a nested file speaks for its own folder only", "[sync-engine]") {
  IgnoreRules rules;
  CHECK(rules.is_ignored("~$open.md"));
  CHECK(rules.is_ignored("old~/a.md"));
  CHECK_FALSE(rules.is_ignored("a.md"));
  rules.add("", "*.draft.md\nbuild/\n!keep.draft.md\n!build/a.md\n# a comment\n\n");
  rules.add("sub [1]", "/top.md\n*.log.md\ninner/x.md\n");
  for (const char* path : {"a.draft.md",
                           "d/e.draft.md",
                           "build/",
                           "build/a.md",
                           "sub [1]/top.md",
                           "sub [1]/d/a.log.md",
                           "sub [1]/inner/x.md",
                           "~$open.md"}) {
    CAPTURE(path);
    CHECK(rules.is_ignored(path));
  }
  for (const char* path : {"keep.draft.md", "top.md", "sub [1]/d/top.md", "a.log.md", "inner/x.md", "sub 1/top.md"}) {
    CAPTURE(path);
    CHECK_FALSE(rules.is_ignored(path));
  }
}

TEST_CASE("ignore_rules: a pattern names a file in whichever Unicode form either is written", "[sync-engine]") {
  const std::string composed = "caf\u00e9";
  const std::string apart = "cafe\u0301";
  for (const auto& [rule, name] : {std::pair(composed, apart), std::pair(apart, composed), std::pair(apart, apart)}) {
    CAPTURE(rule, name);
    IgnoreRules rules;
    rules.add("", rule + ".md\n*-" + rule + "\n\xff not text\n/" + rule + "/x.md\n");
    rules.add(rule + "/sub", "own.md\n");
    CHECK(rules.is_ignored(name + ".md"));
    CHECK(rules.is_ignored("d/" + name + ".md"));
    CHECK(rules.is_ignored("old-" + name));
    CHECK(rules.is_ignored(name + "/x.md"));
    CHECK(rules.is_ignored(name + "/sub/own.md"));
    CHECK_FALSE(rules.is_ignored("cafe.md"));
    CHECK(FileKinds::with({rule + "/*.txt"}).takes(name + "/a.txt"));
    CHECK_FALSE(FileKinds::with({rule + "/*.txt"}).takes("cafe/a.txt"));
  }
}

TEST_CASE("ignore_rules: of the globs of `include:` the last one that matches decides", "[sync-engine]") {
  const FileKinds kinds = FileKinds::with({"docs", "!docs/private.txt", ".github/**"});
  CHECK(kinds.takes("docs/deep/a.txt"));
  CHECK(kinds.takes(".github/workflows/ci.yaml"));
  CHECK(kinds.takes("a.md"));
  CHECK_FALSE(kinds.takes("docs/private.txt"));
  CHECK_FALSE(kinds.takes("a.txt"));
  CHECK_FALSE(kinds.takes("a.txt~"));
}

TEST_CASE("ignore_rules: patterns with any number of stars take no time to speak of", "[sync-engine][bounds]") {
  const std::string path = repeated("a", 250) + "/" + repeated("a/", 190) + repeated("a", 200);
  const auto pattern = GENERATE(as<std::string>{},
                                repeated("a*", 120) + "b",
                                "/" + repeated("a*", 120) + "b",
                                repeated("**/", 300) + "b",
                                repeated("**/a/", 190) + "b",
                                repeated("**/*a*", 190) + "/b",
                                repeated("*/**/", 190) + "b",
                                repeated("?*[a]*", 100) + "b",
                                repeated("*", 100'000) + "b",
                                repeated("*?", 50'000) + "b",
                                repeated("[[:alpha:]-z]*", 7'000) + "b",
                                repeated("[", 100'000),
                                repeated("[[:", 30'000),
                                repeated("[a", 50'000),
                                repeated("\\*", 50'000) + "b");
  CAPTURE(pattern.substr(0, 20), pattern.size());
  const double taken = seconds_of([&] {
    IgnoreRules rules;
    rules.add("", pattern);
    CHECK_FALSE(rules.is_ignored(path));
    CHECK_FALSE(FileKinds::with({pattern}).takes(path));
  });
  CHECK(taken < 5);
}

/// Lines of a few signs, so that most of them say something about the files below.
std::string random_rules(std::mt19937& random) {
  static const std::vector<std::string> signs = {
      "a", "b",   "ab",   ".",    "a",     "*",     "**",      "*/",          "**/", "/**", "?",
      "/", "/",   "[ab]", "[!a]", "[^b.]", "[a-",   "\\",      "\\*",         "\\[", "!",   "#",
      " ", "\\ ", "]",    "[]a]", "[a-b",  "[b-a]", "[\\]-a]", "[[:alpha:]]", "[[:", "\r"};
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  std::string text;
  for (std::size_t lines = 1 + below(3); lines > 0; --lines) {
    std::string line = below(4) == 0 ? "!" : "";
    for (std::size_t left = 1 + below(6); left > 0; --left) line += signs[below(signs.size())];
    // git reads `a**/b` as `a` and then `**/b`, against its manual; here it is `a*/b`, as the manual says.
    const std::size_t stars = line.find("**");
    if (stars != std::string::npos && stars > 0 && line[stars - 1] != '/' && line.substr(0, stars) != "!") continue;
    text += line + "\n";
  }
  return text;
}

TEST_CASE("ignore_rules: ignores what git ignores", "[sync-engine][property]") {
  const std::vector<std::string> folders = {"a", "b", "a/a", "a/b", "ab", "a/b/a", "a b", "b/[a"};
  const std::vector<std::string> names = {"aa", "ba", "bb", "a.b", "*", "]", "a ", ".b"};
  const ws::test::TemporaryFolder home;
  const std::uint64_t seed = ws::test::number_from_environment("WS_SEED", 20'261'122);
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  constexpr int cases = 150;  // of 32 files each
  std::string asked;
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < cases; ++i) {
    const std::string at = std::to_string(i) + "/";
    for (const std::string& folder : folders) {
      std::filesystem::create_directories(home.path() / (at + folder));
      asked += at + folder + '\0';
      std::ofstream(home.path() / (at + folder + "/.a"));
      asked += at + folder + "/.a" + '\0';
    }
    for (const std::string name : {"a", "b", ""}) {
      for (const std::string& file : names) {
        const std::string path = at + name + (name.empty() ? "" : "/") + file;
        std::ofstream(home.path() / path);
        asked += path + '\0';
      }
    }
    texts.emplace_back(random_rules(random), random_rules(random));
    std::ofstream(home.path() / at / ".gitignore", std::ios::binary) << texts.back().first;
    std::ofstream(home.path() / at / "a/.gitignore", std::ios::binary) << texts.back().second;
  }
  REQUIRE(ws::test::run_command({.arguments = {"git", "init", "-q"}, .folder = home.path()}).exit == 0);
  const auto git = ws::test::run_command(
      {.arguments = {"git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin", "-z"},
       .input = asked,
       .folder = home.path()});
  REQUIRE(git.exit == 0);
  const auto split = [](const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\0', begin) + 1)
      parts.emplace_back(text.substr(begin, text.find('\0', begin) - begin));
    return parts;
  };
  const auto ignored_parts = split(git.out);
  const std::set<std::string> ignored(ignored_parts.begin(), ignored_parts.end());
  CHECK(ignored.size() > cases);
  for (const std::string& path : split(asked)) {
    const std::size_t number = std::stoul(path);
    IgnoreRules rules;
    rules.add("", texts[number].first);
    rules.add("a", texts[number].second);
    const bool is_folder = std::filesystem::is_directory(home.path() / path);
    const bool ours = rules.is_ignored(path.substr(path.find('/') + 1) + (is_folder ? "/" : ""));
    if (ours == ignored.contains(path)) continue;
    CAPTURE(seed, path, texts[number].first, texts[number].second, ours);
    FAIL_CHECK("git decides otherwise");
  }
}

}  // namespace
}  // namespace ws::sync
