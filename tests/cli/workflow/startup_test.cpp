// What a command loads: nothing that it does not need.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// All that the dynamic loader says it opened.
std::string opened_by(const Person& someone, std::vector<std::string> arguments) {
  Command command = someone.command(std::move(arguments));
  const std::filesystem::path log = someone.home() / "loader";
  std::filesystem::create_directories(log);
  for (const auto& entry : std::filesystem::directory_iterator(log)) std::filesystem::remove(entry.path());
  command.environment["LD_DEBUG"] = "files";
  command.environment["LD_DEBUG_OUTPUT"] = (log / "of").string();
  run_command(command);
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(log)) text += read_text(entry.path());
  return text;
}

bool has(const std::string& text, const std::string& library) { return text.find(library) != std::string::npos; }

}  // namespace

TEST_CASE("start: what needs no server loads neither libcurl nor anything else that is opened when needed", "[cli]") {
  const Person person;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--version"},
                                                                                         {"--help"},
                                                                                         {"completion", "bash"},
                                                                                         {"docs", "lsit"},
                                                                                         {"docs", "list", "--help"},
                                                                                         {"auth", "list"},
                                                                                         {"config", "list"},
                                                                                         {"commands"}}) {
    const std::string opened = opened_by(person, arguments);
    CAPTURE(arguments);
    REQUIRE(has(opened, "libc.so"));
    for (const char* library : {"libcurl", "libgit2", "libjq", "libsecret"}) CHECK_FALSE(has(opened, library));
  }
}

TEST_CASE("start: a call loads libcurl and no more, --jq loads libjq", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string call = opened_by(person, {"docs", "list"});
  CHECK(has(call, "libcurl"));
  for (const char* library : {"libgit2", "libjq", "libsecret"}) CHECK_FALSE(has(call, library));
  CHECK(has(opened_by(person, {"docs", "list", "--jq", ".data"}), "libjq"));
}
