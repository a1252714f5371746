// What comes of a call whose answer is lost or spoilt behind the service's back: the real `ws`, the real mock and its
// own faults. The mock's journal counts the sends, its state what was made.
#include <functional>
#include <memory>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct OutcomeWorld {
  MockProcess server{{"--assume", "workspace_create=visible"}};
  Person person{server};
  TemporaryFolder folder;

  Ended ws(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    return person.ws(std::move(arguments), folder.path());
  }
  std::string id_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "ids"});
    return person.ws(std::move(arguments), folder.path()).out.substr(0, 36);
  }
  std::string document() const { return id_of({"docs", "list", "--limit", "1"}); }

  /// From now on; nothing that was asked before counts.
  void fault(const std::string& operation, int times, const std::string& effect, const std::string& phase) const {
    control(server, "DELETE", "/requests", "");
    const Json rule = {{"operation", operation}, {"times", times}, {"phase", phase}, {"effect", parse(effect)}};
    control(server, "POST", "/faults", dump(rule));
  }
  std::vector<Json> sends(const std::string& operation) const {
    std::vector<Json> found;
    const Json journal = parse(control(server, "GET", "/requests", ""));
    for (const Json& entry : journal["data"]) {
      if (entry["operation"] == operation) found.push_back(entry);
    }
    return found;
  }
  Json rows(const std::string& table) const { return parse(control(server, "GET", "/state", ""))["tables"][table]; }
};

/// A class of the retry table by one of its calls: made ready, then asked for; `done` counts what it did.
struct OutcomeDeed {
  char name;
  std::string operation;
  std::function<std::vector<std::string>(OutcomeWorld&)> words;
  std::function<std::size_t(const OutcomeWorld&)> done = [](const OutcomeWorld&) { return std::size_t{0}; };
};

std::function<std::size_t(const OutcomeWorld&)> rows_of(std::string table) {
  return [table = std::move(table)](const OutcomeWorld& world) { return world.rows(table).size(); };
}

std::function<std::size_t(const OutcomeWorld&)> rows_where(std::string table, std::string column, std::string value) {
  return [=](const OutcomeWorld& world) {
    std::size_t count = 0;
    const Json rows = world.rows(table);
    for (const Json& row : rows) count += text_at(row, column) == value ? 1 : 0;
    return count;
  };
}

