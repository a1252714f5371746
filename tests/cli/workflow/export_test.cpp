// `ws docs export`: what may remove a file, whose folder it is, and names that lead nowhere else.
#include <csignal>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/relay.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

/// Somebody whose exports go through a relay that can make lists shorter, and answer for single documents.
struct ExportStage : MeddledServer {
  ExportStage() { person.environment["WS_BASE_URL"] = relay.origin(); }

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  std::string created(const std::string& title) const {
    return ws({"docs", "create", title, "-F", "content=text of " + title, "--format", "ids"}).out.substr(0, 36);
  }
  std::size_t files(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& [path, text] : texts_of(folder / name)) count += path.ends_with(".md") ? 1 : 0;
    return count;
  }
  /// The state of each row, by the document's id.
  std::map<std::string, std::string> states(const Ended& ended) const {
    std::map<std::string, std::string> states;
    const Json answer = parse(ended.out);
    for (const Json& row : answer["data"]) states[text_at(row, "id")] = text_at(row, "state");
    return states;
  }

  Person person{server};
  TemporaryFolder folder;
};

bool is_list(const Seen& seen) { return seen.method == "GET" && seen.target.starts_with("/v1/documents?"); }

}  // namespace

TEST_CASE("docs export --delete: an empty list is confirmed first, and removes nothing that is not archived", "[cli]") {
  ExportStage stage;
  REQUIRE(stage.ws({"docs", "export", "bk"}).exit == 0);
  const auto before = texts_of(stage.folder / "bk");
  stage.meddles = [](const Seen& seen) -> std::optional<Script> {
    if (!is_list(seen)) return std::nullopt;
    return answer(200, R"({"data": [], "next_cursor": null})");
  };
  const Ended stopped = stage.ws({"docs", "export", "bk", "--delete", "--yes", "--json"});
  CHECK(stopped.exit == 7);
  CHECK(stopped.out.empty());
  CHECK(error_of(stopped)["applied"] == "no");
  CHECK_THAT(text_at(error_of(stopped), "hint"), Contains("--allow-deletes"));
  CHECK(texts_of(stage.folder / "bk") == before);
  CHECK(stage.ws({"docs", "export", "bk", "--delete", "--allow-deletes"}).exit == 0);
  CHECK(texts_of(stage.folder / "bk") == before);
}

TEST_CASE("docs export --delete: of a short list only what is archived goes, what is not visible stays", "[cli]") {
  ExportStage stage;
  const std::string archived = stage.created("Archived");
  const std::string listed_no_more = stage.created("Still there");
  std::map<int, std::string> refused;
  for (const int status : {403, 404, 410}) refused[status] = stage.created("Refused " + std::to_string(status));
  REQUIRE(stage.ws({"docs", "export", "bk"}).exit == 0);
  REQUIRE(stage.ws({"docs", "archive", archived}).exit == 0);
  stage.meddles = [&](const Seen& seen) -> std::optional<Script> {
    for (const auto& [status, id] : refused) {
      if (seen.target == "/v1/documents/" + id) return answer(status, R"({"detail": "no", "code": "no"})");
    }
    if (!is_list(seen)) return std::nullopt;
    Json list = parse(body_of(stage.server, seen.target));
    Json shorter = Json::array();
    for (const Json& item : list["data"]) {
      const std::string title = text_at(item, "title");
      if (title != "Still there" && !title.starts_with("Refused")) shorter.push_back(item);
    }
    list["data"] = shorter;
    return answer(200, dump(list));
  };
  const Ended ended = stage.ws({"docs", "export", "bk", "--delete", "--json"});
  REQUIRE(ended.exit == 0);
  auto states = stage.states(ended);
  CHECK(states[archived] == "removed");
  CHECK(states[listed_no_more] == "unchanged");
  for (const auto& [status, id] : refused) {
    CAPTURE(status);
    CHECK(states[id] == "not_visible");
    CHECK(std::filesystem::exists(stage.folder / ("bk/Refused " + std::to_string(status) + ".md")));
  }
  CHECK_FALSE(std::filesystem::exists(stage.folder / "bk/Archived.md"));
  CHECK(std::filesystem::exists(stage.folder / "bk/Still there.md"));
}

