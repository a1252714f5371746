// Every text of every answer carries what could act on a terminal; none of it gets there, whichever view shows it.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// A title, clear screen, C1's introducer, a mark that turns the line round, DEL, BEL: none is one of our own.
constexpr const char* poison =
    "\x1b]0;X\x07\x1b[2J\xc2\x9b"
    "31m\xe2\x80\xae\x7f\x1b(0\r\x1b[38;5;9m";

enum class Poisoned { all, all_but_names };

/// What commands go on with: without these most views are never reached.
bool is_name(const std::string& key) {
  return key == "id" || key.ends_with("_id") || key.ends_with("_url") || key.ends_with("_sha256") || key == "status" ||
         key == "object" || key.ends_with("cursor") || key.ends_with("revision") || key == "device_code" ||
         key == "lease_token";
}

void poison_texts(Json& value, Poisoned how, bool is_kept = false) {
  if (value.is_string()) {
    if (!is_kept) value = value.get<std::string>() + poison;
  } else if (value.is_array()) {
    for (Json& item : value) poison_texts(item, how, is_kept);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.items()) poison_texts(member, how, how != Poisoned::all && is_name(key));
  }
}

/// The mock, all of whose answers are poisoned on the way.
class PoisoningRelay {
 public:
  explicit PoisoningRelay(const MockProcess& mock, Poisoned how)
      : server_([&mock, how](const Seen& seen) { return relayed(mock, how, seen); }) {}
  std::string origin() const { return server_.origin(); }

 private:
  static Script relayed(const MockProcess& mock, Poisoned how, const Seen& seen) {
    RawRequest request{.method = seen.method, .target = seen.target, .json = seen.body};
    for (const char* const name : {"Authorization", "Idempotency-Key", "If-Match", "If-None-Match"}) {
      if (const auto text = seen.header(name)) request.headers.push_back(std::string(name) + ": " + *text);
    }
    const RawAnswer came = mock.ask(request);
    auto body = parse_bounded(came.body);
    if (!body) return answer(came.status, came.body, {{"Content-Type", came.header("content-type")}});
    poison_texts(*body, how);
    if (body->is_object()) body->erase("content_sha256");  // by it a document whose text was changed is refused
    return answer(came.status, dump(*body), {{"X-Request-Id", came.header("x-request-id")}});
  }

  HostileServer server_;
};

/// Any control character but newline and tab, or a mark that reorders text; with `sequences`, those of ours stay.
std::string raw_in(std::string text, const std::vector<std::string>& sequences = {}) {
  for (const std::string& sequence : sequences) {
    for (std::size_t at = text.find(sequence); at != std::string::npos; at = text.find(sequence, at)) {
      text.erase(at, sequence.size());
    }
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_c1 = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const bool is_turned = text.compare(i, 3, "\xe2\x80\xae") == 0;
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || is_c1 || is_turned) {
      return text.substr(i > 60 ? i - 60 : 0, 120);
    }
  }
  return {};
}

std::string id_of(const Person& person, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "ids"});
  const Ended made = person.ws(std::move(arguments));
  CAPTURE(made.out, made.err);
  REQUIRE(made.exit == 0);
  return made.out.substr(0, made.out.find('\n'));
}