std::string claimed_event(OutcomeWorld& world) {
  const std::string agent = world.id_of({"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  control(world.server, "POST", "/events", R"({"agent_id":")" + agent + R"("})");
  return text_at(parse(world.ws({"events", "claim"}).out), "event.id");
}

const std::vector<OutcomeDeed>& deeds() {
  static const std::vector<OutcomeDeed> all = {
      {'R',
       "docs.get",
       [](OutcomeWorld& world) {
         return std::vector<std::string>{"docs", "get", world.document()};
       }},
      {'K',
       "docs.create",
       [](OutcomeWorld&) {
         return std::vector<std::string>{"docs", "create", "Once"};
       },
       rows_of("documents")},
      {'P',
       "docs.update",
       [](OutcomeWorld& world) {
         const std::string id = world.id_of({"docs", "create", "A text"});
         return std::vector<std::string>{"docs", "update", id, "-F", "content=new", "--revision", "1"};
       },
       rows_of("document_revisions")},
      {'D',
       "docs.archive",
       [](OutcomeWorld& world) {
         return std::vector<std::string>{"docs", "archive", world.document()};
       },
       rows_where("documents", "status", "archived")},
      {'L',
       "events.renew",
       [](OutcomeWorld& world) {
         return std::vector<std::string>{"events", "renew", claimed_event(world)};
       }},
      {'N',
       "docs.share",
       [](OutcomeWorld& world) {
         const std::string id = world.id_of({"docs", "create", "A text"});
         return std::vector<std::string>{"docs", "share", id, "--with", "@scout", "--permission", "read"};
       },
       rows_of("shares")},
  };
  return all;
}

/// A fault that strikes once; how reads, guarded writes and unsafe writes end, and after how many sends.
struct Spoilt {
  std::string effect;
  std::string phase;
  struct End {
    int exit;
    std::size_t sends;
  };
  End read;
  End guarded;
  End unsafe;
};
const std::vector<Spoilt>& spoilt() {
  static const std::vector<Spoilt> all = {
      {R"({"close_without_answer": true})", "after", {0, 2}, {0, 2}, {12, 1}},
      {R"({"truncate_at": 20})", "after", {0, 2}, {0, 2}, {12, 1}},
      {R"({"status": 500})", "after", {0, 2}, {0, 2}, {10, 1}},
      {R"({"bad_json": true})", "after", {1, 1}, {12, 1}, {12, 1}},
      {R"({"status": 503, "retry_after": 0})", "before", {0, 2}, {0, 2}, {0, 2}},
      {R"({"status": 429, "retry_after": 0})", "before", {0, 2}, {0, 2}, {0, 2}},
  };
  return all;
}

}  // namespace

TEST_CASE("outcomes: whatever becomes of an answer, the deed is done once, and the exit code tells", "[cli]") {
  for (const OutcomeDeed& deed : deeds()) {
    for (const Spoilt& spoil : spoilt()) {
      CAPTURE(deed.name, spoil.effect);
      OutcomeWorld world;
      const std::vector<std::string> words = deed.words(world);
      const std::size_t before = deed.done(world);
      world.fault(deed.operation, 1, spoil.effect, spoil.phase);
      const Ended ended = world.ws(words);
      INFO(ended.err);
      const Spoilt::End& expected = deed.name == 'R' ? spoil.read : deed.name == 'N' ? spoil.unsafe : spoil.guarded;
      CHECK(ended.exit == expected.exit);
      CHECK(world.sends(deed.operation).size() == expected.sends);
      CHECK(deed.done(world) == before + (deed.name == 'R' || deed.name == 'L' ? 0 : 1));
      if (ended.exit != 10 && ended.exit != 12) continue;
      CHECK(error_of(ended)["applied"] == "unknown");
      CHECK(error_of(ended)["hint"].get<std::string>().find("`ws ") != std::string::npos);
    }
  }
}

TEST_CASE("outcomes: an answer that is lost three times leaves doubt, and the deed is done once", "[cli]") {
  for (const OutcomeDeed& deed : deeds()) {
    if (deed.name == 'L' || deed.name == 'N') continue;  // until the lease ends; never sent again
    CAPTURE(deed.name);
    OutcomeWorld world;
    const std::vector<std::string> words = deed.words(world);
    const std::size_t before = deed.done(world);
    world.fault(deed.operation, 3, R"({"close_without_answer": true})", "after");
    const Ended ended = world.ws(words);
    INFO(ended.err);
    CHECK(ended.exit == (deed.name == 'R' ? 11 : 12));
    CHECK(error_of(ended)["retryable"] == true);
    CHECK(error_of(ended)["applied"] == (deed.name == 'R' ? "no" : "unknown"));
    CHECK(world.sends(deed.operation).size() == 3);
    CHECK(deed.done(world) == before + (deed.name == 'R' || deed.name == 'L' ? 0 : 1));
  }
}

TEST_CASE("outcomes: doubt that a refusal ends keeps the command that checks, beside what mends the refusal", "[cli]") {
  const std::string refusal = GENERATE(R"({"status": 401, "body": {"detail": "no"}})",
                                       R"({"status": 403, "body": {"detail": "no"}})",
                                       R"({"status": 403, "body": {"detail": "no", "code": "missing_scope",
                                          "required_scope": "documents:write"}})");
  CAPTURE(refusal);
  const OutcomeWorld world;
  for (const std::string& rule :
       {std::string(R"("nth": 1, "phase": "after", "effect": {"close_without_answer": true})"),
        R"("nth": 2, "effect": {"status": )" + refusal + "}"}) {
    control(world.server, "POST", "/faults", R"({"operation": "docs.create", )" + rule + "}");
  }
  const Json error = error_of(world.ws({"docs", "create", "X"}));
  CHECK(error["applied"] == "unknown");
  const std::string hint = error["hint"];
  CAPTURE(hint);
  CHECK(hint.find("check with `ws docs list`") != std::string::npos);
}

