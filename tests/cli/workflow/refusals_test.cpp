// What `ws` refuses, what it tells when an answer cannot be used or printed, and what never reaches a terminal.
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/on_terminal.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// A server that says the same to everybody, and somebody who asks it.
struct Dialogue {
  explicit Dialogue(Script script) : server([script = std::move(script)](const Seen&) { return script; }) {}

  Ended ws(std::vector<std::string> arguments) const { return somebody.ws(std::move(arguments), folder.path()); }
  Json error(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    return error_of(ws(std::move(arguments)));
  }
  HostileServer server;
  At somebody{server.origin()};
  TemporaryFolder folder;
};

/// ESC, C1, DEL and a mark that turns the line round; the second as JSON has it without escapes.
constexpr const char* hostile_list = R"({"data": [{"id": "a\u001b[31mb", "title": "x\u001b]0;y\u0007 z\u202E)"
                                     "\xc2\x9b"
                                     "31m\x7f"
                                     "\xe2\x80\xae"
                                     R"("}], "next_cursor": null})";

bool could_act(const std::string& text) {
  for (const char* const bad : {"\033", "\007", "\x7f", "\xc2\x9b", "\xe2\x80\xae"}) {
    if (text.find(bad) != std::string::npos) return true;
  }
  return false;
}

constexpr const char* some_comment = R"({"id": "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b", "object": "comment_thread"})";
const std::vector<std::string> add_comment = {"comments", "add", nobody, "-m", "x"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("terminal: what could act there does not get through, in any format", "[cli]") {
  const Dialogue talk(answer(200, hostile_list));
  const std::string format = GENERATE("table", "tsv", "csv", "ids", "yaml", "json", "ndjson");
  CAPTURE(format);
  const std::vector<std::string> words = {"docs", "list", "--format", format, "--no-pager", "--color", "never"};
  const Screen screen = run_on_terminal(talk.somebody.command(words), 80);
  CHECK(screen.exit == 0);
  CHECK_FALSE(could_act(screen.text));
  CHECK(screen.text.find('b') != std::string::npos);
  if (format == "json") {
    CHECK(parse(screen.text) == parse(hostile_list));
    CHECK(could_act(talk.ws({"docs", "list", "--json"}).out));  // a script gets what came
  }
  const Screen refused = run_on_terminal(
      Dialogue(answer(403, hostile_list)).somebody.command({"docs", "list", "--json", "--color", "never"}), 80);
  CHECK_FALSE(could_act(refused.text));
}

TEST_CASE("output: a folder that is not there is told before anything is sent", "[cli]") {
  const Dialogue talk(answer(201, some_comment));
  CHECK(talk.ws(with(add_comment, {"-o", "nowhere/x"})).exit == 14);
  CHECK(talk.server.requests().empty());
}

TEST_CASE("output: where the deed is done and only its answer is lost, it says so", "[cli]") {
  const Dialogue talk(answer(201, some_comment));
  const Json full = error_of(run_command(
      {.arguments = {"bash", "-c", "\"$0\" comments add \"$1\" -m x --json > /dev/full", program("ws"), nobody},
       .environment = talk.somebody.environment}));
  CHECK(full["exit"] == 14);
  CHECK(full["applied"] == "yes");
  const Ended by_jq = talk.ws(with(add_comment, {"--jq", "error(\"boom\")"}));
  CHECK(by_jq.exit == 14);
  CHECK(by_jq.err.find("the change was made") != std::string::npos);
}

TEST_CASE("output: what a jq program fails with is not told where the answer holds a secret", "[cli]") {
  const std::string key = "wsk_" + std::string(43, 'k');
  const std::string program = GENERATE("error", ".secret | tonumber", ".lease_token | @base64 | error", "halt_error");
  CAPTURE(program);
  const Dialogue talk(answer(200, dump({{"id", nobody}, {"secret", key}, {"lease_token", "token-of-a-lease"}})));
  for (const char* const format : {"table", "json"}) {
    const Ended ended = talk.ws({"agents", "rotate", nobody, "-y", "--jq", program, "--format", format});
    CAPTURE(ended.err);
    CHECK(ended.exit == 14);
    CHECK(ended.err.find("holds a secret") != std::string::npos);
    CHECK(ended.err.find("wsk_kkk") == std::string::npos);
    CHECK(ended.err.find("token-of-a") == std::string::npos);
    CHECK(ended.err.find("dG9rZW4") == std::string::npos);
  }
}

TEST_CASE("output: devices and pipes are written into, not replaced", "[cli]") {
  const Dialogue talk(answer(200, R"({"data": [], "next_cursor": null})"));
  const std::string pipe = (talk.folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string script = "cat \"$1\" & \"$0\" docs list --json -o \"$1\" --force; wait";
  const Ended ended =
      run_command({.arguments = {"bash", "-c", script, program("ws"), pipe}, .environment = talk.somebody.environment});
  CHECK(parse(ended.out)["data"].empty());
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(talk.ws({"docs", "list", "-o", "/dev/null"}).exit == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("output: a closed stdout is an error, and no file takes its place", "[cli]") {
  const Dialogue talk(answer(200, R"({"data": [], "next_cursor": null})"));
  const Ended ended = run_command({.arguments = {"bash", "-c", "\"$0\" docs list --json >&-", program("ws")},
                                   .environment = talk.somebody.environment});
  CHECK(ended.exit == 14);
}

TEST_CASE("answers: a yes without what it is about is an unknown outcome, with the command that looks", "[cli]") {
  const Dialogue talk(answer(200, "{}"));
  const Json asked = talk.error({"ask", "why"});
  CHECK(asked["exit"] == 12);
  CHECK(asked["applied"] == "unknown");
  CHECK(text_at(asked, "idempotency_key").size() == 36);
  CHECK(text_at(asked, "hint").find("ws questions list") != std::string::npos);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"agents", "rotate", nobody, "-y"},
                                                std::vector<std::string>{"agents", "create", "h", "--name", "n"}}) {
    const Ended ended = talk.ws(with(words, {"--json"}));
    CHECK(ended.exit == 12);
    CHECK(ended.out.empty());
    const Json error = error_of(ended);
    CHECK(error["applied"] == "unknown");
    // It may be all that there is of the new secret: it lies in a file that the message names.
    INFO(ended.err);
    CHECK(ended.err.find("answer") != std::string::npos);
  }
}

TEST_CASE("signals: a write that was cut off by one says that nobody knows", "[cli]") {
  const HostileServer server([](const Seen&) { return Script{Hold{}}; });
  Command command = At(server.origin()).command(with(add_comment, {"--debug"}));
  command.signal_after_output = SIGINT;
  const Ended ended = run_command(command);
  CHECK(ended.exit == 130);
  CHECK(ended.err.find("not known whether the change was made") != std::string::npos);
  CHECK(ended.err.find("ws comments list") != std::string::npos);
}

TEST_CASE("bodies: what is no object is refused, and nothing is sent", "[cli]") {
  const Dialogue talk(answer(200, "{}"));
  const std::string body = GENERATE("[1]", "\"x\"", "5", "true", "[]");
  CAPTURE(body);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"docs", "create", "T"},
                                                std::vector<std::string>{"search", "q"},
                                                std::vector<std::string>{"ask", "x"},
                                                std::vector<std::string>{"agents", "create", "h", "--name", "n"},
                                                std::vector<std::string>{"projects", "create", "n"},
                                                std::vector<std::string>{"call", "docs.create"}}) {
    CHECK(talk.error(with(words, {"--body", body}))["exit"] == 2);
  }
  CHECK(talk.server.requests().empty());
}

