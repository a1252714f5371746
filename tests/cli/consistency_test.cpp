// What must hold of every command: letters, limits, examples.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/registry.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/grammar/help.hpp"
#include "tests/support/golden.hpp"

using namespace ws;
using namespace ws::cli;

namespace {

std::vector<Command> made_commands() {
  std::vector<Command> commands;
  for (const Entry& entry : all_commands()) commands.push_back(entry.make());
  for (const auto* operation : contract::operations()) commands.push_back(call_command(*operation));
  return commands;
}

Terminal screen(int columns) { return Terminal({.columns = columns}, Environment()); }

std::string entry_help(std::string_view words, int columns) {
  const auto entries = all_commands();
  const auto found = std::ranges::find(entries, words, &Entry::words);
  REQUIRE(found != entries.end());
  return render_help(found->make(), screen(columns));
}

}  // namespace

TEST_CASE("flags: a letter means the same in every command", "[cli]") {
  std::map<char, std::string> meaning;
  for (const Flag& flag : global_flags()) {
    if (flag.letter != 0) meaning[flag.letter] = flag.name;
  }
  for (const Command& command : made_commands()) {
    for (const Flag& flag : command.flags) {
      // `-n N` as in `git log`: a list has nothing to try out.
      const bool is_log = command.words == "sync log" && flag.name == "max-items";
      if (flag.letter == 0 || is_log) continue;
      CAPTURE(command.words, flag.letter, flag.name);
      const auto [known, fresh] = meaning.emplace(flag.letter, flag.name);
      CHECK((fresh || known->second == flag.name));
    }
  }
}

TEST_CASE("flags: none stands twice, none takes a secret's value", "[cli]") {
  for (const Command& command : made_commands()) {
    std::set<std::string> seen;
    for (const Flag& flag : command.flags) {
      CAPTURE(command.words, flag.spelled());
      CHECK(seen.insert(flag.spelled()).second);
      const bool is_secret = flag.name == "lease-token" || flag.name == "device-code" || flag.name == "token";
      CHECK((!is_secret || flag.placeholder.find("@FILE") != std::string::npos));
    }
  }
}

TEST_CASE("commands: each has a summary without a full stop, and an example that names it", "[cli]") {
  for (const Command& command : made_commands()) {
    CAPTURE(command.words);
    CHECK_FALSE(command.summary.empty());
    CHECK(command.summary.back() != '.');
    REQUIRE_FALSE(command.examples.empty());
    const bool names_it = std::ranges::any_of(command.examples, [&](const std::string& example) {
      return example.find("ws " + command.words) != std::string::npos ||
             example.find("ws help " + command.words) != std::string::npos;
    });
    // `ws sync` stands for `ws sync run`, a login for `ws auth login`.
    CHECK((names_it || command.words == "sync run"));
  }
}

TEST_CASE("commands: every operation has its primary command, and it knows its operation", "[cli]") {
  const auto entries = all_commands();
  for (const auto* operation : contract::operations()) {
    if (operation->command.substr(0, 5) == "sync " || operation->command.substr(0, 4) == "call") continue;
    CAPTURE(operation->id, operation->command);
    const std::string_view words = operation->command.substr(0, operation->command.find(" --"));
    CHECK(std::ranges::find(entries, words, &Entry::words) != entries.end());
  }
}

TEST_CASE("help: of a command, at 80 and 200 columns", "[cli]") {
  const int columns = GENERATE(80, 200);
  for (const std::string words : {"docs list", "docs create", "login"}) {
    std::string file = words;
    std::ranges::replace(file, ' ', '_');
    const std::string text = entry_help(words, columns);
    CHECK(text == test::golden("cli/golden/help_" + file + "_" + std::to_string(columns) + ".txt", text));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= static_cast<std::size_t>(columns) + 20);
  }
}