TEST_CASE("outcomes: every create goes under one key in all its sends, and that key completes it later", "[cli]") {
  struct Create {
    std::string operation;
    std::string table;
    std::vector<std::string> words;
  };
  for (const Create& create :
       std::vector<Create>{{"docs.create", "documents", {"docs", "create", "Once"}},
                           {"workspaces.create", "workspaces", {"workspaces", "create", "Once"}},
                           {"projects.create", "projects", {"projects", "create", "Once"}},
                           {"questions.create", "questions", {"ask", "Once?", "--no-wait"}},
                           {"tests.run_launch", "test_runs", {"tests", "runs", "launch", "--suite", "smoke"}}}) {
    CAPTURE(create.operation);
    OutcomeWorld world;
    const std::size_t before = world.rows(create.table).size();
    world.fault(create.operation, 2, R"({"reset": true})", "after");
    std::vector<std::string> words = create.words;
    words.push_back("--no-retry");
    const Ended lost = world.ws(words);
    REQUIRE(lost.exit == 12);
    const std::string key = error_of(lost)["idempotency_key"];
    words = create.words;
    words.insert(words.end(), {"--idempotency-key", key});
    const Ended done = world.ws(words);
    INFO(done.err);
    CHECK(done.exit == 0);
    CHECK(world.rows(create.table).size() == before + 1);
    const auto sends = world.sends(create.operation);
    REQUIRE(sends.size() == 3);
    for (const Json& send : sends) CHECK(dump(send["request_headers"]).find(key) != std::string::npos);
  }
}

TEST_CASE("outcomes: no other unsafe call is sent twice", "[cli]") {
  struct Unsafe {
    std::string operation;
    std::string table;
    std::vector<std::string> words;
  };
  OutcomeWorld world;
  const std::string document = world.document();
  const std::string thread = world.id_of({"comments", "add", document, "-m", "One"});
  const std::string agent = world.id_of({"agents", "create", "first", "--name", "F", "--permissions", "read"});
  write_text(world.folder / "a.md", "# A\n");
  const std::string asset = world.id_of({"files", "upload", "a.md"});
  for (const Unsafe& call : std::vector<Unsafe>{
           {"comments.add", "comment_threads", {"comments", "add", document, "-m", "Two"}},
           {"comments.reply", "comment_entries", {"comments", "reply", document, thread, "-m", "Three"}},
           {"files.organize", "organize_runs", {"files", "organize", asset, "-m", "Pages"}},
           {"agents.create", "agents", {"agents", "create", "second", "--name", "S", "--permissions", "read"}},
           {"agents.rotate", "", {"agents", "rotate", agent, "--yes"}},
           {"events.claim", "", {"events", "claim"}},
           {"sync.source_create", "sync_sources", {"sync", "init"}}}) {
    CAPTURE(call.operation);
    const std::size_t before = call.table.empty() ? 0 : world.rows(call.table).size();
    world.fault(call.operation, 1, R"({"close_without_answer": true})", "after");
    const Ended ended = world.ws(call.words);
    INFO(ended.err);
    CHECK(ended.exit == 12);
    CHECK(error_of(ended)["hint"].get<std::string>().find("`ws ") != std::string::npos);
    CHECK(world.sends(call.operation).size() == 1);
    if (!call.table.empty()) CHECK(world.rows(call.table).size() == before + 1);
  }
}

TEST_CASE("outcomes: the start of an upload is sent again, and what it left unused is no file", "[cli]") {
  OutcomeWorld world;
  write_text(world.folder / "a.md", "# A\n");
  world.fault("files.upload_start", 1, R"({"close_without_answer": true})", "after");
  CHECK(world.ws({"files", "upload", "a.md"}).exit == 0);
  CHECK(world.sends("files.upload_start").size() == 2);
  CHECK(world.rows("assets").size() == 1);
}

TEST_CASE("outcomes: bytes that were taken and not acknowledged go up again, there is one file", "[cli]") {
  OutcomeWorld world;
  write_text(world.folder / "a.md", "# A\n");
  world.fault("upload.put", 1, R"({"reset": true})", "after");
  CHECK(world.ws({"files", "upload", "a.md"}).exit == 0);
  CHECK(world.rows("assets").size() == 1);
}