/// One of each thing, and the commands that show it.
std::vector<std::vector<std::string>> commands_in(const Person& person, const std::string& folder) {
  const std::string document = id_of(person, {"docs", "create", "Tides", "-F", "content=# Tides\n\n| a | b |\n"});
  const std::string thread = id_of(person, {"comments", "add", document, "-m", "Is it so?"});
  person.ws({"comments", "reply", document, thread, "-m", "It is."});
  write_text(person.home() / "a.md", "# One\n");
  const std::string asset = id_of(person, {"files", "upload", (person.home() / "a.md").string()});
  const std::string question = id_of(person, {"ask", "What is it?"});
  const std::string conversation =
      text_at(parse(person.ws({"questions", "get", question, "--json"}).out), "conversation_id");
  const std::string agent = id_of(person, {"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  const std::string run = id_of(person, {"tests", "runs", "launch", "--suite", "smoke"});
  const std::string test_case =
      text_at(parse(person.ws({"tests", "cases", "list", "--json"}).out)["data"][0], "case_id");
  return {{"whoami"},
          {"discover"},
          {"doctor"},
          {"auth", "status"},
          {"auth", "list"},
          {"workspaces", "list"},
          {"workspaces", "create", "W"},
          {"projects", "create", "P"},
          {"nodes", "move", document, "--to", "root"},
          {"docs", "list"},
          {"docs", "list", "--all"},
          {"docs", "list", "--fields", "title,updated_at"},
          {"docs", "list", "--template", "{title} {updated_at}"},
          {"docs", "list", "--jq", ".data[].title"},
          {"docs", "list", "--format", "yaml"},
          {"docs", "list", "--json"},
          {"docs", "list", "--json", "-o", "/dev/stdout"},
          {"docs", "list", "-o", "/dev/stdout"},
          {"docs", "get", document},
          {"docs", "get", document, document},
          {"docs", "get", document, "--content"},
          {"docs", "get", document, "--render"},
          {"docs", "get", "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"},
          {"docs", "create", "T"},
          {"docs", "update", document, "-F", "content=x", "--revision", "1"},
          {"docs", "update", document, "-F", "content=x", "--revision", "99"},
          {"docs", "share", document, "--with", "@mira", "--permission", "read"},
          {"comments", "list", document},
          {"comments", "add", document, "-m", "x"},
          {"comments", "reply", document, thread, "-m", "x"},
          {"comments", "resolve", document, thread},
          {"questions", "list"},
          {"questions", "get", question},
          {"ask", "Why?"},
          {"conversations", "list"},
          {"conversations", "get", conversation},
          {"search", "tides"},
          {"files", "list"},
          {"files", "get", asset},
          {"files", "download", asset, "-o", "-"},
          {"files", "organize", asset, "-m", "Pages", "--wait"},
          {"agents", "list"},
          {"agents", "pause", agent},
          {"agents", "create", "other", "--name", "O", "--permissions", "read"},
          {"events", "claim"},
          {"tests", "catalog"},
          {"tests", "cases", "list"},
          {"tests", "cases", "get", test_case},
          {"tests", "suites", "list"},
          {"tests", "suites", "get", "smoke"},
          {"tests", "runs", "list"},
          {"tests", "runs", "get", run},
          {"api", "GET", "/v1/documents", "--include"},
          {"call", "docs.list"},
          {"login", "--no-wait"},
          {"login", "--qr", "--no-browser", "--store", "file", "--timeout", "3"},
          {"skill", "show"},
          {"docs", "export", folder + "/out"},
          {"sync", "init", folder + "/tree"},
          {"sync", "plan", folder + "/tree"},
          {"sync", "run", folder + "/tree"},
          {"sync", "status", folder + "/tree"},
          {"sync", "log", "-C", folder + "/tree"},
          {"sync", "conflicts", "-C", folder + "/tree"},
          {"sync", "account", "-C", folder + "/tree"},
          {"docs", "archive", document, agent}};
}

}  // namespace

TEST_CASE("terminal: no text of any answer acts there, whichever command shows it", "[cli]") {
  const MockProcess mock({"--device", "auto", "--device-interval", "1"});
  const Poisoned how = GENERATE(Poisoned::all, Poisoned::all_but_names);
  const PoisoningRelay relay(mock, how);
  Person person(mock);
  const TemporaryFolder folder;
  write_text(folder / "tree/n.md", "# N\n");
  const auto commands = commands_in(person, folder.path().string());
  person.environment["WS_BASE_URL"] = relay.origin();
  std::size_t shown = 0;
  for (std::vector<std::string> words : commands) {
    words.insert(words.begin(), {"--no-pager", "--progress", "none", "--max-wait", "1", "--no-retry"});
    Command command = person.command(words);
    command.input = "n\n";
    command.timeout = std::chrono::seconds{30};
    const Screen screen = run_on_terminal(command, 100);
    CAPTURE(words, screen.exit, screen.text);
    CHECK(raw_in(screen.text) == "");
    shown += screen.exit == 0 ? 1U : 0U;
  }
  CHECK(shown > commands.size() / (how == Poisoned::all ? 3 : 2));
}

TEST_CASE("terminal: in colour, and in errors, --debug and a pager, only sequences of ours are written", "[cli]") {
  const MockProcess mock;
  const PoisoningRelay relay(mock, Poisoned::all_but_names);
  Person person(mock);
  const std::string document = id_of(person, {"docs", "create", "Tides", "-F", "content=# Tides\n\n*x* `y`\n"});
  person.ws({"comments", "add", document, "-m", "Is it so?"});
  person.environment["WS_BASE_URL"] = relay.origin();
  person.environment.erase("NO_COLOR");
  person.environment["TERM"] = "xterm-256color";
  const std::string page = (person.home() / "page").string();
  person.environment["WS_PAGER"] = "cat >" + page;
  const std::vector<std::string> ours = {
      "\033[1m", "\033[2m", "\033[3m", "\033[4m", "\033[31m", "\033[36m", "\033[1;33m", "\033[0m", "\r\033[K"};
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"docs", "list", "--debug"},
                                             {"docs", "get", document},
                                             {"comments", "list", document},
                                             {"search", "tides"},
                                             {"docs", "get", "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b", "--debug"}}) {
    write_text(page, "");  // what is longer than the screen goes there
    const Screen screen = run_on_terminal(person.command(words), 100, 50);
    const std::string shown = screen.text + read_text(page);
    CAPTURE(words, shown);
    CHECK(raw_in(shown, ours) == "");
    CHECK(shown.find('\033') != std::string::npos);
  }
  run_on_terminal(person.command({"docs", "get", document}), 100, 2);
  CHECK(raw_in(read_text(page), ours) == "");
  CHECK(read_text(page).find("\033[1m") != std::string::npos);
}

TEST_CASE("log: what an answer puts into a message is cleaned in a file too", "[cli]") {
  const MockProcess mock;
  const PoisoningRelay relay(mock, Poisoned::all);
  Person person(mock);
  person.environment["WS_BASE_URL"] = relay.origin();
  const Ended ended = person.ws({"docs", "get", "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b", "--debug"});
  CHECK(ended.exit == 6);
  CHECK(raw_in(ended.err) == "");
}
