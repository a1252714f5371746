// Several things in one command: one shape, rows that fail by themselves, and uploads that are run again.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

struct BatchStage {
  MockProcess server;
  Person person{server};
  TemporaryFolder folder;

  Ended ws(std::vector<std::string> arguments, const std::string& input = {}) const {
    Command command = person.command(std::move(arguments), folder.path());
    command.input = input;
    return run_command(command);
  }
  std::string made(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "ids"});
    return ws(std::move(arguments)).out.substr(0, 36);
  }
  std::string created(const std::string& title) const { return made({"docs", "create", title, "-F", "content=x"}); }
  /// `ws files upload` of all files of the folder `up`, and its flags.
  std::vector<std::string> upload_all(std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"files", "upload"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    for (const auto& [path, text] : texts_of(folder / "up")) arguments.push_back("up/" + path);
    return arguments;
  }
  void make_files(int count) const {
    for (int i = 0; i < count; ++i)
      write_text(folder / ("up/f" + std::to_string(i) + ".txt"), "text " + std::to_string(i));
  }
  /// Every Asset of the world, whatever the page of a list.
  std::size_t assets() const { return parse(control(server, "GET", "/state", ""))["tables"]["assets"].size(); }
};

}  // namespace

TEST_CASE("batches: --stdin has one shape, whatever the count", "[cli]") {
  const BatchStage stage;
  const std::string a = stage.created("A");
  const std::string b = stage.created("B");
  write_text(stage.folder / "f.txt", "f");
  write_text(stage.folder / "g.txt", "g");
  const Json up = parse(stage.ws({"files", "upload", "--stdin", "--json"}, "f.txt\ng.txt\n").out);
  // What each command of the table takes ids of; a new one wants its lines here.
  const std::map<std::string, std::vector<std::string>> things = {
      {"agent",
       {stage.made({"agents", "create", "one", "--name", "One", "--permissions", "read"}),
        stage.made({"agents", "create", "two", "--name", "Two", "--permissions", "read"})}},
      {"file", {text_at(up, "data.0.result.id"), text_at(up, "data.1.result.id")}},
      {"document", {a, b}},
      {"path", {"f.txt", "g.txt"}},
      {"nobody", {nobody, "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c"}}};
  struct Row {
    std::string words;
    std::string of;
    std::vector<std::string> more = {};
    int exit = 0;  ///< of every count
  };
  const std::vector<Row> commands = {
      {"docs get", "document"},
      {"docs get", "document", {"--content"}, 2},
      {"comments list", "document"},
      {"files get", "file"},
      {"files download", "file", {"-o", "down/"}},
      {"files download", "file", {"-o", "missing"}, 2},
      {"files download", "file", {"-o", "-"}, 2},
      {"files upload", "path"},
      {"files upload", "path", {"--file-name", "x.txt"}, 2},
      {"files upload", "path", {"--start-only"}, 2},
      {"files operation", "nobody"},
      {"questions get", "nobody"},
      {"conversations get", "nobody"},
      {"tests cases get", "nobody"},
      {"tests suites get", "nobody"},
      {"tests runs get", "nobody"},
      {"agents pause", "agent"},
      {"agents resume", "agent"},
      {"agents revoke", "agent", {"--yes"}},
      {"docs archive", "document", {"--yes"}},
  };
  for (const Row& row : commands) {
    // What is not there is asked for by the function that asks for documents.
    const std::size_t least = row.of == "nobody" ? 1 : 0;
    for (std::size_t count = least; count <= (least == 0 ? 2 : 1); ++count) {
      CAPTURE(row.words, row.more, count);
      std::istringstream words(row.words);
      std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
      arguments.insert(arguments.end(), row.more.begin(), row.more.end());
      arguments.insert(arguments.end(), {"--stdin", "--json", "--force"});
      if (row.words != "files download") arguments.pop_back();
      std::string input;
      for (std::size_t i = 0; i < count; ++i) input += things.at(row.of)[i] + "\n";
      const Ended ended = stage.ws(arguments, input);
      INFO(ended.err);
      const bool is_there = row.of != "nobody";
      REQUIRE(ended.exit == (is_there ? row.exit : 13));
      if (row.exit != 0) continue;
      const Json whole = parse(ended.out);
      REQUIRE(whole["data"].is_array());
      CHECK(whole["data"].size() == count);
      for (const Json& one : whole["data"]) {
        CHECK(one["ok"] == is_there);
        CHECK(one.contains(is_there ? "result" : "error"));
      }
    }
  }
  CHECK(text_at(parse(stage.ws({"docs", "get", a, "--json"}).out), "id") == a);
  // The table names every command that takes them.
  std::set<std::string> tried;
  for (const Row& row : commands) tried.insert(row.words);
  for (const Json& command : parse(stage.ws({"__reference"}).out)["commands"]) {
    for (const Json& flag : command["flags"]) {
      CAPTURE(command["command"]);
      if (flag["name"] == "--stdin") CHECK(tried.contains(text_at(command, "command")));
    }
  }
}