TEST_CASE("outcomes: a logout that was not acknowledged is one, since the key is refused from then on", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  const Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--store", "file", "--for", "read"}).exit == 0);
  control(server,
          "POST",
          "/faults",
          R"({"operation": "auth.revoke", "nth": 1, "phase": "after", "effect": {"close_without_answer": true}})");
  CHECK(person.ws({"logout"}).exit == 0);
  CHECK(person.ws({"auth", "list"}).out.empty());
}

TEST_CASE("outcomes: an archive that was not acknowledged is told as one, not as the refusal that shows it", "[cli]") {
  const std::string format = GENERATE("json", "tsv");
  CAPTURE(format);
  int sends = 0;
  const HostileServer server([&](const Seen&) {
    if (++sends == 1) return Script{CloseConnection{}};
    return answer(404, R"({"detail": "No such document.", "code": "not_found"})");
  });
  const Ended ended = At(server.origin()).ws({"docs", "archive", nobody, "--format", format});
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(ended.out.find(nobody) != std::string::npos);
  CHECK(ended.out.find("archived") != std::string::npos);
  CHECK(ended.out.find("not_found") == std::string::npos);
}

TEST_CASE("outcomes: an answer that was lost on a connection in use is told in plain words", "[cli]") {
  OutcomeWorld world;
  write_text(world.folder / "a.md", "# A\n");
  REQUIRE(world.ws({"sync", "init"}).exit == 0);
  world.fault("sync.commit", 1, R"({"close_without_answer": true})", "after");
  const Ended ended = world.ws({"sync", "--no-retry"});
  INFO(ended.err);
  CHECK(ended.exit == 12);
  CHECK(ended.err.find("the connection was lost") != std::string::npos);
}

TEST_CASE("outcomes: a commit that was not acknowledged is counted, not made again", "[cli]") {
  const int lost = GENERATE(1, 3);
  OutcomeWorld world;
  write_text(world.folder / "a.md", "# A\n");
  REQUIRE(world.ws({"sync", "init"}).exit == 0);
  const std::size_t before = world.rows("documents").size();
  world.fault("sync.commit", lost, R"({"close_without_answer": true})", "after");
  const Ended ended = world.ws({"sync"});
  INFO(ended.err);
  CHECK((ended.exit == 0 || ended.exit == 12));
  CHECK(world.sends("sync.commit").size() <= 3);
  CHECK(world.rows("documents").size() == before + 1);
  CHECK(world.ws({"sync"}).exit == 0);
  CHECK(parse(world.ws({"sync", "status"}).out)["clean"] == true);
  CHECK(world.rows("documents").size() == before + 1);
}

namespace {

/// `ws` as a line of the shell starts it: its stdout goes where the line says.
Ended with_output(const OutcomeWorld& world, std::vector<std::string> arguments, const std::string& line) {
  Command command = world.person.command({}, world.folder.path());
  command.program.clear();
  command.arguments = {"bash", "-c", line, program("ws")};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return run_command(command);
}

constexpr const char* full = "\"$0\" \"$@\" > /dev/full";
/// A pipe that has lost its reader.
constexpr const char* unread = "rm -f p; mkfifo p && exec 4<>p 5>p 4<&-; \"$0\" \"$@\" >&5";

std::size_t comments_of(const OutcomeWorld& world) { return world.rows("comment_threads").size(); }

}  // namespace

TEST_CASE("outcomes: one refusal does not tell that a key is dead", "[cli]") {
  const MockProcess server({"--device", "auto", "--device-interval", "1"});
  Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--store", "file", "--for", "read"}).exit == 0);
  control(server,
          "POST",
          "/faults",
          R"({"operation": "auth.revoke", "nth": 1, "effect": {"status": {"status": 401, "body": {"detail": "no"}}}})");
  CHECK(person.ws({"logout"}).exit == 4);
  CHECK_FALSE(person.ws({"auth", "list"}).out.empty());
  CHECK(person.ws({"logout"}).exit == 0);
  Person mistyped(server);
  mistyped.environment["WS_TOKEN"] = "wsk_mistyped";
  CHECK(mistyped.ws({"logout"}).exit == 4);
}

