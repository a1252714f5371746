// What the service will not take from a tree, and what should not be believed of it: the real `ws`, the real mock, its
// own faults, and a hand on the wire that refuses one document of a push.
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/two_folders.hpp"
#include "tests/support/relay.hpp"

using namespace ws;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

std::string bearer_of(const Seen& seen) {
  const std::string header = seen.header("Authorization").value_or("");
  return header.substr(header.find(' ') + 1);
}

/// Three documents in step with a service that takes no push of some of them.
class RefusedStage {
 public:
  RefusedStage() {
    person.environment["WS_BASE_URL"] = relay_.origin();
    for (const char* name : {"a.md", "b.md", "c.md"}) write_text(folder / name, "old\n");
    REQUIRE(ws({"sync", "init", "--name", "notes"}).exit == 0);
    REQUIRE(ws({"sync"}).exit == 0);
    source = text_at(parse(read_text(folder / ".ws/source.json")), "source_id");
    sent.clear();
  }

  Ended ws(std::vector<std::string> arguments) const { return person.ws(std::move(arguments), folder.path()); }
  /// The documents' texts on the service, by path.
  std::map<std::string, std::string> served() const {
    const Json page = parse(body_of(server, "/v1/sync/sources/" + source + "/pull"));
    std::map<std::string, std::string> texts;
    for (const Json& item : page["data"]) {
      if (item["deleted"] == false) texts[text_at(item, "path")] = text_at(item, "content");
    }
    return texts;
  }
  /// A run that must end so; its report.
  Json run(int exit, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"sync", "run", "--json"});
    const Ended ended = ws(flags);
    CAPTURE(ended.out, ended.err);
    CHECK(ended.exit == exit);
    return parse(ended.out.empty() ? "{}" : ended.out);
  }

  MockProcess server;
  Person person{server};
  TemporaryFolder folder;
  std::string source = {};
  std::map<std::string, std::string> refused = {};  ///< code by path
  std::vector<std::string> sent = {};               ///< paths of all items that were pushed

 private:
  /// The mock gets the items that it may take; the others come back as it would say it.
  Script meddle(const Seen& seen, const Forward& forward) {
    if (seen.target != "/v1/sync/push") return forward();
    Json body = parse(seen.body);
    Json taken = Json::array();
    Json rejected = Json::array();
    for (const Json& item : body["items"]) {
      const std::string path = text_at(item, "path");
      sent.push_back(path);
      if (const auto code = refused.find(path); code != refused.end()) {
        rejected.push_back({{"path", path}, {"code", code->second}, {"message", "not that one"}});
      } else {
        taken.push_back(item);
      }
    }
    Json reply = {{"push_id", nobody}, {"accepted", Json::array()}};
    if (!taken.empty()) {
      body["items"] = taken;
      const RawAnswer answered =
          server.ask({.method = "POST", .target = seen.target, .token = bearer_of(seen), .json = dump(body)});
      if (answered.status != 200) return answer(answered.status, answered.body);
      reply = parse(answered.body);
    }
    reply["rejected"] = rejected;
    return answer(200, dump(reply));
  }

  Relay relay_{server, [this](const Seen& seen, const Forward& forward) { return meddle(seen, forward); }};
};

/// "a.md failed cannot_push", a line a row.
std::vector<std::string> rows_of_report(const Json& report) {
  std::vector<std::string> rows;
  for (const Json& row : report["actions"]) {
    std::string line = text_at(row, "path") + " " + text_at(row, "state");
    if (const std::string code = text_at(row, "error.code"); !code.empty()) line += " " + code;
    rows.push_back(line);
  }
  return rows;
}

using Rows = std::vector<std::string>;

/// Every answer of that operation is this one from now on.
void answer_always(const MockProcess& server, const std::string& operation, int status, const Json& body) {
  Json answer = {{"status", status}};
  if (!body.is_null()) answer["body"] = body;
  const Json rule = {{"operation", operation}, {"times", 1000}, {"effect", {{"status", answer}}}};
  control(server, "POST", "/faults", dump(rule));
}

}  // namespace