TEST_CASE("batches: a line takes the names that an argument takes", "[cli]") {
  const BatchStage stage;
  const std::string agent = stage.made({"agents", "create", "one", "--name", "One", "--permissions", "read"});
  const std::string document = stage.created("A long title");
  const Ended paused = stage.ws({"agents", "pause", "--stdin", "--format", "ids"}, "one\n@one\nnone\n");
  CHECK(paused.exit == 13);
  CHECK(paused.out == agent + "\n");
  CHECK(paused.err.find("line 3 of stdin: no agent has the id or handle `none`") != std::string::npos);
  CHECK(stage.ws({"docs", "get", "--stdin", "--format", "ids"}, "A long title\nlast\n").out == document + "\n");
}

TEST_CASE("batches: failures are JSON where JSON is named, however the rest is shaped", "[cli]") {
  const BatchStage stage;
  const std::string a = stage.created("A");
  const std::vector<std::vector<std::string>> wanted = {{nobody}, {a, nobody}};
  for (const std::vector<std::string>& ids : wanted) {
    const auto err = [&](std::vector<std::string> flags) {
      std::vector<std::string> words = {"docs", "get"};
      words.insert(words.end(), ids.begin(), ids.end());
      words.insert(words.end(), flags.begin(), flags.end());
      return stage.ws(words).err;
    };
    CAPTURE(ids);
    for (const std::vector<std::string>& shape :
         {std::vector<std::string>{"--jq", ".id"}, {"--template", "{id}"}, {"--fields", "id"}}) {
      CAPTURE(shape);
      CHECK(err(shape).find("{\"error\"") == std::string::npos);
      std::vector<std::string> json = shape;
      json.emplace_back("--json");
      CHECK(parse(err(json))["error"]["code"] == "not_found");
    }
  }
  Command named = stage.person.command({"docs", "get", nobody, "--json"}, stage.folder.path());
  named.environment["WS_FORMAT"] = "nothing";
  CHECK(parse(run_command(named).err)["error"]["code"] == "not_found");
}

TEST_CASE("batches: what would be sent is one document, and no file", "[cli]") {
  const BatchStage stage;
  const std::string a = stage.created("A");
  write_text(stage.folder / "out", "mine");
  const Ended shown = stage.ws({"docs", "archive", a, nobody, "-n", "--json", "-o", "out", "--force"});
  const Json both = parse(shown.out);
  REQUIRE(both["data"].size() == 2);
  CHECK(both["data"][1]["id"] == nobody);
  CHECK(both["data"][1]["result"]["method"] == "DELETE");
  CHECK(read_text(stage.folder / "out") == "mine");
}

TEST_CASE("batches: an id that comes twice is asked for once", "[cli]") {
  const BatchStage stage;
  const std::string id = stage.created("A");
  control(stage.server, "DELETE", "/requests", "");
  const Ended ended = stage.ws({"docs", "get", "--stdin", "--json"}, id + "\n" + id + "\r\n\n" + id);
  CHECK(parse(ended.out)["data"].size() == 1);
  std::size_t sent = 0;
  const Json journal = parse(control(stage.server, "GET", "/requests", ""));
  for (const Json& entry : journal["data"]) sent += entry["operation"] == "docs.get" ? 1 : 0;
  CHECK(sent == 1);
}

