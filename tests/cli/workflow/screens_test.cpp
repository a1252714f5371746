// What a person sees, whole screens of it, beside golden files (`WS_ACCEPT=1` rewrites them; read what changed).
#include <regex>

#include <catch2/catch.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;

namespace {

using Words = std::vector<std::string>;

struct Lighthouse {
  MockProcess server{{"--fixtures",
                      WS_SOURCE_DIR "/tests/cli/golden/world.yaml",
                      "--seed",
                      "1",
                      "--clock",
                      "frozen:2026-11-20T10:00:00Z"}};
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
};

/// What differs from run to run is put in capitals; what a terminal obeys is made visible.
std::string told(std::string text, const Lighthouse& world) {
  for (std::size_t at = 0; (at = text.find(world.server.base_url())) != std::string::npos;) {
    text.replace(at, world.server.base_url().size(), "http://SERVER");
  }
  text = std::regex_replace(text, std::regex("request [0-9a-f-]{36}"), "request ID");
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
  show(world.ada, {"workspaces", "list"}, "workspaces list");
  show(world.ada, {"docs", "list"}, "docs list");
  show(world.ada, {"docs", "list", "--limit", "2"}, "docs list --limit 2");
  show(world.ada, {"docs", "get", handover}, "docs get HANDOVER");
  show(world.ada, {"docs", "get", handover, "--render"}, "docs get HANDOVER --render");
  show(world.ada, {"search", "lamp", "lit"}, "search lamp lit");
  show(world.ada, {"search", "nothing-of-the-kind"}, "search nothing-of-the-kind");
  show(world.ada, {"ask", "When is the lamp lit?"}, "ask 'When is the lamp lit?'");
  show(world.ada, {"comments", "list", handover}, "comments list HANDOVER");
  show(world.ada, {"files", "list"}, "files list");
  show(world.ada, {"agents", "list"}, "agents list");
  show(world.ada, {"questions", "list"}, "questions list");
  show(world.ada, {"conversations", "list"}, "conversations list");
  show(world.ada, {"tests", "runs", "list"}, "tests runs list");
  show(world.grace, {"docs", "create", "Not mine to make"}, "docs create 'Not mine to make'    # a key that reads");
  show(world.ada, {"docs", "get", other}, "docs get OTHER");
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
