// What a person sees, whole screens of it, beside golden files (`WS_ACCEPT=1` rewrites them; read what changed).
#include <regex>

#include <catch2/catch.hpp>

#include "api-client/base/clock.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;

namespace {

using Words = std::vector<std::string>;

/// Everything was made three hours ago, whenever the test runs: the screens show relative times.
std::string three_hours_ago() {
  return to_rfc3339(SystemClock().now() - std::chrono::hours{3} - std::chrono::minutes{5});
}

struct Lighthouse {
  MockProcess server{{"--fixtures",
                      source_path("/tests/cli/golden/world.yaml"),
                      "--seed",
                      "1",
                      "--clock",
                      "frozen:" + three_hours_ago()}};
  Person ada{server};
  Person grace{server};

  Lighthouse() {
    ada.environment["WS_TOKEN"] = "wsk_screens_ada_every_scope_000000000000000001";
    grace.environment["WS_TOKEN"] = "wsk_screens_grace_reads_documents_000000000001";
    for (Person* person : {&ada, &grace}) {
      person->environment.erase("NO_COLOR");
      person->environment["TERM"] = "xterm-256color";
      person->environment["WS_PAGER"] = "cat";
    }
  }
  std::string document(const std::string& title) const {
    const std::string all = ada.ws({"docs", "list", "--template", "{title}\t{id}"}).out;
    return all.substr(all.find(title + "\t") + title.size() + 1, 36);
  }
  /// The id of the first item.
  std::string first(Words list) const {
    list.insert(list.end(), {"--format", "ids"});
    return ada.ws(list).out.substr(0, 36);
  }
};

/// What differs from run to run is put in capitals; what a terminal obeys is made visible.
std::string told(std::string text, const Lighthouse& world) {
  for (std::size_t at = 0; (at = text.find(world.server.base_url())) != std::string::npos;) {
    text.replace(at, world.server.base_url().size(), "http://SERVER");
  }
  text = std::regex_replace(text, std::regex("request [0-9a-f-]{36}"), "request ID");
  // The first half of an id is the time at which it was made.
  text = std::regex_replace(text, std::regex("[0-9a-f]{8}-[0-9a-f]{4}(-7[0-9a-f]{3}-)"), "019b76da-a800$1");
  return std::regex_replace(text, std::regex("\033"), "␛");
}

/// One screen after the other, as in a terminal's history.
std::string screens(const Lighthouse& world, int columns, const Words& flags) {
  const std::string handover = world.document("Handover");
  const std::string other = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  std::string all;
  const auto show = [&](const Person& person, Words words, const std::string& said) {
    words.insert(words.end(), flags.begin(), flags.end());
    const Screen screen = run_on_terminal(person.command(words), columns);
    all += "$ ws " + said + "\n" + told(screen.text, world) + "[" + std::to_string(screen.exit) + "]\n\n";
  };
  show(world.ada, {"whoami"}, "whoami");
  show(world.ada, {"auth", "status"}, "auth status");
  show(world.ada, {"discover"}, "discover");
  show(world.ada, {"workspaces", "list"}, "workspaces list");
  show(world.ada, {"docs", "list"}, "docs list");
  show(world.ada, {"docs", "list", "--limit", "2"}, "docs list --limit 2");
  show(world.ada, {"docs", "get", handover}, "docs get HANDOVER");
  show(world.ada, {"docs", "get", handover, "--render"}, "docs get HANDOVER --render");
  show(world.ada, {"search", "lamp", "lit"}, "search lamp lit");
  show(world.ada, {"search", "nothing-of-the-kind"}, "search nothing-of-the-kind");
  show(world.ada, {"ask", "When is the lamp lit?"}, "ask 'When is the lamp lit?'");
  show(world.ada, {"comments", "list", handover}, "comments list HANDOVER");
  show(world.ada,
       {"comments", "add", "Handover", "-m", "And on Sundays?"},
       "comments add Handover -m 'And on Sundays?'");
  show(world.ada, {"files", "list"}, "files list");
  show(world.ada, {"files", "get", world.first({"files", "list"})}, "files get FILE");
  show(world.ada, {"agents", "list"}, "agents list");
  show(world.ada, {"agents", "create", "diver", "--name", "Diver"}, "agents create diver --name Diver");
  show(world.ada, {"agents", "pause", "@diver"}, "agents pause @diver");
  show(world.ada, {"agents", "rotate", "diver", "--yes"}, "agents rotate diver --yes");
  show(world.ada, {"questions", "list"}, "questions list");
  show(world.ada, {"questions", "get", world.first({"questions", "list"})}, "questions get QUESTION");
  show(world.ada, {"conversations", "list"}, "conversations list");
  show(world.ada, {"conversations", "get", world.first({"conversations", "list"})}, "conversations get CONVERSATION");
  show(world.ada, {"tests", "runs", "list"}, "tests runs list");
  show(world.ada, {"tests", "catalog"}, "tests catalog");
  show(world.ada, {"tests", "suites", "list"}, "tests suites list");
  show(world.ada, {"tests", "cases", "list"}, "tests cases list");
  show(world.ada, {"tests", "runs", "launch", "--suite", "smoke"}, "tests runs launch --suite smoke");
  show(world.ada, {"tests", "runs", "get", world.first({"tests", "runs", "list"})}, "tests runs get RUN");
  show(world.ada, {"workspaces", "create", "Harbour"}, "workspaces create Harbour");
  show(world.ada, {"projects", "create", "Dredging"}, "projects create Dredging");
  show(world.ada, {"docs", "create", "Tides", "-F", "content=x"}, "docs create Tides");
  show(world.ada, {"docs", "update", "last", "-F", "content=y", "--revision", "1"}, "docs update last --revision 1");
  show(world.ada,
       {"docs", "share", "last", "--with", "@keeper", "--permission", "read"},
       "docs share last --with @keeper");
  show(world.ada, {"docs", "archive", "Tides"}, "docs archive Tides");
  show(world.grace, {"docs", "create", "Not mine to make"}, "docs create 'Not mine to make'    # a key that reads");
  show(world.ada, {"docs", "get", other}, "docs get OTHER");
  show(
      world.ada, {"docs", "get", "When is the lamp lit?"}, "docs get 'When is the lamp lit?'    # two have this title");
  show(world.ada, {"docs", "get", "No such title"}, "docs get 'No such title'");
  show(world.ada, {"docs", "list", "--fields", "id,titel"}, "docs list --fields id,titel");
  show(world.ada, {"docs", "list", "--limit", "500"}, "docs list --limit 500");
  show(world.ada,
       {"docs", "update", handover, "-F", "content=x", "--revision", "7"},
       "docs update HANDOVER --revision 7");
  return all;
}

void check_golden(const std::string& file, const std::string& came) {
  CHECK(came == golden("cli/golden/" + file, came));
}

}  // namespace

TEST_CASE("screens: at 80 columns", "[cli]") {
  const Lighthouse world;
  check_golden("screens_80.txt", screens(world, 80, {"--color", "never"}));
}

TEST_CASE("screens: at 80 columns, in colour", "[cli]") {
  const Lighthouse world;
  check_golden("screens_80_color.txt", screens(world, 80, {"--color", "always"}));
}

TEST_CASE("screens: at 200 columns", "[cli]") {
  const Lighthouse world;
  check_golden("screens_200.txt", screens(world, 200, {"--color", "never"}));
}

TEST_CASE("screens: plain", "[cli]") {
  const Lighthouse world;
  check_golden("screens_plain.txt", screens(world, 80, {"--plain"}));
}