TEST_CASE("docs export: a folder belongs to a Workspace and a person, and no other key exports into it", "[cli]") {
  ExportStage stage;
  REQUIRE(stage.ws({"docs", "export", "bk"}).exit == 0);
  const auto before = texts_of(stage.folder / "bk");
  const Json me = parse(body_of(stage.server, "/v1/me"));
  const auto with = [&](const char* member, const char* id) {
    stage.meddles = [=](const Seen& seen) -> std::optional<Script> {
      if (seen.target != "/v1/me") return std::nullopt;
      Json other = me;
      other[member]["id"] = id;
      return answer(200, dump(other));
    };
  };
  for (const char* const member : {"workspace", "user"}) {
    with(member, nobody);
    for (const std::vector<std::string>& flags :
         {std::vector<std::string>{}, {"--delete", "--allow-deletes"}, {"-n"}}) {
      std::vector<std::string> arguments = {"docs", "export", "bk"};
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      const Ended refused = stage.ws(arguments);
      CHECK(refused.exit == 2);
      CHECK_THAT(refused.err, Contains(member == std::string("user") ? "another person" : "another Workspace"));
    }
  }
  CHECK(texts_of(stage.folder / "bk") == before);
  // An answer that does not say whose key it is, and an export of an earlier version: nothing is known against them.
  stage.meddles = [](const Seen& seen) -> std::optional<Script> {
    if (seen.target != "/v1/me") return std::nullopt;
    return answer(200, R"({"object": "identity", "user": null, "agent": null, "workspace": null})");
  };
  CHECK(stage.ws({"docs", "export", "bk"}).exit == 0);
  CHECK(texts_of(stage.folder / "bk") == before);
  Json manifest = parse(before.at(".ws-export.json"));
  manifest.erase("workspace_id");
  manifest.erase("owner_id");
  write_text(stage.folder / "bk/.ws-export.json", dump(manifest));
  stage.meddles = [](const Seen&) { return std::nullopt; };
  CHECK(stage.ws({"docs", "export", "bk"}).exit == 0);
  CHECK(texts_of(stage.folder / "bk") == before);
}

TEST_CASE("docs export: a second one into the same folder says who exports, and makes no second files", "[cli]") {
  ExportStage stage;
  stage.person.environment["WS_BASE_URL"] = stage.server.base_url();  // the relay waits no minute for an answer
  const std::string fault = dump({{"operation", "docs.get"}, {"nth", 5}, {"effect", {{"delay_ms", 60000}}}});
  control(stage.server, "POST", "/faults", fault);
  Running first(stage.person.command({"docs", "export", "bx"}, stage.folder.path()));
  while (parse(control(stage.server, "GET", "/faults", ""))["data"][0]["fired"] == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  control(stage.server, "DELETE", "/faults", "");
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"docs", "export", "bx"}, {"docs", "get", nobody, nobody, "-o", "bx"}}) {
    const Ended second = stage.ws(other);
    CHECK(second.exit == 14);
    CHECK_THAT(second.err, Contains("process " + std::to_string(first.pid())));
  }
  first.signal(SIGKILL);
  first.wait();
  CHECK(stage.ws({"docs", "export", "bx"}).exit == 0);
  REQUIRE(stage.ws({"docs", "export", "alone"}).exit == 0);
  CHECK(texts_of(stage.folder / "bx") == texts_of(stage.folder / "alone"));
}

TEST_CASE("docs export: an id from the service never leads out of the folder", "[cli]") {
  const TemporaryFolder outer;
  const std::filesystem::path inner = outer / "in" / "here";
  std::filesystem::create_directories(inner);
  const std::string given =
      GENERATE("ABSOLUTE", "../outside/rel", "..", ".", "a/b", "nul\\x", ".git", "CON", "-rf", "\xE2\x80\xAEx");
  const std::string id = given == "ABSOLUTE" ? (outer / "abs").string() : given;
  CAPTURE(id);
  const HostileServer server([&](const Seen& seen) {
    const Json document = {{"id", id}, {"title", "/"}, {"content_revision", 1}, {"content", "text"}};
    if (seen.target == "/v1/me") return answer(200, R"({"object": "identity"})");
    if (is_list(seen)) return answer(200, dump({{"data", {document}}, {"next_cursor", nullptr}}));
    return answer(200, dump(document));
  });
  std::filesystem::create_directories(outer / "in" / "outside");
  const At person(server.origin());
  const Ended ended = person.ws({"docs", "export", "bk"}, inner);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  std::size_t notes = 0;
  for (const auto& [path, text] : texts_of(outer.path())) {
    CHECK(path.starts_with("in/here/bk/"));
    notes += text == "text" ? 1 : 0;
  }
  CHECK(notes == 1);
  CHECK(person.ws({"docs", "export", "bk"}, inner).out.find("unchanged") != std::string::npos);
}

TEST_CASE("docs export: documents that the list has without an id are told", "[cli]") {
  const HostileServer server([&](const Seen& seen) {
    if (seen.target == "/v1/me") return answer(200, R"({"object": "identity"})");
    return answer(200, R"({"data": [{"title": "T", "content_revision": 1}], "next_cursor": null})");
  });
  const TemporaryFolder outer;
  const Ended ended = At(server.origin()).ws({"docs", "export", "bk"}, outer.path());
  CHECK(ended.err.find("1 of the listed documents have no id") != std::string::npos);
}

TEST_CASE("files download: an id from a list never leads out of the folder", "[cli]") {
  const std::string id = GENERATE("../rel", "a/../../b", "..");
  const HostileServer server([&](const Seen& seen) {
    if (seen.target.find("/content") != std::string::npos) return answer(200, "hello");
    return answer(200, dump(Json{{"id", id}, {"original_file_name", ".."}, {"size_bytes", 5}}));
  });
  const At person(server.origin());
  const TemporaryFolder outer;
  const std::filesystem::path inner = outer / "in" / "here";
  std::filesystem::create_directories(inner);
  Command command = person.command({"files", "download", "--stdin", "--no-validate"}, inner);
  command.input = id + "\n";
  run_command(command);
  for (const auto& [path, text] : texts_of(outer.path())) CHECK(path.starts_with("in/here/"));
}
