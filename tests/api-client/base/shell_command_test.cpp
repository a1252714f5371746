#include "api-client/base/shell_command.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using ws::shell_word;
using ws::ShellCommand;

namespace {

/// What an argument may hold that a server, a file name or a setting chose.
const std::vector<std::string> bombs = {"my wall.md",
                                        "it's.md",
                                        "a$(touch pwned)b",
                                        "`touch pwned`",
                                        "*",
                                        "~root",
                                        "a;touch pwned",
                                        "a|b&c>pwned<d",
                                        "\"q\"",
                                        "#c",
                                        "",
                                        "a\\b",
                                        "\\';touch pwned;#",
                                        "a\nb",
                                        "\033[2Jx",
                                        "-rf",
                                        "--yes",
                                        "=ls",
                                        "{a,b}",
                                        "!!",
                                        "\u202Egpj",
                                        "\xFF\xFE",
                                        "a\u200Bb",
                                        "a\tb",
                                        "%self",
                                        "--x=$(touch pwned)"};

/// The arguments that a shell hands to a program named `ws` for this line; the line runs in an empty folder.
std::vector<std::string> arguments_in(const std::string& shell, const std::string& line, bool& made_a_file) {
  const ws::test::TemporaryFolder folder;
  const auto work = folder.path() / "work";
  std::filesystem::create_directories(work);
  const std::string stub =
      shell == "fish" ? "function ws; printf '%s\\0' $argv; end\n" : "ws() { printf '%s\\0' \"$@\"; }\n";
  const auto said = ws::test::run_command({.arguments = {shell, "-c", stub + line}, .folder = work});
  made_a_file = !std::filesystem::is_empty(work);
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < said.out.size();) {
    const std::size_t end = said.out.find('\0', begin);
    arguments.push_back(said.out.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

bool is_there(const std::string& shell) {
  return ws::test::run_command({.arguments = {"sh", "-c", "command -v " + shell}}).exit == 0;
}

}  // namespace

TEST_CASE("shell command: what is plain stays as it is", "[base]") {
  for (const char* const plain : {"a.md", "notes/2026-11-22.md", "\u00FCbung.md", "a+b@c,d.md"}) {
    CHECK(shell_word(plain) == plain);
  }
  CHECK(ShellCommand{"ws", "sync", "init", "--source=", std::string("abc")}.in_backticks() ==
        "`ws sync init --source abc`");
}

TEST_CASE("shell command: whatever a value holds is one argument in bash and zsh, and runs nothing", "[base]") {
  const std::string shell = GENERATE("bash", "zsh");
  if (!is_there(shell)) return;
  for (const std::string& bomb : bombs) {
    CAPTURE(shell, bomb);
    const ShellCommand command{"ws", "docs", "get", bomb, "--profile=", bomb, "--content"};
    bool made_a_file = false;
    const auto arguments = arguments_in(shell, command.text(), made_a_file);
    CHECK(!made_a_file);
    const std::string value = bomb;
    if (bomb.starts_with('-')) {
      CHECK(arguments == std::vector<std::string>{"docs", "get", "--profile=" + value, "--content", "--", value});
    } else {
      CHECK(arguments == std::vector<std::string>{"docs", "get", value, "--profile", value, "--content"});
    }
  }
}

TEST_CASE("shell command: fish and sh get the value or refuse the line, and run nothing", "[base]") {
  const std::string shell = GENERATE("fish", "sh");
  if (!is_there(shell)) return;
  for (const std::string& bomb : bombs) {
    CAPTURE(shell, bomb);
    bool made_a_file = false;
    const auto arguments = arguments_in(shell, ShellCommand{"ws", "x"}.path(bomb).text(), made_a_file);
    CHECK(!made_a_file);
    const std::string shown = shell_word(bomb);
    if (!shown.starts_with("$'")) {
      CHECK(arguments == std::vector<std::string>{"x", bomb.starts_with('-') ? "./" + bomb : bomb});
    }
  }
}

TEST_CASE("shell command: pasted with its backticks and the sentence around, no value runs", "[base]") {
  for (const std::string& bomb : bombs) {
    CAPTURE(bomb);
    bool made_a_file = false;
    arguments_in("bash", "run " + ShellCommand{"true", bomb}.in_backticks() + " and see", made_a_file);
    CHECK(!made_a_file);
  }
}

TEST_CASE("shell command: no word holds what acts on a terminal", "[base]") {
  for (const std::string& bomb : bombs) {
    CAPTURE(bomb);
    for (const unsigned char c : shell_word(bomb)) CHECK((c >= 0x20 && c != 0x7F && c != '`'));
  }
  CHECK(shell_word("\u202E") == "$'\\342\\200\\256'");
}

TEST_CASE("shell command: a path that begins with a hyphen is no flag", "[base]") {
  CHECK(ShellCommand{"rm"}.path("-x.md").text() == "rm ./-x.md");
  CHECK(ShellCommand{"rm"}.path("- y.md").text() == "rm './- y.md'");
}