TEST_CASE("batches: a line that cannot be sent is a row that failed, and the others are sent", "[cli]") {
  const BatchStage stage;
  const std::string a = stage.created("A");
  const std::string b = stage.created("B");
  const Ended ended = stage.ws({"docs", "get", "--stdin", "--json"}, a + "\nnonsense\n" + b + "\n");
  CHECK(ended.exit == 13);
  const Json rows = parse(ended.out)["data"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["ok"] == true);
  CHECK(rows[1]["ok"] == false);
  CHECK(rows[1]["error"]["exit"] == 6);
  CHECK_THAT(text_at(rows[1], "error.message"), Contains("line 2"));
  CHECK(rows[2]["ok"] == true);
  CHECK(stage.ws({"docs", "get", "--stdin", "-n"}, a + "\nnonsense\n").exit == 13);
  const Ended words = stage.ws({"docs", "archive", a, "nonsense", "--yes", "--json"});
  CHECK(words.exit == 13);
  CHECK(parse(words.out)["data"][0]["ok"] == true);
  CHECK(parse(words.out)["data"][1]["error"]["exit"] == 6);
  CHECK(stage.ws({"docs", "get", "--stdin", "-o", "got"}, a + "\nnonsense\n" + b + "\n").exit == 13);
  CHECK(texts_of(stage.folder / "got").contains("B.md"));
}

TEST_CASE("batches: rows that a signal stopped end as the command does, and one that was not sent names no other",
          "[cli]") {
  const BatchStage stage;
  std::string input;
  for (const char* const title : {"A", "B", "C"}) input += stage.created(title) + "\n";
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "docs.archive", "nth": 2, "phase": "after", "effect": {"hang": true}})");
  Command command = stage.person.command({"docs", "archive", "--stdin", "--yes", "--json"}, stage.folder.path());
  command.input = input;
  Running running(command);
  while (parse(control(stage.server, "GET", "/faults", ""))["data"][0]["fired"] == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  running.signal(SIGTERM);
  const Ended stopped = running.wait();
  CHECK(stopped.exit == 143);
  const Json rows = parse(stopped.out)["data"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["ok"] == true);
  CHECK(rows[1]["error"]["exit"] == 143);
  CHECK(rows[1]["error"]["applied"] == "unknown");
  CHECK(rows[2]["error"]["exit"] == 143);
  CHECK(rows[2]["error"]["hint"].is_null());
}

TEST_CASE("batches: an empty, missing or unusable file is a row that failed, and the others are uploaded", "[cli]") {
  const BatchStage stage;
  write_text(stage.folder / "good", "x");
  write_text(stage.folder / "empty", "");
  std::filesystem::create_directory(stage.folder / "folder");
  const std::string input = std::string("good\nempty\nmissing\nfolder\nbad\xff name\nnul\0byte\ngood2\n", 51);
  write_text(stage.folder / "good2", "y");
  write_text(stage.folder / "bad\xff name", "z");
  const Ended ended = stage.ws({"files", "upload", "--stdin", "--json"}, input);
  CHECK(ended.exit == 13);
  const Json rows = parse(ended.out)["data"];
  REQUIRE(rows.size() == 7);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i, rows[i].dump());
    const bool is_good = i == 0 || i == 6;
    CHECK(rows[i]["ok"] == is_good);
    if (!is_good) CHECK_THAT(text_at(rows[i], "error.message"), Contains("line " + std::to_string(i + 1)));
  }
  CHECK(stage.assets() == 2);
  CHECK(stage.ws({"files", "upload", "empty"}).exit == 2);
}

TEST_CASE("batches: with NDJSON a row is there as soon as its file is uploaded", "[cli]") {
  const BatchStage stage;
  stage.make_files(3);
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "files.upload_finish", "nth": 3, "effect": {"delay_ms": 60000}})");
  Running running(stage.person.command(stage.upload_all({"--format", "ndjson", "--jobs", "1"}), stage.folder.path()));
  CHECK(running.wait_for("up/f1.txt"));
  running.signal(SIGKILL);
}

