// What a shell completes: as `ws` is asked for it, and in the shells themselves.
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/build_paths.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// Runs words in which `ws` is found in PATH.
std::string in_shell(const Person& person, std::vector<std::string> arguments) {
  Command command{.arguments = std::move(arguments), .environment = person.environment, .folder = person.home()};
  const std::string programs = std::filesystem::path(program("ws")).parent_path().string();
  command.environment["PATH"] = programs + ":" + std::getenv("PATH");
  const Ended ended = run_command(command);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  return ended.out;
}

/// The line after a tab.
std::string completed(const Person& person, const std::string& shell, const std::string& line) {
  return in_shell(person, {"zsh", "-f", source_path("/tests/support/complete_in_shell.zsh"), shell, line});
}

}  // namespace

TEST_CASE("completion: words, flags, choices, files and live ids", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto complete = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    return person.ws(words).out;
  };
  CHECK(complete({"do"}).find("docs\n") != std::string::npos);
  CHECK(complete({"docs", "ar"}) == "archive\tArchive documents\n");
  CHECK(complete({"docs", "list", "--format", "n"}) == "ndjson\n");
  CHECK(complete({"docs", "list", "--ma"}).find("--max-items\t") != std::string::npos);
  CHECK(complete({"docs", "create", "-f", ""}) == ":files\n");
  CHECK(complete({"schema", "me."}).substr(0, 7) == "me.get\t");
  const std::string ids = complete({"docs", "get", ""});
  const std::string listed = person.ws({"docs", "list", "--all", "--format", "ids"}).out;
  CHECK(std::count(ids.begin(), ids.end(), '\n') == std::count(listed.begin(), listed.end(), '\n'));
  CHECK(ids.find("\tIdeas for the winter\n") != std::string::npos);
}

TEST_CASE("completion: without a server there are no ids, and no word of it", "[cli]") {
  const Ended ended = Person().ws({"__complete", "docs", "get", ""});
  CHECK(ended.exit == 0);
  CHECK(ended.out.empty());
  CHECK(ended.err.empty());
}

TEST_CASE("completion: a value behind `=`, and the last of several behind commas", "[cli]") {
  const Person person;
  const auto complete = [&](const std::string& word) { return person.ws({"__complete", "login", word}).out; };
  CHECK(person.ws({"__complete", "docs", "list", "--format=n"}).out == "--format=ndjson\n");
  CHECK(complete("--for=wo") == "--for=worker\n");
  CHECK(complete("--scopes=search:read,documents:w") == "--scopes=search:read,documents:write\n");
  CHECK(complete("--nothing=x").empty());
}

TEST_CASE("completion: the scripts complete words, flags, values and live ids in a real bash and zsh", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string shell = GENERATE("bash", "zsh");
  CAPTURE(shell);
  const auto tab = [&](const std::string& line) { return completed(person, shell, line); };
  CHECK(tab("ws docs ar") == "ws docs archive ");
  CHECK(tab("ws docs list --max-i") == "ws docs list --max-items ");
  CHECK(tab("ws docs list --format n") == "ws docs list --format ndjson ");
  CHECK(tab("ws docs list --format=n") == "ws docs list --format=ndjson ");
  CHECK(tab("ws login --scopes documents:w") == "ws login --scopes documents:write ");
  const std::string id = person.ws({"docs", "list", "--limit", "1", "--format", "ids"}).out.substr(0, 36);
  CHECK(tab("ws docs get " + id.substr(0, 35)) == "ws docs get " + id + " ");
  write_text(person.home() / "only-note.md", "x");
  CHECK(tab("ws docs create -f only") == "ws docs create -f only-note.md ");
}

TEST_CASE("completion: the script completes words, flags, values and live ids in a real fish", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto candidates = [&](const std::string& line) {
    return in_shell(person, {"fish", "-N", "-c", "ws completion fish | source; complete -C '" + line + "'"});
  };
  CHECK(candidates("ws docs ar") == "archive\tArchive documents\n");
  CHECK(candidates("ws docs list --max-i").substr(0, 12) == "--max-items\t");
  CHECK(candidates("ws docs list --format n") == "ndjson\n");
  CHECK(candidates("ws docs list --format=n") == "--format=ndjson\n");
  CHECK(candidates("ws login --scopes documents:w") == "documents:write\n");
  const std::string listed = person.ws({"docs", "list", "--all", "--format", "ids"}).out;
  const std::string ids = candidates("ws docs get ");
  CHECK(std::count(ids.begin(), ids.end(), '\n') == std::count(listed.begin(), listed.end(), '\n'));
  CHECK(ids.find(listed.substr(0, 36) + "\t") != std::string::npos);
  write_text(person.home() / "only-note.md", "x");
  CHECK(candidates("ws docs create -f only").find("only-note.md") == 0);
}

TEST_CASE("completion: there is none for other shells", "[cli]") {
  CHECK(Person().ws({"completion", "tcsh"}).exit == 2);
}