TEST_CASE("bodies: an overlay below a value, and a secret in the open, are refused", "[cli]") {
  const Dialogue talk(answer(200, "{}"));
  CHECK(talk.ws({"docs", "create", "T", "-F", "a=1", "-F", "a.b=2"}).exit == 2);
  CHECK(talk.ws({"docs", "create", "T", "-J", "a=[1]", "-F", "a.b=2"}).exit == 2);
  CHECK(talk.ws({"call", "auth.token", "--body", R"({"device_code": "0123456789abcdef0123456789abcdef"})"}).exit == 2);
  CHECK(talk.server.requests().empty());
}

TEST_CASE("members: one that is missing is empty after a change that no schema describes, and an error of a read",
          "[cli]") {
  const Dialogue talk(answer(200, R"({"id": "1"})"));
  const Ended made = talk.ws({"api", "POST", "/v1/things", "-F", "a=1", "--fields", "id,none"});
  INFO(made.err);
  CHECK(made.exit == 0);
  CHECK(made.out == "id\t1\nnone\t\n");
  CHECK(talk.ws({"api", "POST", "/v1/things", "-F", "a=1", "--template", "{id} {none}."}).out == "1 .\n");
  CHECK(talk.ws({"api", "GET", "/v1/things", "--fields", "id,none"}).exit == 2);
}