TEST_CASE("files upload: stopped and run again, each file is one Asset, and what is done is told", "[cli]") {
  const BatchStage stage;
  stage.make_files(40);
  control(stage.server,
          "POST",
          "/faults",
          R"({"operation": "files.upload_finish", "nth": 22, "effect": {"delay_ms": 60000}})");
  Running running(stage.person.command(stage.upload_all({"--json", "--jobs", "1"}), stage.folder.path()));
  while (parse(control(stage.server, "GET", "/faults", ""))["data"][0]["fired"] == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  const int signal = GENERATE(SIGTERM, SIGINT, SIGKILL);
  running.signal(signal);
  const Ended stopped = running.wait();
  control(stage.server, "DELETE", "/faults", "");
  CHECK(stopped.exit == 128 + signal);
  if (signal != SIGKILL) {
    std::size_t done = 0;
    const Json rows = parse(stopped.out)["data"];
    for (const Json& row : rows) done += row["ok"] == true ? 1 : 0;
    CHECK(rows.size() == 40);
    CHECK(done == 21);
    CHECK(error_of(stopped)["applied"] != "no");
  }
  const Ended again = stage.ws(stage.upload_all({"--json"}));
  REQUIRE(again.exit == 0);
  CHECK(stage.assets() == 40);
  std::set<std::string> ids;
  const Json rows = parse(again.out)["data"];
  for (const Json& row : rows) ids.insert(text_at(row, "result.id"));
  CHECK(ids.size() == 40);
}

TEST_CASE("files upload: repeated until it ends with 0 where some finalizes fail, each file is one Asset", "[cli]") {
  const BatchStage stage;
  stage.make_files(40);
  const std::string status = GENERATE("500", "422");
  for (const int nth : {3, 17, 31, 42}) {
    control(stage.server,
            "POST",
            "/faults",
            R"({"operation": "files.upload_finish", "nth": )" + std::to_string(nth) + R"(, "effect": {"status": )" +
                status + "}}");
  }
  int exit = -1;
  for (int round = 0; round < 6 && exit != 0; ++round) exit = stage.ws(stage.upload_all()).exit;
  CHECK(exit == 0);
  CHECK(stage.assets() == 40);
}

TEST_CASE("files upload: what was uploaded is printed again, other bytes, another name or --again make another",
          "[cli]") {
  const BatchStage stage;
  write_text(stage.folder / "a.txt", "one");
  const auto id_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"files", "upload"});
    arguments.push_back("--json");
    return text_at(parse(stage.ws(std::move(arguments)).out), "id");
  };
  const std::string first = id_of({"a.txt"});
  std::filesystem::last_write_time(stage.folder / "a.txt", std::filesystem::file_time_type::clock::now());
  CHECK(id_of({"a.txt"}) == first);
  CHECK(stage.assets() == 1);
  const std::string other_name = id_of({"a.txt", "--file-name", "b.txt"});
  const std::string more = id_of({"a.txt", "--again"});
  write_text(stage.folder / "a.txt", "two");
  const std::string other_bytes = id_of({"a.txt"});
  CHECK(std::set{first, other_name, more, other_bytes}.size() == 4);
  CHECK(stage.assets() == 4);
  // Another key of the same person knows of it.
  Person other(stage.server);
  other.environment["XDG_STATE_HOME"] = (stage.person.home() / "STATE").string();
  const Json key = parse(control(stage.server, "POST", "/keys", "{}"));
  other.environment["WS_TOKEN"] = text_at(key, "secret");
  CHECK(text_at(parse(other.ws({"files", "upload", "a.txt", "--json"}, stage.folder.path()).out), "id") == other_bytes);
  CHECK(stage.assets() == 4);
}

TEST_CASE("files upload: an Asset that the service no longer has is made again", "[cli]") {
  const BatchStage stage;
  write_text(stage.folder / "a.txt", "one");
  REQUIRE(stage.ws({"files", "upload", "a.txt"}).exit == 0);
  control(stage.server, "POST", "/faults", R"({"operation": "files.get", "effect": {"status": 404}})");
  CHECK(stage.ws({"files", "upload", "a.txt"}).exit == 0);
  CHECK(stage.assets() == 2);
}
