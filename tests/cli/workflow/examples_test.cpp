// Every example that help shows is run, as it stands there, in a world where it can work.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/registry.hpp"
#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// Ends with 2 for a line that the parser refuses; these are the world's answers, not the line's: no such thing,
/// something else there, not ready, something pending (`--exit-code`).
bool is_understood(int exit) {
  return exit == 0 || exit == 4 || exit == 5 || exit == 6 || exit == 7 || exit == 8 || exit == 13;
}

/// Those that wait for a person or for events, and the one that goes on with an upload that was begun elsewhere.
bool needs_somebody(const std::string& words) {
  return words == "login" || words == "auth login" || words == "events work" || words == "sync watch" ||
         words == "docs edit" || words == "files finalize";
}

Ended run_example(const Person& person, const std::string& line, const std::filesystem::path& folder) {
  const std::string programs = std::filesystem::path(program("ws")).parent_path().string();
  Command command{.arguments = {"bash", "-c", "PATH=\"" + programs + ":$PATH\"; set -o pipefail; " + line},
                  .environment = person.environment,
                  .folder = folder};
  return run_command(command);
}

}  // namespace

TEST_CASE("examples: every line that help shows is understood", "[cli]") {
  for (const cli::Entry& entry : cli::all_commands()) {
    const cli::Command command = entry.make();
    if (needs_somebody(command.words)) continue;
    const MockProcess server;  // a fresh one: `ws logout` ends its key
    for (const std::string& example : command.examples) {
      Person person(server);
      person.environment["WS_LEASE_TOKEN"] = "a lease token that is long enough";
      const std::filesystem::path folder = person.home() / "tree";
      write_text(folder / "notes.md", "# Notes\n\nText.\n");
      write_text(folder / "chart.png", "bytes");
      write_text(folder / "report.pdf", "bytes");
      write_text(folder / "body.json", R"({"title": "T", "content": "x"})");
      std::filesystem::create_directories(folder / "notes");
      run_example(
          person, "git init -q . && git -c user.name=x -c user.email=x@y.example commit -q --allow-empty -m x", folder);
      std::filesystem::create_directories(person.home() / "notes");
      const bool is_in_tree = command.words.starts_with("sync ") || command.words.starts_with("links ");
      if (is_in_tree && command.words != "sync init") {
        REQUIRE(person.ws({"sync", "init"}, folder).exit == 0);
        if (example.find("~/notes") != std::string::npos) person.ws({"sync", "init"}, person.home() / "notes");
      }
      // `source` is the shell's that the line is for.
      const Ended ended = run_example(person, example.substr(0, example.find(" | source")), folder);
      CAPTURE(example, ended.exit, ended.out, ended.err);
      CHECK(is_understood(ended.exit));
    }
  }
}
