// What `ws` prints to be pasted, with text of a server, a file or a setting in it, pasted into a real bash.
#include <filesystem>
#include <functional>
#include <regex>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

const std::vector<std::string> payloads = {"a$(touch pwned)b",
                                           "`touch pwned`",
                                           "it's; touch pwned; '",
                                           "\\';touch pwned;#",
                                           "a\ntouch pwned\nb",
                                           "\033]0;x\007\033[2J$(touch pwned)",
                                           "-rf",
                                           "--profile=x",
                                           "\u202E\"<>|&*?"};

/// The commands between backticks, as one line each.
std::vector<std::string> commands_in(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find("`ws "); at != std::string::npos; at = text.find("`ws ", at)) {
    const std::size_t end = text.find('`', at + 1);
    REQUIRE(end != std::string::npos);
    found.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return found;
}

/// What a `ws` in PATH is given when bash runs the line; nothing else may come of it.
std::vector<std::string> pasted(const std::string& line) {
  const TemporaryFolder folder;
  write_text(folder / "bin/ws", "#!/bin/sh\nprintf '%s\\0' \"$@\"\n");
  std::filesystem::permissions(folder / "bin/ws", std::filesystem::perms::owner_all);
  std::filesystem::create_directories(folder / "work");
  Command command{.arguments = {"bash", "-c", line}, .folder = folder / "work"};
  command.environment["PATH"] = (folder / "bin").string() + ":" + std::getenv("PATH");
  const Ended ended = run_command(command);
  CHECK(std::filesystem::is_empty(folder / "work"));
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < ended.out.size();) {
    const std::size_t end = ended.out.find('\0', begin);
    words.push_back(ended.out.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool holds_word(const std::vector<std::string>& words, const std::string& value) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word == value || (word.starts_with("--") && word.ends_with("=" + value)) || word == value + ",...";
  });
}

/// At least one command is told, each of them is harmless, and one of them has the value as a word of its own.
void check_pasted(const std::string& text, const std::string& value) {
  CAPTURE(text, value);
  for (const unsigned char c : text) CHECK((c >= 0x20 || c == '\n'));
  const std::vector<std::string> commands = commands_in(text);
  CHECK_FALSE(commands.empty());
  bool found = false;
  for (const std::string& line : commands) found = found || holds_word(pasted(line), value);
  CHECK(found);
}

/// "--keep mine|theirs" leaves a choice to the reader: the first.
std::string without_choice(const std::string& text) {
  return std::regex_replace(text, std::regex("(\\|theirs)(\\|both)?"), "");
}

std::string hint_of(const Ended& ended) {
  const Json error = error_of(ended);
  return error["hint"].is_string() ? error["hint"].get<std::string>() : "";
}

Json asset_of(const std::string& id) {
  return {{"id", id}, {"original_file_name", "a.md"}, {"size_bytes", 1}, {"content_sha256", std::string(64, 'a')}};
}

/// An answer to each call of a service whose ids are `value`.
Script hostile_answer(const Seen& seen, const std::string& value, const std::string& origin) {
  const auto is_at = [&](std::string_view target) { return seen.target.starts_with(target); };
  if (is_at("/v1/files/uploads:finalize")) return answer(201, dump(asset_of(value)));
  if (is_at("/v1/files/uploads")) {
    return answer(201,
                  dump({{"upload_id", nobody},
                        {"blob_name", "b"},
                        {"upload_method", "PUT"},
                        {"upload_url", origin + "/put"},
                        {"upload_headers", Json::object()},
                        {"expires_at", "2099-01-01T00:00:00Z"}}));
  }
  if (is_at("/put")) return answer(200, "");
  if (is_at("/v1/questions")) return answer(201, dump({{"id", value}, {"status", "running"}}));
  if (is_at("/v1/admin/tests/runs")) return answer(202, dump({{"id", value}, {"status", "running"}}));
  if (is_at("/v1/sync/sources")) {
    return answer(201, dump({{"id", value}, {"name", value}, {"workspace_id", nobody}, {"revision", 0}}));
  }
  if (is_at("/v1/workspaces")) {
    return answer(403, dump({{"code", "missing_scope"}, {"detail", "no"}, {"required_scope", value}}));
  }
  return answer(200, dump({{"data", {{{"id", value}, {"title", value}}}}, {"next_cursor", value}}));
}

}  // namespace