TEST_CASE("keys: an idempotency key over the published limit is refused", "[cli]") {
  const Dialogue talk(answer(200, "{}"));
  const std::string key(129, 'k');
  CHECK(talk.ws({"docs", "create", "T", "--idempotency-key", key}).exit == 2);
  CHECK(talk.server.requests().empty());
  talk.ws({"docs", "create", "T", "--idempotency-key", key, "--no-validate"});
  CHECK(talk.server.requests().size() == 1);
}

TEST_CASE("keys: a blank idempotency key, which no server reads as one, is refused", "[cli]") {
  const Dialogue talk(answer(200, "{}"));
  for (const std::string key : {"", " ", "  "}) {
    CHECK(talk.ws({"docs", "create", "T", "--idempotency-key", key}).exit == 2);
    CHECK(talk.ws({"docs", "create", "T", "--idempotency-key", key, "--no-validate"}).exit == 2);
    CHECK(talk.ws({"call", "docs.create", "-F", "title=T", "--idempotency-key", key}).exit == 2);
    CHECK(talk.ws({"api", "POST", "/v1/documents", "-F", "title=T", "-H", "Idempotency-Key:" + key}).exit == 2);
  }
  CHECK(talk.server.requests().empty());
}

TEST_CASE("settings: the environment's key stands above what a tree names", "[cli]") {
  const MockProcess server;
  Person person(server);
  const TemporaryFolder tree;
  write_text(tree / ".ws.yaml", std::string("workspace: ") + nobody + "\n");
  const Ended listed = person.ws({"docs", "list"}, tree.path());
  CHECK(listed.exit == 0);
  CHECK(listed.err.find(std::string("the Workspace ") + nobody + ", which .ws.yaml names, is not used") !=
        std::string::npos);
  CHECK(person.ws({"docs", "list", "-W", nobody}, tree.path()).exit == 4);
  // Whose key it is was asked then.
  REQUIRE(person.ws({"docs", "create", "T", "--idempotency-key", "stable"}).exit == 0);
  write_text(tree / ".ws.yaml", "workspace: " + text_at(parse(person.ws({"whoami", "--json"}).out)["workspace"], "id"));
  CHECK(person.ws({"docs", "list"}, tree.path()).err.empty());
  person.environment.erase("WS_TOKEN");
  person.environment["WS_TOKEN_FILE"] = "/nowhere/at/all";
  CHECK(person.ws({"docs", "list"}).exit == 14);
}

TEST_CASE("settings: a value that cannot be used is told with its place, and the commands that mend it work", "[cli]") {
  const MockProcess server;
  Person person(server);
  const std::filesystem::path file = std::filesystem::path(person.environment.at("XDG_CONFIG_HOME")) / "ws/config.yaml";
  std::filesystem::create_directories(file.parent_path());
  write_text(file, "defaults:\n  format: xml\n  max_wait: -3\n");
  const Ended of_file = person.ws({"docs", "list"});
  CHECK(of_file.exit == 2);
  CHECK(of_file.err.find("config.yaml: defaults.format: `xml` is not a format") != std::string::npos);
  CHECK(person.ws({"docs", "list", "--json"}).err.find("config.yaml: defaults.max_wait takes a time") !=
        std::string::npos);
  person.environment["WS_FORMAT"] = "html";
  person.environment["WS_MAX_WAIT"] = "abc";
  CHECK(person.ws({"docs", "list"}).err.find("WS_FORMAT: `html`") != std::string::npos);
  CHECK(person.ws({"docs", "list", "--json"}).err.find("WS_MAX_WAIT takes a time") != std::string::npos);
  CHECK(person.ws({"config", "list", "--format", "pdf"}).exit == 2);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"config", "explain", "format"},
                                             {"config", "list"},
                                             {"config", "get", "base_url"},
                                             {"config", "set", "format", "json"},
                                             {"help", "exit-codes"},
                                             {"completion", "bash"},
                                             {"version"}}) {
    CAPTURE(words);
    CHECK(person.ws(words).exit == 0);
  }
  CHECK(read_text(file).find("format: json") != std::string::npos);
}

