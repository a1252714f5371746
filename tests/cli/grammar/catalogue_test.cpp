#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/registry.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/grammar/help.hpp"

using namespace ws::cli;

namespace {

std::string words_of(const std::vector<std::string>& arguments) {
  return joined(resolve(all_commands(), arguments).words);
}

}  // namespace

TEST_CASE("catalogue: the words may have flags before and between them", "[cli]") {
  CHECK(words_of({"docs", "list"}) == "docs list");
  CHECK(words_of({"--json", "docs", "--limit", "5", "list"}) == "docs list");
  CHECK(words_of({"-p", "docs", "whoami"}) == "whoami");
  CHECK(words_of({"--profile=docs", "whoami"}) == "whoami");
  // A group that does something by default takes the flags of that.
  CHECK(words_of({"sync", "--only", "status"}) == "sync");
  CHECK(words_of({"sync", "-m", "status", "log"}) == "sync log");
}

TEST_CASE("catalogue: the singular is an exact alias, a prefix is none", "[cli]") {
  CHECK(words_of({"doc", "list"}) == "docs list");
  CHECK(words_of({"docs", "delete", "x"}) == "docs archive");
  CHECK(words_of({"test", "case", "list"}) == "tests cases list");
  CHECK(words_of({"do", "list"}).empty());
  CHECK(words_of({"docs", "li"}) == "docs");
}

TEST_CASE("catalogue: what is left keeps its order", "[cli]") {
  const Resolution found = resolve(all_commands(), {"docs", "--json", "create", "docs", "-f", "a.md"});
  CHECK(found.words == std::vector<std::string>{"docs", "create"});
  CHECK(found.rest == std::vector<std::string>{"--json", "docs", "-f", "a.md"});
}

TEST_CASE("catalogue: every command can be made, has an example, and no two have the same words", "[cli]") {
  std::set<std::string> seen;
  for (const Entry& entry : all_commands()) {
    CAPTURE(entry.words);
    CHECK(seen.emplace(entry.words).second);
    const Command command = entry.make();
    CHECK_FALSE(command.summary.empty());
    REQUIRE_FALSE(command.examples.empty());
    CHECK(command.run);
  }
}

TEST_CASE("catalogue: every operation of the table can be called by its id, with a flag for each parameter", "[cli]") {
  for (const auto* operation : ws::contract::operations()) {
    CAPTURE(operation->id);
    const Command command = call_command(*operation);
    std::set<std::string> flags;
    for (const Flag& flag : command.flags) {
      CAPTURE(flag.spelled());
      CHECK(flags.insert(flag.spelled()).second);
      if (!flag.also.empty()) CHECK(flags.insert("--" + flag.also).second);
    }
    for (const auto& parameter : operation->parameters) {
      if (parameter.in != ws::contract::In::path) continue;
      std::string name = "--" + std::string(parameter.field.name);
      for (char& c : name) c = c == '_' ? '-' : c;
      CHECK(flags.count(name) == 1);
    }
  }
}