TEST_CASE("outcomes: of several that continue the same change at once one does, and all tell its answer", "[cli]") {
  OutcomeWorld world;
  const std::vector<std::string> create = {"docs", "create", "X", "-F", "content=x", "--json"};
  const std::size_t before = world.rows("documents").size();
  const bool takes_a_call = GENERATE(true, false);
  if (takes_a_call) {
    world.fault("docs.create", 1, R"({"reset": true})", "after");
    CHECK(world.ws({"docs", "create", "X", "-F", "content=x", "--no-retry"}).exit == 12);
    world.fault("docs.create", 1, R"({"delay_ms": 1500})", "after");
  } else {
    CHECK(with_output(world, create, full).exit == 14);
  }
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<Running>(world.person.command(create, world.folder.path())));
  }
  std::set<std::string> ids;
  for (const auto& one : all) {
    const Ended ended = one->wait();
    CAPTURE(ended.err);
    REQUIRE(ended.exit == 0);
    ids.insert(text_at(parse(ended.out), "id"));
  }
  // One that begins after another has told the answer is a new wish: where that needs no call, the last may be late.
  if (takes_a_call) CHECK(ids.size() == 1);
  CHECK(world.rows("documents").size() == before + ids.size());
  CHECK(world.ws({"docs", "create", "X", "-F", "content=x"}).exit == 0);
  CHECK(world.rows("documents").size() == before + ids.size() + 1);
}

TEST_CASE("outcomes: several that meet a change of which nobody can tell all say so, and send nothing", "[cli]") {
  OutcomeWorld world;
  const std::vector<std::string> add = {"comments", "add", world.document(), "-m", "x", "--json"};
  world.fault("comments.add", 1, R"({"reset": true})", "after");
  CHECK(world.ws({"comments", "add", world.document(), "-m", "x", "--no-retry"}).exit == 12);
  const std::size_t comments = world.rows("comment_threads").size();
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<Running>(world.person.command(add, world.folder.path())));
  }
  for (const auto& one : all) CHECK(one->wait().exit == 12);
  CHECK(world.rows("comment_threads").size() == comments);
}

TEST_CASE("outcomes: a create that could not be told says so with its id, and the same again prints it", "[cli]") {
  const OutcomeWorld world;
  const std::vector<std::string> create = {"docs", "create", "X", "-F", "content=text", "--json"};
  const std::size_t before = world.rows("documents").size();
  const Json error = error_of(with_output(world, create, full));
  CHECK(error["exit"] == 14);
  CHECK(error["applied"] == "yes");
  const std::string id = error["details"]["made"][0]["id"];
  CHECK(error["message"].get<std::string>().find("the change was made: docs.create " + id) != std::string::npos);
  CHECK(world.rows("documents").size() == before + 1);
  const Ended again = world.person.ws(create, world.folder.path());
  REQUIRE(again.exit == 0);
  CHECK(text_at(parse(again.out), "id") == id);
  CHECK(again.err.find("done already") != std::string::npos);
  CHECK(world.rows("documents").size() == before + 1);
  // That was told: once more is a new wish.
  const Ended fresh = world.person.ws(create, world.folder.path());
  CHECK(text_at(parse(fresh.out), "id") != id);
  CHECK(world.rows("documents").size() == before + 2);
}

TEST_CASE("outcomes: a change whose report a format cannot make ends 14, as one that cannot be written", "[cli]") {
  const OutcomeWorld world;
  const std::vector<std::string> create = {"docs", "create", "X", "--jq", "error(\"x\")"};
  const Json error = error_of(world.ws(create));
  CHECK(error["exit"] == 14);
  CHECK(error["applied"] == "yes");
  CHECK(text_at(error, "hint") == "run the same command within a day with --json alone to see the answer");
  const Ended again = world.ws({"docs", "create", "X", "--json"});
  CHECK(parse(again.out)["id"] == error["details"]["made"][0]["id"]);
  CHECK(world.ws({"docs", "list", "--jq", "error(\"x\")"}).exit == 1);
}

TEST_CASE("outcomes: the same for changes that take no key, --again makes another, and so does a second wish",
          "[cli]") {
  OutcomeWorld world;
  const std::string document = world.id_of({"docs", "create", "A text"});
  const std::vector<std::string> add = {"comments", "add", document, "-m", "Hello"};
  const std::size_t before = comments_of(world);
  CHECK(with_output(world, add, full).exit == 14);
  CHECK(comments_of(world) == before + 1);
  CHECK(world.ws(add).exit == 0);
  CHECK(comments_of(world) == before + 1);
  CHECK(world.ws(add).exit == 0);
  CHECK(comments_of(world) == before + 2);
  CHECK(with_output(world, add, full).exit == 14);
  auto another = add;
  another.push_back("--again");
  CHECK(world.ws(another).exit == 0);
  CHECK(comments_of(world) == before + 4);
}