TEST_CASE("settings: a file that cannot be read is a local fault, and no help needs it", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const bool is_own = GENERATE(true, false);
  const std::filesystem::path config = person.environment.at("XDG_CONFIG_HOME");
  std::filesystem::create_directories(is_own ? config / "ws/config.yaml" : person.home() / ".ws.yaml");
  CHECK(person.ws({"docs", "list"}, person.home()).exit == 14);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"help", "exit-codes"}, {"help", "docs", "get"}, {"help", ""}, {"version"}, {"completion", "bash"}}) {
    CAPTURE(words);
    CHECK(person.ws(words, person.home()).exit != 14);
  }
}

TEST_CASE("errors: one line of JSON, whatever there was to note", "[cli]") {
  const Dialogue talk(answer(422, R"({"detail": "no"})"));
  write_text(talk.folder / ".ws.yaml", "base_url: https://elsewhere.example\n");
  const Ended ended = talk.ws({"search", "", "--json"});
  CHECK(ended.exit == 3);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK(talk.ws({"search", ""}).err.find("note:") != std::string::npos);
}

TEST_CASE("answers: an encoding that ws cannot decode is named", "[cli]") {
  struct Row {
    const char* encoding;
    std::string body;
  };
  const auto row = GENERATE(Row{"br", "\x0b\x02\x80 no brotli"},
                            Row{"br", "{\"user\": {}}"},
                            Row{"zstd", "\x28\xb5\x2f\xfd\x04 no zstd"},
                            Row{"x-own", "{\"user\": {}}"},
                            Row{"gzip", "{\"user\": {}}"},
                            Row{"gzip, x-own", "bytes"});
  const Dialogue talk(answer(200, row.body, {{"Content-Encoding", row.encoding}}));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"whoami"}, {"files", "download", nobody, "-o", "x"}}) {
    const Ended ended = talk.ws(words);
    CAPTURE(row.encoding, words, ended.err);
    CHECK(ended.exit != 0);
    CHECK(ended.err.find("`" + std::string(row.encoding) + "`") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(talk.folder / "x"));
}

TEST_CASE("words: an empty one is refused before anything is sent", "[cli]") {
  const Dialogue talk(answer(200, R"({"data": [], "next_cursor": null})"));
  const std::vector<std::vector<std::string>> lines = {{"docs", "export", ""},
                                                       {"docs", "list", "-o", ""},
                                                       {"docs", "create", "A", "-f", ""},
                                                       {"-C", "", "docs", "list"},
                                                       {"links", "check", ""},
                                                       {"links", "mv", "a.md", ""},
                                                       {"sync", "init", ""},
                                                       {"merge", "", "a", "b"},
                                                       {"files", "upload", ""},
                                                       {"agents", "rotate", nobody, "-y", "--secret-out", ""},
                                                       {"docs", "share", nobody, "--with", "", "--permission", "read"},
                                                       {"docs", "get", ""}};
  for (const std::vector<std::string>& words : lines) {
    CAPTURE(words);
    CHECK(talk.ws(words).exit == 2);
  }
  CHECK(talk.server.requests().empty());
}

TEST_CASE("busy: a time that no one waits for is not told to the second", "[cli]") {
  const Dialogue talk(answer(503, "{}", {{"Retry-After", "Fri, 31 Dec 2099 23:59:59 GMT"}}));
  CHECK(talk.ws({"docs", "list"}).err.find("try again in a year or more, as the service asks") != std::string::npos);
  const Dialogue days(answer(503, "{}", {{"Retry-After", "250000"}}));
  CHECK(days.ws({"docs", "list"}).err.find("try again in 3 days, as the service asks") != std::string::npos);
}
