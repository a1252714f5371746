// Every example that help shows is run, as it stands there, in a world where it can work.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/registry.hpp"
#include "cli/grammar/topics.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/build_paths.hpp"

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

/// The arguments of each `ws` in a line of a script or a document, up to the end of that command.
std::vector<std::vector<std::string>> ws_commands_in(const std::string& line) {
  static const std::regex begin(R"((^|[\s`"']|[$<]\()ws\s)");
  std::vector<std::vector<std::string>> commands;
  for (std::sregex_iterator found(line.begin(), line.end(), begin), end; found != end; ++found) {
    std::istringstream rest(line.substr(static_cast<std::size_t>(found->position() + found->length())));
    std::vector<std::string>& words = commands.emplace_back();
    for (std::string word; rest >> word && word != "|" && word != "&&" && word != "||" && word != ";";) {
      words.push_back(word);
      if (word.ends_with(';') || word.ends_with(')') || word.ends_with(")\"")) break;
    }
  }
  return commands;
}

/// Why a line passes what a script did not write itself where `ws` looks for flags; empty: it does not.
std::string careless_data(const std::string& line) {
  for (const std::vector<std::string>& words : ws_commands_in(line)) {
    const auto dashes = std::ranges::find(words, "--");
    const bool is_xargs = line.find("xargs") < line.find("ws ");
    if (is_xargs && dashes == words.end()) return "xargs without --";
    for (auto word = words.begin(); word != dashes; ++word) {
      const bool is_expanded = word->starts_with('$') || word->starts_with("\"$");
      const bool is_redirected = word != words.begin() && std::prev(word)->find_first_of("<>") != std::string::npos;
      if (is_expanded && !is_redirected) return *word + " before --";
    }
  }
  return {};
}

/// What people copy: help, the documents, the recipes.
std::vector<std::pair<std::string, std::string>> copied_lines() {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& where, const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.emplace_back(where, line);
  };
  for (const cli::Entry& entry : cli::all_commands()) {
    const cli::Command command = entry.make();
    for (const std::string& example : command.examples) add("ws help " + command.words, example);
    add("ws help " + command.words, std::string(command.details));
  }
  for (const cli::Topic& topic : cli::help_topics()) add("ws help " + std::string(topic.name), std::string(topic.text));
  add("README.md", read_text(source_path("/README.md")));
  for (const char* const folder : {"/docs", "/recipes", "/packaging"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(source_path(folder))) {
      if (file.is_regular_file()) add(file.path().string(), read_text(file.path()));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("examples: data that a script did not write comes after --, where it is no flag", "[cli]") {
  CHECK(careless_data("xargs -n 1 ws ask --json <questions.txt") == "xargs without --");
  CHECK(careless_data("xargs -n 1 ws ask --json -- <questions.txt").empty());
  CHECK(careless_data("id=$(ws docs get \"$id\" --json)") == "\"$id\" before --");
  CHECK(careless_data("ws docs update -f x --revision=\"$n\" -- \"$id\"").empty());
  CHECK(careless_data("$ ws docs create T -f - < $file").empty());
  std::size_t commands = 0;
  for (const auto& [where, line] : copied_lines()) {
    CAPTURE(where, line);
    CHECK(careless_data(line) == "");
    commands += ws_commands_in(line).size();
  }
  CHECK(commands > 200);
}

TEST_CASE("examples: every line that help shows is understood", "[cli]") {
  const TemporaryFolder repository;
  REQUIRE(run_example({},
                      "git init -q --template= . && git -c user.name=x -c user.email=x@y.example commit -q "
                      "--allow-empty -m x",
                      repository.path())
              .exit == 0);
  std::optional<MockProcess> server;
  std::string noun;
  for (const cli::Entry& entry : cli::all_commands()) {
    const cli::Command command = entry.make();
    if (needs_somebody(command.words)) continue;
    const std::string first = command.words.substr(0, command.words.find(' '));
    // A fresh one for each noun, and where a command ends its key.
    if (!server || first != noun || first == "logout" || first == "auth") server.emplace();
    noun = first;
    for (const std::string& example : command.examples) {
      Person person(*server);
      person.environment["WS_LEASE_TOKEN"] = "a lease token that is long enough";
      const std::filesystem::path folder = person.home() / "tree";
      write_text(folder / "notes.md", "# Notes\n\nText.\n");
      for (const char* const side : {"base.md", "ours.md", "theirs.md"}) write_text(folder / side, "# Notes\n");
      write_text(folder / "chart.png", "bytes");
      write_text(folder / "report.pdf", "bytes");
      write_text(folder / "body.json", R"({"title": "T", "content": "x"})");
      std::filesystem::create_directories(folder / "notes");
      std::filesystem::copy(repository.path(), folder, std::filesystem::copy_options::recursive);
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