TEST_CASE("outcomes: a change that could not be told is named with its id, whichever command printed it", "[cli]") {
  const OutcomeWorld world;
  const std::string key = "Idempotency-Key: one";
  const std::vector<std::vector<std::string>> ways = {
      {"projects", "create", "A", "--json"},
      {"projects", "create", "B"},
      {"projects", "create", "D", "--template", "{{title}}"},
      {"call", "projects.create", "-F", "title=E", "--format", "yaml"},
      {"api", "POST", "/v1/projects", "-F", "title=F"},
      {"api", "POST", "/v1/projects", "-F", "title=G", "--include"},
      {"api", "POST", "/v1/projects", "-F", "title=I", "-H", key, "--format", "ids"}};
  std::set<std::string> before;
  for (const Json& row : world.rows("projects")) before.insert(text_at(row, "id"));
  for (const std::vector<std::string>& words : ways) {
    CAPTURE(words);
    const Ended ended = with_output(world, words, full);
    CHECK(ended.exit == 14);
    std::string made;
    for (const Json& row : world.rows("projects")) {
      if (before.insert(text_at(row, "id")).second) made = text_at(row, "id");
    }
    REQUIRE_FALSE(made.empty());
    CHECK(ended.err.find("the change was made: projects.create " + made) != std::string::npos);
  }
  // An answer without an id of its own: the object that was named.
  const std::string agent = world.id_of({"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  const Ended rotated = with_output(world, {"api", "POST", "/v1/agents/" + agent + "/credentials:rotate"}, full);
  INFO(rotated.err);
  CHECK(rotated.exit == 14);
  CHECK(rotated.err.find("agents.rotate ") != std::string::npos);
  CHECK(rotated.err.find("the answer has a secret and is in ") != std::string::npos);
  // Nothing was claimed, so nothing was made.
  const Ended claimed = with_output(world, {"api", "POST", "/v1/agent-events:claim", "-F", "worker_id=w"}, full);
  CHECK(claimed.exit == 14);
  CHECK(claimed.err.find("the change was made") == std::string::npos);
}

TEST_CASE("outcomes: a login whose codes could not be told says where they are, and goes on", "[cli]") {
  const OutcomeWorld world;
  const std::string url = "--base-url=" + world.server.base_url();
  const Json error = error_of(with_output(world, {"login", url, "--no-wait", "--for", "read", "--json"}, full));
  CHECK(error["exit"] == 14);
  CHECK(error["applied"] == "yes");
  const std::string id = error["details"]["made"][0]["id"];
  CHECK(error["message"].get<std::string>().find("the change was made: auth.start " + id) != std::string::npos);
  const std::string hint = error["hint"];
  const std::size_t begin = hint.find('/');
  const std::filesystem::path file = hint.substr(begin, hint.find(',', begin) - begin);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(hint.find("`ws login --resume " + id + "` continues it") != std::string::npos);
  control(world.server, "POST", "/devices/" + text_at(parse(read_text(file)), "user_code") + ":approve", "{}");
  control(world.server, "POST", "/clock:advance", R"({"seconds": 30})");
  const std::vector<std::string> resume = {"login", "--resume", id, "--once", "--store", "file", "--json"};
  const Json kept = error_of(with_output(world, resume, full));
  CHECK(kept["exit"] == 14);
  CHECK(kept["message"].get<std::string>().find("the change was made: auth.token ") != std::string::npos);
  CHECK(kept["message"].get<std::string>().find("auth.start") == std::string::npos);
  CHECK(kept["hint"] == "the key is saved; `ws auth list` shows it");
  CHECK_FALSE(kept["details"]["made"][0].contains("file"));
  CHECK(world.person.ws({"auth", "list"}).out.find(text_at(kept, "details.made.0.id")) != std::string::npos);
  // The bare operation keeps nothing by itself.
  const Ended bare = with_output(
      world, {"call", "auth.start", "--client-name", "x", "--cli-version", "1", "--scopes", "search:read"}, full);
  CHECK(bare.exit == 14);
  CHECK(bare.err.find("the answer has a secret and is in ") != std::string::npos);
}

TEST_CASE("outcomes: a finished upload that could not be told has no secret, one that was only begun has", "[cli]") {
  const OutcomeWorld world;
  write_text(world.folder / "a.md", "# A\n");
  const Json finished = error_of(with_output(world, {"files", "upload", "a.md", "--json"}, full));
  CHECK(finished["exit"] == 14);
  REQUIRE(finished["details"]["made"].size() == 1);
  CHECK(text_at(finished, "details.made.0.operation") == "files.upload_finish");
  CHECK_FALSE(finished["details"]["made"][0].contains("file"));
  CHECK(finished["hint"] == "run the same command again within a day to see the answer");
  const std::string id = text_at(finished, "details.made.0.id");
  CHECK(text_at(parse(world.ws({"files", "upload", "a.md"}).out), "id") == id);
  const Json begun = error_of(with_output(world, {"files", "upload", "a.md", "--start-only", "--json"}, full));
  CHECK(text_at(begun, "details.made.0.operation") == "files.upload_start");
  CHECK(begun["hint"].get<std::string>().find(text_at(begun, "details.made.0.file")) != std::string::npos);
}

TEST_CASE("outcomes: a secret that could not be told is kept in a file that only its owner reads", "[cli]") {
  const OutcomeWorld world;
  const std::string agent = world.id_of({"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  const std::vector<std::string> rotate = {"agents", "rotate", agent, "--yes", "--json"};
  const Json error = error_of(with_output(world, rotate, full));
  CHECK(error["exit"] == 14);
  const std::filesystem::path file = error["details"]["made"][0]["file"].get<std::string>();
  CHECK(error["hint"].get<std::string>().find(file.string()) != std::string::npos);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  const std::string secret = text_at(parse(read_text(file)), "secret");
  CHECK(secret.starts_with("wsk_"));
  CHECK(text_at(parse(world.ws({"agents", "rotate", agent, "--yes"}).out), "secret") == secret);
  CHECK(world.sends("agents.rotate").size() == 1);
  CHECK(text_at(parse(world.ws({"agents", "rotate", agent, "--yes"}).out), "secret") != secret);
}

TEST_CASE("outcomes: a reader that is gone is silent for reads, and told of a change that was made", "[cli]") {
  const OutcomeWorld world;
  CHECK(with_output(world, {"docs", "list", "--json"}, unread).exit == 141);
  const Ended made = with_output(world, {"docs", "create", "X", "--json"}, unread);
  CHECK(made.exit == 14);
  const std::string id = error_of(made)["details"]["made"][0]["id"];
  CHECK(text_at(parse(world.ws({"docs", "create", "X"}).out), "id") == id);
}

TEST_CASE("outcomes: what got no answer is not sent again unless --again says so, or it is safe", "[cli]") {
  OutcomeWorld world;
  const std::string document = world.id_of({"docs", "create", "A text"});
  const auto lose_answer = [&](const std::string& operation) {
    world.fault(operation, 1, R"({"close_without_answer": true})", "after");
  };
  const std::vector<std::string> add = {"comments", "add", document, "-m", "Hello", "--no-retry"};
  const std::size_t before = comments_of(world);
  lose_answer("comments.add");
  CHECK(world.ws(add).exit == 12);
  const Ended again = world.ws(add);
  CHECK(again.exit == 12);
  CHECK(error_of(again)["hint"].get<std::string>().find("`ws comments list " + document + "`") != std::string::npos);
  CHECK(error_of(again)["hint"].get<std::string>().find("`--again`") != std::string::npos);
  CHECK(world.sends("comments.add").size() == 1);
  CHECK(comments_of(world) == before + 1);
  auto another = add;
  another.push_back("--again");
  CHECK(world.ws(another).exit == 0);
  CHECK(comments_of(world) == before + 2);
  CHECK(world.ws(add).exit == 0);
  CHECK(comments_of(world) == before + 3);
  // A create goes on under the key that it had.
  const std::vector<std::string> create = {"docs", "create", "Lost", "--no-retry"};
  const std::size_t documents = world.rows("documents").size();
  lose_answer("docs.create");
  CHECK(world.ws(create).exit == 12);
  CHECK(world.ws(create).exit == 0);
  CHECK(world.rows("documents").size() == documents + 1);
  // That it is archived already is what was wanted.
  lose_answer("docs.archive");
  CHECK(world.ws({"docs", "archive", document, "--no-retry"}).exit == 12);
  CHECK(world.ws({"docs", "archive", document, "--no-retry"}).exit == 0);
  // A rotation may always be made again, and its hint says so.
  const std::string agent = world.id_of({"agents", "create", "scribe", "--name", "S", "--permissions", "read"});
  lose_answer("agents.rotate");
  const Ended lost = world.ws({"agents", "rotate", agent, "--yes"});
  CHECK(lost.exit == 12);
  CHECK(error_of(lost)["hint"] == "run `ws agents rotate " + agent + "` again: only the newest secret is valid");
  CHECK(world.ws({"agents", "rotate", agent, "--yes"}).exit == 0);
}

TEST_CASE("outcomes: an answer of no use is none, and a change that may be repeated is", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const auto answers_nothing = [&](const std::string& operation) {
    control(server,
            "POST",
            "/faults",
            R"({"operation": ")" + operation +
                R"(", "phase": "after", "nth": 1, "effect": {"status": {"status": 201, "body": {}}}})");
  };
  answers_nothing("questions.create");
  const std::vector<std::string> ask = {"ask", "When is high water?", "--json"};
  const Ended lost = person.ws(ask);
  CHECK(lost.exit == 12);
  CHECK(lost.out.empty());
  CHECK(text_at(error_of(lost), "applied") == "unknown");
  const Ended again = person.ws(ask);
  CHECK(again.exit == 0);
  CHECK(again.err.empty());
  CHECK(parse(person.ws({"questions", "list", "--json"}).out)["data"].size() == 1);

  write_text(person.home() / "a.txt", "text");
  answers_nothing("files.upload_start");
  const Json upload = error_of(person.ws({"files", "upload", "a.txt", "--json"}, person.home()));
  CHECK(upload["exit"] == 12);
  CHECK(upload["applied"] == "unknown");
}

TEST_CASE("outcomes: what got no answer is not sent again by `ws call` and `ws api` either", "[cli]") {
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"call", "sync.source_create", "-F", "name=s"},
               std::vector<std::string>{"api", "POST", "/v1/sync/sources", "-F", "name=s"},
               // The operation takes no key: a second call with the same key is another call.
               std::vector<std::string>{"api", "POST", "/v1/sync/sources", "-F", "name=s", "-H", "Idempotency-Key: k"});
  CAPTURE(words);
  const OutcomeWorld world;
  const std::size_t before = world.rows("sync_sources").size();
  world.fault("sync.source_create", 1, R"({"close_without_answer": true})", "after");
  CHECK(world.ws(words).exit == 12);
  const Ended again = world.ws(words);
  CHECK(again.exit == 12);
  CHECK(error_of(again)["hint"].get<std::string>().find("`--again`") != std::string::npos);
  CHECK(world.sends("sync.source_create").size() == 1);
  CHECK(world.rows("sync_sources").size() == before + 1);
  auto another = words;
  another.push_back("--again");
  CHECK(world.ws(another).exit == 0);
  CHECK(world.rows("sync_sources").size() == before + 2);
  // What could not be told is shown by the same again.
  CHECK(with_output(world, words, full).exit == 14);
  CHECK(world.ws(words).exit == 0);
  CHECK(world.rows("sync_sources").size() == before + 3);
}

TEST_CASE("outcomes: a share of unknown outcome is asked of those it is for, as no command here shows it", "[cli]") {
  OutcomeWorld world;
  const std::string document = world.id_of({"docs", "create", "A"});
  world.fault("docs.share", 1, R"({"reset": {}})", "after");
  for (int run = 0; run < 2; ++run) {
    const Json error =
        error_of(world.ws({"docs", "share", document, "--with", "tomas@example.com", "--permission", "edit"}));
    CHECK(error["exit"] == 12);
    CHECK(text_at(error, "hint").starts_with("ask those it is for whether their `ws docs list` shows it"));
  }
}