TEST_CASE("pasted: ids and scopes of an answer are words of their own in every hint, and run nothing", "[cli]") {
  const std::string value = GENERATE(from_range(payloads));
  std::string origin;
  const HostileServer server([&](const Seen& seen) { return hostile_answer(seen, value, origin); });
  origin = server.origin();
  const At person(origin);
  write_text(person.home() / "a.md", "text");
  const auto ws = [&](std::vector<std::string> arguments) {
    arguments.push_back("--json");
    return person.ws(std::move(arguments), person.home());
  };
  check_pasted(hint_of(ws({"files", "upload", "a.md"})), value);
  check_pasted(hint_of(ws({"tests", "runs", "launch", "--suite", "s", "--wait", "--timeout", "1"})), value);
  check_pasted(hint_of(ws({"workspaces", "list"})), value);
  const std::string join = text_at(parse(ws({"sync", "init", "tree", "--yes"}).out), "join");
  CHECK(holds_word(pasted(join), value));
  const Ended listed = person.ws({"docs", "list", "--format", "tsv", "--color", "never"});
  const std::size_t cursor = listed.err.find("--cursor");
  REQUIRE(cursor != std::string::npos);
  const std::string flag = listed.err.substr(cursor, listed.err.find(" the next page", cursor) - cursor);
  CHECK(holds_word(pasted("ws docs list " + flag), value));
}

TEST_CASE("pasted: ids that the user gave, and an unknown outcome's way to look", "[cli]") {
  const std::string value = GENERATE(from_range(payloads));
  const HostileServer server([](const Seen&) { return answer(500, "{}"); });
  const At person(server.origin());
  const auto ws = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "--no-validate", "--", value});
    return person.ws(std::move(arguments), person.home());
  };
  check_pasted(hint_of(ws({"docs", "update", "--title", "x"})), value);
  check_pasted(hint_of(ws({"comments", "add", "-m", "x"})), value);
}

TEST_CASE("pasted: a profile that a file of the tree names, and a base URL", "[cli]") {
  const std::string value = GENERATE(from_range(payloads));
  Person person;
  person.environment["WS_BASE_URL"] = "https://w.example";
  write_text(person.home() / ".ws.yaml", "profile: " + dump(Json(value)) + "\n");
  check_pasted(hint_of(person.ws({"whoami", "--json"}, person.home())), value);
}

TEST_CASE("pasted: the server that a synced folder names", "[cli]") {
  // What may stand in a URL as it is: a space or a quote is refused before.
  const std::string value = "https://w.example/" + GENERATE(as<std::string>{},
                                                            "a$(touch${IFS}pwned)b",
                                                            "`touch${IFS}pwned`",
                                                            "it's;touch${IFS}pwned;'",
                                                            "x&touch${IFS}pwned&y",
                                                            "a|touch${IFS}pwned");
  Person person;
  const Json source = {{"format", 1},
                       {"source_id", nobody},
                       {"client_id", nobody},
                       {"name", "n"},
                       {"base_url", value},
                       {"origin", "https://w.example"}};
  write_text(person.home() / "tree/.ws/source.json", dump(source));
  const Ended ended = person.ws({"sync", "run", "--json"}, person.home() / "tree");
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 4);
  check_pasted(hint_of(ended), value);

  person.environment["WS_BASE_URL"] = value;
  check_pasted(hint_of(person.ws({"whoami", "--json"}, person.home())), value);
}

TEST_CASE("pasted: folders and files whose names are commands", "[cli]") {
  const std::string value =
      GENERATE(as<std::string>{}, "a$(touch pwned)b", "`touch pwned`", "it's; touch pwned; '", "-rf");
  const MockProcess server;
  Person ada(server);
  Person bob(server);
  const auto here = ada.home() / value;
  const auto there = bob.home() / value;
  write_text(here / (value + ".md"), "one\n");
  std::filesystem::create_directories(there);
  const std::string join = text_at(parse(ada.ws({"sync", "init", "--json"}, here).out), "source_id");
  REQUIRE(ada.ws({"sync", "run"}, here).exit == 0);
  REQUIRE(bob.ws({"sync", "init", "--source", join}, there).exit == 0);
  REQUIRE(bob.ws({"sync", "run"}, there).exit == 0);
  write_text(here / (value + ".md"), "two\n");
  write_text(there / (value + ".md"), "three\n");
  REQUIRE(ada.ws({"sync", "run"}, here).exit == 0);
  const Ended ended = bob.ws({"sync", "run"}, there);
  REQUIRE(ended.exit == 7);
  check_pasted(without_choice(ended.err), value == "-rf" ? "./-rf.md" : value + ".md");
  // From elsewhere the commands carry the folder.
  const Ended outside = bob.ws({"-C", there.string(), "sync", "run"}, bob.home());
  REQUIRE(outside.exit == 7);
  check_pasted(without_choice(outside.err), there.string());
}

TEST_CASE("pasted: only plain ids are completed, and what is told of them acts on nothing", "[cli]") {
  const std::string value = GENERATE(from_range(payloads));
  const HostileServer server([&](const Seen&) {
    return answer(200, dump({{"data", {{{"id", value}}, {{"id", "plain-1.x_Y"}, {"title", value}}}}}));
  });
  const std::string out = At(server.origin()).ws({"__complete", "docs", "get", ""}).out;
  CAPTURE(out);
  CHECK(out.starts_with("plain-1.x_Y"));
  CHECK(std::count(out.begin(), out.end(), '\n') == 1);
  CHECK(out.find('\033') == std::string::npos);
}
