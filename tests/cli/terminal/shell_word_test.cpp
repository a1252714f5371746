#include "cli/terminal/shell_word.hpp"

#include <catch2/catch.hpp>

#include "tests/support/run_command.hpp"

using ws::cli::shell_path;
using ws::cli::shell_word;

TEST_CASE("shell word: what is plain stays as it is", "[cli]") {
  for (const char* const plain : {"a.md", "notes/2026-11-22.md", "übung.md", "a+b@c,d.md"}) {
    CHECK(shell_word(plain) == plain);
  }
}

TEST_CASE("shell word: whatever a name holds, a shell takes it for one word and runs nothing", "[cli]") {
  const std::string name = GENERATE("my wall.md",
                                    "it's.md",
                                    "a$(touch pwned).md",
                                    "`id`.md",
                                    "*.md",
                                    "~root.md",
                                    "a;b&c|d>e.md",
                                    "\"q\".md",
                                    "#c.md",
                                    "",
                                    "a\\b.md");
  const ws::test::Ended said = ws::test::run_command({.arguments = {"sh", "-c", "printf %s " + shell_word(name)}});
  CHECK(said.exit == 0);
  CHECK(said.out == name);
}

TEST_CASE("shell word: a path that begins with a hyphen is no flag, one with control characters acts on nothing",
          "[cli]") {
  CHECK(shell_path("-x.md") == "./-x.md");
  CHECK(shell_path("- y.md") == "'./- y.md'");
  CHECK(shell_path("a\033[2Jb\n.md") == "'ab .md'");
}