TEST_CASE("refused: 403, 404 or 410 on one document leaves it as it is, and the others are synced", "[cli]") {
  const std::string code = GENERATE("forbidden", "not_found", "gone");
  CAPTURE(code);
  RefusedStage stage;
  stage.refused["a.md"] = code;
  write_text(stage.folder / "a.md", "mine\n");
  write_text(stage.folder / "b.md", "new\n");
  const Json first = stage.run(13);
  CHECK(rows_of_report(first) == Rows{"a.md failed cannot_push", "b.md done"});
  CHECK_THAT(text_at(first["actions"][0], "error.message"), Contains("a.md") && Contains("not that one"));
  CHECK(stage.served() == std::map<std::string, std::string>{{"a.md", "old\n"}, {"b.md", "new\n"}, {"c.md", "old\n"}});
  CHECK(read_text(stage.folder / "a.md") == "mine\n");

  // Told by each run, and sent by none.
  stage.sent.clear();
  for (int run = 0; run < 2; ++run) {
    const Json again = stage.run(0);
    CHECK(again["actions"].empty());
    REQUIRE(again["detached"].size() == 1);
    CHECK(text_at(again["detached"][0], "path") == "a.md");
    CHECK(text_at(again["detached"][0], "reason") == "refused");
  }
  CHECK(stage.ws({"sync", "status"}).err == "nothing to do; 1 kept as it is\n");
  CHECK(stage.sent.empty());

  // Another text is worth one try.
  write_text(stage.folder / "a.md", "mine again\n");
  CHECK(rows_of_report(stage.run(13)) == Rows{"a.md failed cannot_push"});
  CHECK(stage.run(0)["actions"].empty());
  CHECK(stage.sent == Rows{"a.md"});
  stage.refused.clear();
  write_text(stage.folder / "a.md", "at last\n");
  CHECK(stage.run(0)["detached"].empty());
  CHECK(stage.served().at("a.md") == "at last\n");
}

TEST_CASE("refused: 422 on one document is sent once, told by each run, and the others are synced", "[cli]") {
  RefusedStage stage;
  stage.refused["a.md"] = "validation_error";
  write_text(stage.folder / "a.md", "mine\n");
  write_text(stage.folder / "b.md", "new\n");
  CHECK(rows_of_report(stage.run(13)) == Rows{"a.md failed validation_error", "b.md done"});
  CHECK(stage.served() == std::map<std::string, std::string>{{"a.md", "old\n"}, {"b.md", "new\n"}, {"c.md", "old\n"}});
  stage.sent.clear();
  CHECK(stage.run(0)["detached"].size() == 1);
  CHECK(stage.sent.empty());
  CHECK(read_text(stage.folder / "a.md") == "mine\n");
  stage.refused.clear();
  write_text(stage.folder / "a.md", "mine, shorter\n");
  CHECK(rows_of_report(stage.run(0)) == Rows{"a.md done"});
  CHECK(stage.served().at("a.md") == "mine, shorter\n");
}

TEST_CASE("refused: a push that is refused whole changes nothing, and the next run completes it", "[cli]") {
  const auto [status, exit] = GENERATE(table<int, int>({{403, 13}, {404, 6}, {410, 6}, {422, 3}}));
  CAPTURE(status);
  const TwoFolders two;
  const auto before = texts_of(two.there);
  write_text(two.here / "a.md", "one\nedited\nthree\n");
  write_text(two.here / "new.md", "new\n");
  const auto edited = texts_of(two.here);
  answer_always(two.server, "sync.push", status, {});
  for (int run = 0; run < 2; ++run) {
    const Ended ended = two.ws(two.here, {"sync"});
    CAPTURE(ended.out, ended.err);
    CHECK(ended.exit == exit);
    CHECK_FALSE((ended.out + ended.err).empty());
  }
  CHECK(texts_of(two.here) == edited);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there) == before);
  control(two.server, "DELETE", "/faults", "");
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(two.ws(two.there, {"sync"}).exit == 0);
  CHECK(texts_of(two.there) == edited);
  CHECK(two.ws(two.here, {"sync"}).out.empty());
}

