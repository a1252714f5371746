// What a person sees: tables, pages, colour, the pager, questions.
#include "tests/support/on_terminal.hpp"

#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/widest_line.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct WithColor : Person {
  explicit WithColor(const MockProcess& server) : Person(server) {
    environment.erase("NO_COLOR");
    environment["TERM"] = "xterm-256color";
  }
};

}  // namespace

TEST_CASE("terminal: a list is a table that fits, also with wide characters", "[cli]") {
  const MockProcess server;
  Person person(server);
  person.ws({"docs", "create", "とても長い日本語の題名とても長い日本語の題名とても長い日本語の題名", "--json"});
  const int columns = GENERATE(80, 200);
  const Screen screen = run_on_terminal(person.command({"docs", "list", "--no-pager"}), columns);
  CHECK(screen.exit == 0);
  CHECK(screen.text.substr(0, 5) == "TITLE");
  CHECK(screen.text.find("…") == (columns == 80 ? screen.text.find("…") : std::string::npos));
  CHECK(widest_line(screen.text) <= static_cast<std::size_t>(columns));
}

TEST_CASE("terminal: colour is there for a person, and gone when it is not wanted", "[cli]") {
  const MockProcess server;
  WithColor person(server);
  const auto colored = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"docs", "list", "--no-pager"});
    return run_on_terminal(person.command(more), 80).text.find('\033') != std::string::npos;
  };
  CHECK(colored({}));
  CHECK_FALSE(colored({"--color", "never"}));
  CHECK_FALSE(colored({"--plain"}));
  person.environment["NO_COLOR"] = "1";
  CHECK_FALSE(colored({}));
  CHECK(colored({"--color", "always"}));
  person.environment.erase("NO_COLOR");
  person.environment["TERM"] = "dumb";
  CHECK_FALSE(colored({}));
}

TEST_CASE("terminal: long output goes through the pager, unless it is not wanted", "[cli]") {
  const MockProcess server;
  Person person(server);
  const auto paged = [&](std::vector<std::string> arguments, int rows) {
    std::filesystem::remove(person.home() / "paged");
    person.environment["WS_PAGER"] = "cat > " + (person.home() / "paged").string();
    run_on_terminal(person.command(std::move(arguments)), 80, rows);
    return std::filesystem::exists(person.home() / "paged");
  };
  CHECK(paged({"docs", "list"}, 5));
  CHECK_FALSE(paged({"docs", "list"}, 50));
  CHECK_FALSE(paged({"docs", "list", "--no-pager"}, 5));
  CHECK_FALSE(paged({"docs", "list", "--plain"}, 5));
  CHECK_FALSE(paged({"docs", "list", "-o", (person.home() / "listed").string()}, 5));
}

TEST_CASE("terminal: a search marks what was asked for, as cards or as a table", "[cli]") {
  const MockProcess server;
  const WithColor person(server);
  const int columns = GENERATE(80, 200);
  const Screen screen = run_on_terminal(person.command({"search", "anchor", "--no-pager"}), columns);
  CHECK(screen.exit == 0);
  CHECK(screen.text.find("\033[1;33manchor\033[0m") != std::string::npos);
  CHECK((screen.text.find("SNIPPET") != std::string::npos) == (columns == 200));
}

TEST_CASE("terminal: without an answer a login keeps no key in plain text", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person;
  Command login = person.command({"login", "--base-url", server.base_url()});
  login.input = "n\n";
  const Screen refused = run_on_terminal(login, 80);
  CHECK(refused.exit == 2);
  CHECK(refused.text.find("[y/N]") != std::string::npos);
  login.input = "y\n";
  const Screen done = run_on_terminal(login, 80);
  CHECK(done.exit == 0);
  CHECK(done.text.find("Logged in at " + server.base_url()) != std::string::npos);
  CHECK(person.ws({"auth", "list", "--format", "ids"}).exit == 0);
}

TEST_CASE("terminal: a missing scope is named, with the command that gets it", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--store", "file", "--for", "read"}).exit == 0);
  const Screen screen = run_on_terminal(person.command({"docs", "create", "T"}), 200);
  CHECK(screen.exit == 5);
  CHECK(screen.text.find("documents:write") != std::string::npos);
  CHECK(screen.text.find("ws login") != std::string::npos);
  CHECK(std::count(screen.text.begin(), screen.text.end(), '\n') <= 3);
}

TEST_CASE("terminal: before several documents are archived the question names them", "[cli]") {
  const MockProcess server;
  const Person person(server);
  std::vector<std::string> ids;
  for (const char* const title : {"One", "Two", "Three", "Four"}) {
    ids.push_back(person.ws({"docs", "create", title, "--format", "ids"}).out.substr(0, 36));
  }
  Command archive = person.command({"docs", "archive", ids[0], ids[1], ids[2], ids[3]});
  archive.input = "n\n";
  const Screen asked = run_on_terminal(archive, 300);
  CHECK(asked.exit == 2);
  CHECK(asked.text.find("Archive 4 documents: " + ids[0] + ", " + ids[1] + ", " + ids[2] + " and 1 more? [y/N] ") !=
        std::string::npos);
  CHECK(person.ws({"docs", "get", ids[0], "--fields", "status"}).out.find("active") != std::string::npos);
}

TEST_CASE("terminal: the list of synced folders names each with its state", "[cli]") {
  const MockProcess server;
  const Person person(server);
  for (const std::string name : {"kept", "removed"}) {
    std::filesystem::create_directory(person.home() / name);
    REQUIRE(person.ws({"sync", "init"}, person.home() / name).exit == 0);
  }
  std::filesystem::remove_all(person.home() / "removed");
  const int columns = GENERATE(80, 200);
  const Screen screen = run_on_terminal(person.command({"sync", "roots"}), columns);
  CHECK(screen.exit == 0);
  CHECK(screen.text.substr(0, 6) == "FOLDER");
  CHECK(widest_line(screen.text) <= static_cast<std::size_t>(columns));
  CHECK(screen.text.find("synced   kept ") != std::string::npos);
  CHECK(screen.text.find("missing  removed ") != std::string::npos);
}

TEST_CASE("terminal: what a document holds does not reach it as an escape sequence", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string body = R"({"title": "\u001b[31mT", "content": "# \u001b[2J\n\n`\u001b]0;x\u0007`\n"})";
  const std::string id = person.ws({"docs", "create", "--body", body, "--format", "ids"}).out.substr(0, 36);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"docs", "get", id}, {"docs", "get", id, "--content"}, {"docs", "get", id, "--render"}, {"docs", "list"}}) {
    const Screen screen = run_on_terminal(person.command(arguments), 80);
    CHECK(screen.exit == 0);
    CHECK(screen.text.find('\033') == std::string::npos);
  }
}

TEST_CASE("terminal: an upload tells how far it is, in the words of whoever reads it, and takes the line away",
          "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto slowly = [&](const std::vector<std::string>& more) {
    control(server, "POST", "/faults", R"({"operation": "upload.put", "nth": 1, "effect": {"delay_ms": 700}})");
    std::vector<std::string> words = {"files", "upload", "a.bin", "--again"};
    words.insert(words.end(), more.begin(), more.end());
    return person.command(words, person.home());
  };
  write_text(person.home() / "a.bin", std::string(3U << 20U, 'x'));
  const Screen screen = run_on_terminal(slowly({}), 80);
  CHECK(screen.exit == 0);
  const std::size_t line = screen.text.find("\033[K[####################] uploading 3.0 of 3.0 MiB, 100 %, a.bin");
  REQUIRE(line != std::string::npos);
  CHECK(screen.text.find("\033[K", line + 1) != std::string::npos);
  CHECK(run_command(slowly({})).err.empty());
  const Ended told = run_command(slowly({"--progress", "json"}));
  const Json first = parse(told.err.substr(0, told.err.find('\n')));
  CHECK(first["v"] == 1);
  CHECK(first["progress"] ==
        Json{{"stage", "uploading"}, {"done", 3U << 20U}, {"total", 3U << 20U}, {"unit", "bytes"}});
}

TEST_CASE("terminal: progress tells the server's words without its escape sequences", "[cli]") {
  const HostileServer server([](const Seen&) {
    return answer(200, R"({"id": ")" + std::string(nobody) + R"(", "status": "bu\u001b[31msy\"", "artifacts": []})");
  });
  const At person(server.origin());
  std::vector<std::string> words = {"questions", "get", nobody, "--wait", "--timeout", "1", "--progress", "plain"};
  const Screen screen = run_on_terminal(person.command(words), 80);
  CHECK(screen.exit == 8);
  CHECK(screen.text.find("sy\" 0 s\n") != std::string::npos);
  CHECK(screen.text.find('\033') == std::string::npos);
  words.back() = "json";
  const std::string told = person.ws(words).err;
  const std::size_t begin = told.find('{');  // after the note that nobody knows that status
  REQUIRE(begin != std::string::npos);
  CHECK(text_at(parse(told.substr(begin, told.find('\n', begin) - begin)), "progress.stage") == "bu\033[31msy\"");
}