TEST_CASE("refused: an answer for another source stops at the guard, whatever it lists", "[cli]") {
  const RefusedStage stage;
  write_text(stage.folder / "a.md", "mine\n");
  const auto before = texts_of(stage.folder.path());
  const Json known = parse(body_of(stage.server, "/v1/sync/sources/" + stage.source + "/pull"))["data"];
  Json listed = Json::array();
  for (const Json& item : known) {
    Json gone = item;
    gone["deleted"] = true;
    gone["content_revision"] = 9;
    listed.push_back(gone);
  }
  answer_always(
      stage.server,
      "sync.pull",
      200,
      {{"source_id", nobody}, {"revision", 99}, {"since_revision", 0}, {"data", listed}, {"next_cursor", nullptr}});
  const Ended stopped = stage.ws({"sync", "--yes"});
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err, Contains("answered for another source") && Contains("--allow-deletes"));
  CHECK(stage.run(7)["guard"]["foreign_source"] == true);
  CHECK(texts_of(stage.folder.path()) == before);
  CHECK(stage.sent.empty());
  // It was a mistake: nothing of it was taken over.
  control(stage.server, "DELETE", "/faults", "");
  CHECK(rows_of_report(stage.run(0)) == Rows{"a.md done"});
  CHECK(stage.served() == before);
}

TEST_CASE("refused: a listing of nothing stops at the guard until it is confirmed, and no file goes", "[cli]") {
  const RefusedStage stage;
  const auto before = texts_of(stage.folder.path());
  answer_always(stage.server,
                "sync.pull",
                200,
                {{"source_id", stage.source},
                 {"revision", 99},
                 {"since_revision", 0},
                 {"data", Json::array()},
                 {"next_cursor", nullptr}});
  const Ended stopped = stage.ws({"sync", "--yes"});
  CHECK(stopped.exit == 7);
  CHECK_THAT(stopped.err, Contains("no longer has any of the 3 documents") && Contains("--allow-deletes"));
  CHECK(stage.run(7)["guard"]["empty_listing"] == true);
  CHECK(texts_of(stage.folder.path()) == before);
  // Absent is not deleted: what is confirmed leaves every file where it is.
  CHECK(stage.run(0, {"--allow-deletes"})["detached"].size() == 3);
  CHECK(texts_of(stage.folder.path()) == before);
  CHECK(stage.sent.empty());
}

TEST_CASE("refused: a conflict that an edit here settled is closed on the service", "[cli]") {
  // The other text, or one that takes it in.
  const std::string settled = GENERATE("one\nhere\nthree\n", "one\nhere\nthree\nfour\n");
  CAPTURE(settled);
  const TwoFolders two;
  two.collide();
  REQUIRE(two.ws(two.there, {"sync"}).exit == 7);
  const std::string id = text_at(parse(two.ws(two.there, {"sync", "conflicts", "--json"}).out)["data"][0], "id");
  const auto status = [&] { return text_at(parse(body_of(two.server, "/v1/sync/conflicts/" + id)), "status"); };
  REQUIRE(status() == "open");
  write_text(two.there / "a.md", settled);
  const Ended ended = two.ws(two.there, {"sync"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.exit == 0);
  CHECK(status() == "resolved");
  CHECK(parse(two.ws(two.there, {"sync", "conflicts", "--json", "--all"}).out)["data"].empty());
  CHECK(two.ws(two.here, {"sync"}).exit == 0);
  CHECK(read_text(two.here / "a.md") == settled);
  CHECK(two.same());
  CHECK(two.ws(two.there, {"sync"}).out.empty());
}
