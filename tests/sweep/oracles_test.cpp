#include "server-mock/sweep/oracles.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::mock::sweep;

namespace {

constexpr const char* key = "wsk_0123456789abcdefghijABCDEFGHIJklmnopqrstuvw";
constexpr const char* note_id = "019b76da-0000-7000-8000-000000000001";

Json state_of(Json documents, Json revisions = Json::array(), Json events = Json::array()) {
  return {{"tables",
           {{"documents", std::move(documents)},
            {"document_revisions", std::move(revisions)},
            {"agent_events", std::move(events)}}}};
}
Json note(const char* content, const char* id = note_id) { return {{"id", id}, {"content", content}, {"title", "N"}}; }

SentRequest sent(const char* operation, const char* method, int status, const char* fault = "") {
  return sent_request(mock::read_exchange({{"time", "2026-11-20T10:00:00Z"},
                                           {"method", method},
                                           {"path", std::string("/v1/documents/") + note_id},
                                           {"operation", operation},
                                           {"status", status},
                                           {"request_headers", Json::object()},
                                           {"fault", fault}})
                          .value());
}

Run run_of(std::vector<SentRequest> requests, const std::string& out, Json state = state_of({note("old")})) {
  Run run = {.sent = std::move(requests), .token = key};
  run.state = std::move(state);
  run.end.out = out;
  return run;
}

Reference reference_of(Run clean) {
  Reference reference;
  reference.first_state = state_of({note("old")});
  reference.ids = ids_in(*reference.first_state);
  reference.clean = std::move(clean);
  return reference;
}

Row row_of(const char* operation, const char* fault) {
  return {.id = std::string(operation) + "#1:" + fault, .operation = operation, .ordinal = 1, .fault = fault};
}

std::vector<std::string> words(const Reference& reference,
                               const Row& row,
                               const Run& run,
                               const std::optional<Run>& rerun = {}) {
  std::vector<std::string> all;
  for (const Finding& one : judge(reference, row, run, rerun)) all.push_back(one.word);
  return all;
}
using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("sweep: a refusal is hidden unless a new line tells its status, code, id, path or operation", "[sweep]") {
  const Reference reference = reference_of(run_of({sent("docs.get", "GET", 200)}, "copied at 2026-11-20T10:00:00Z\n"));
  const Row row = row_of("docs.get", "403-before");
  const auto said = [&](const std::string& more, const std::string& says = "") {
    Reference asked = reference;
    asked.says = says;
    return words(
        asked, row, run_of({sent("docs.get", "GET", 403, "sweep")}, "copied at 2027-01-01T00:00:00Z\n" + more));
  };
  CHECK(said("") == Words{"hidden"});
  CHECK(said("something went wrong\n") == Words{"hidden"});
  CHECK(said("HTTP 403\n").empty());
  CHECK(said("docs.get was refused\n").empty());
  CHECK(said(std::string("left out ") + note_id + "\n").empty());
  CHECK(said("one note is left out\n", "left out").empty());
  // A second try that was answered hides nothing.
  const Run again =
      run_of({sent("docs.get", "GET", 403, "sweep"), sent("docs.get", "GET", 200)}, reference.clean.end.out);
  CHECK(words(reference, row, again) == Words{"careless"});
}

TEST_CASE("sweep: the line of somebody else's edit must survive a success", "[sweep]") {
  const char* const theirs = "old\n\nSomebody else was here.\n";
  const Reference reference = reference_of(run_of({sent("docs.update", "PUT", 200)}, "", state_of({note("new")})));
  const Row row = row_of("docs.update", "bump-revision");
  const auto ends = [&](const char* content, int exit) {
    const Json revisions = {{{"document_id", note_id}, {"content", theirs}}};
    Run run = run_of({sent("docs.update", "PUT", 409, "sweep"), sent("docs.update", "PUT", 200)},
                     "",
                     state_of({note(content)}, revisions));
    run.end.exit = exit;
    return words(reference, row, run);
  };
  CHECK(ends("new", 0) == Words{"overwritten"});
  CHECK(ends("new\n\nSomebody else was here.\n", 0).empty());
  CHECK(ends("Somebody else was here.\nnew", 0).empty());
  CHECK(ends(theirs, 0) == Words{"lost"});
  CHECK(ends(theirs, 1).empty());
}

TEST_CASE("sweep: another output at exit 0 is told, ids, times and lines about the fault do not count", "[sweep]") {
  const Reference reference =
      reference_of(run_of({sent("docs.list", "GET", 200)}, "one 019b76da-1111-7000-8000-000000000001\ntwo in 0.3 s\n"));
  const Row row = row_of("docs.list", "empty-page");
  const auto prints = [&](const std::string& text) {
    return words(reference, row, run_of({sent("docs.list", "GET", 200, "sweep")}, text));
  };
  CHECK(prints("one 019b76da-2222-7000-8000-000000000009\ntwo in 1.25 s\n").empty());
  CHECK(prints("one 019b76da-2222-7000-8000-000000000009\n") == Words{"output"});
  CHECK(prints("one null\ntwo in 0.3 s\n") == Words{"output"});
  CHECK(prints("docs.list: asked again\none 019b76da-1111-7000-8000-000000000001\ntwo in 0.3 s\n").empty());
  Reference unstable = reference;
  unstable.is_text_stable = false;
  CHECK(words(unstable, row, run_of({sent("docs.list", "GET", 200, "sweep")}, "x")).empty());
  Reference with_file = reference;
  with_file.clean.files = {{"out/a.md", "A"}};
  Run half = run_of({sent("docs.list", "GET", 200, "sweep")}, reference.clean.end.out);
  CHECK(words(with_file, row, half) == Words{"output"});
  half.files = {{"out/a.md", "A"}};
  CHECK(words(with_file, row, half).empty());
}

TEST_CASE("sweep: the key is found in base64, in parts, in files and at the upload address", "[sweep]") {
  CHECK(shows_key(std::string("Bearer ") + key, key));
  CHECK(shows_key("key 0123456789abcdef...", key));
  CHECK_FALSE(shows_key("key 0123456789abcde...", key));
  // user:KEY, and xKEY, where it begins at another place of a group
  CHECK(shows_key("Basic dXNlcjp3c2tfMDEyMzQ1Njc4OWFiY2RlZmdoaWpBQkNERUZHSElKa2xtbm9wcXJzdHV2dw==", key));
  CHECK(shows_key("eHdza18wMTIzNDU2Nzg5YWJjZGVmZ2hpakFCQ0RFRkdISUprbG1ub3BxcnN0dXZ3", key));
  CHECK_FALSE(shows_key("bm90aGluZyBvZiBpbnRlcmVzdCBpcyBpbiBoZXJl", key));
  const Reference reference = reference_of(run_of({}, ""));
  Run run = run_of({}, "");
  run.leaked_in = {"home/debug.log"};
  CHECK(words(reference, row_of("me.get", "500-before"), run) == Words{"leaked"});
  SentRequest put = sent("upload.put", "PUT", 200);
  put.has_key = true;
  CHECK(words(reference, row_of("me.get", "500-before"), run_of({put}, "")) == Words{"leaked"});
}

TEST_CASE("sweep: a second run that creates again after lost-and-down doubles", "[sweep]") {
  const Json twin = note("new", "019b76da-0000-7000-8000-000000000002");
  const Json third = note("new", "019b76da-0000-7000-8000-000000000003");
  const Reference reference =
      reference_of(run_of({sent("docs.create", "POST", 201)}, "", state_of({note("old"), twin})));
  Run failed = run_of({sent("docs.create", "POST", 201, "sweep")}, "", state_of({note("old"), twin}));
  failed.end.exit = 1;
  const Row row = row_of("docs.create", "lost-and-down");
  CHECK(words(reference, row, failed, run_of({}, "", state_of({note("old"), twin, third}))) == Words{"doubled"});
  CHECK(words(reference, row, failed, run_of({}, "", state_of({note("old"), twin}))).empty());
}

TEST_CASE("sweep: an event under a lease is lost only if a run after the lease leaves it", "[sweep]") {
  const auto event = [](const char* status) {
    return state_of(
        {note("old")}, Json::array(), {{{"id", "019b76da-0000-7000-8000-00000000000e"}, {"status", status}}});
  };
  Reference reference = reference_of(run_of({sent("events.claim", "POST", 200)}, "", event("completed")));
  reference.first_state = event("queued");
  reference.ids = ids_in(*reference.first_state);
  const Run left = run_of({sent("events.claim", "POST", 200, "sweep")}, "", event("leased"));
  CHECK(leaves_leases(reference, left));
  const Row row = row_of("events.claim", "reset-after");
  CHECK(words(reference, row, left, run_of({}, "", event("completed"))).empty());
  CHECK(words(reference, row, left, run_of({}, "", event("queued"))) == Words{"lost"});
}

TEST_CASE("sweep: a call of its own sent beside one that has to wait is not impatient", "[sweep]") {
  const auto call = [](const char* body, std::int64_t time_ms, int status, const char* fault = "") {
    SentRequest one = sent("files.upload_start", "POST", status, fault);
    one.body = body;
    one.time_ms = time_ms;
    return one;
  };
  const Reference reference = reference_of(run_of({call("one", 0, 201), call("two", 1, 201)}, ""));
  Row row = row_of("files.upload_start", "503-before");
  row.rule = retry_after_member;
  const auto judged = [&](std::vector<SentRequest> requests) { return words(reference, row, run_of(requests, "")); };
  const SentRequest refused = call("one", 0, 503, "sweep");
  CHECK(judged({refused, call("two", 1, 201), call("one", 2500, 201)}).empty());
  CHECK(judged({refused, call("two", 1, 201), call("one", 500, 201)}) == Words{"impatient"});
  // Another body with each try: three sends of what the clean run sent twice.
  CHECK(judged({refused, call("two", 1, 201), call("one, again", 500, 201)}) == Words{"impatient"});
}

TEST_CASE("sweep: many requests in all are a storm", "[sweep]") {
  Reference reference = reference_of(run_of({sent("docs.get", "GET", 200)}, ""));
  const Row row = row_of("docs.get", "500-before");
  std::vector<SentRequest> polls(12, sent("docs.get", "GET", 200));
  CHECK(words(reference, row, run_of(polls, "")) == Words{"storm"});
  polls.pop_back();
  CHECK(words(reference, row, run_of(polls, "")).empty());
  reference.max_requests = 10;
  CHECK(words(reference, row, run_of(polls, "")) == Words{"storm"});
}

TEST_CASE("sweep: a failed run leaves no half file in place of the whole one", "[sweep]") {
  Reference reference = reference_of(run_of({sent("docs.list", "GET", 200)}, ""));
  reference.clean.files = {{"out/019b76da-1111-7000-8000-000000000001.md", "1\n2\n"}};
  const auto leaves = [&](std::map<std::string, std::string> files) {
    Run run = run_of({sent("docs.list", "GET", 403, "sweep")}, "");
    run.end.exit = 1;
    run.files = std::move(files);
    return words(reference, row_of("docs.list", "403-before"), run);
  };
  CHECK(leaves({{"out/019b76da-2222-7000-8000-000000000002.md", "1\n"}}) == Words{"output"});
  CHECK(leaves({{"out/019b76da-2222-7000-8000-000000000002.md", "1\n2\n"}}).empty());
  CHECK(leaves({}).empty());
  CHECK(leaves({{"out/019b76da-2222-7000-8000-000000000002.md.part", "1\n"}}).empty());
}

TEST_CASE("sweep: a worker that fails gives its event back, if the service can be told", "[sweep]") {
  const std::string event_id = "019b76da-0000-7000-8000-00000000000e";
  SentRequest claim = sent("events.claim", "POST", 200);
  claim.response_body = Json{{"event", {{"id", event_id}}}};
  SentRequest given_back = sent("events.fail", "POST", 200);
  given_back.path = "/v1/agent-events/" + event_id + ":fail";
  const SentRequest reply = sent("comments.reply", "POST", 403, "sweep");
  const Reference reference = reference_of(run_of({claim, sent("comments.reply", "POST", 201)}, ""));
  const auto fails = [&](std::vector<SentRequest> requests, const char* operation, const char* fault) {
    Run run = run_of(std::move(requests), "");
    run.end.exit = 1;
    return words(reference, row_of(operation, fault), run);
  };
  CHECK(fails({claim, reply}, "comments.reply", "403-before") == Words{"stuck"});
  CHECK(fails({claim, reply, given_back}, "comments.reply", "403-before").empty());
  CHECK(fails({claim, reply}, "comments.reply", "lost-and-down").empty());
  CHECK(fails({claim, reply}, "comments.reply", "key-expired").empty());
  CHECK(fails({claim, reply}, "comments.reply", "outage").empty());
  CHECK(fails({sent("events.claim", "POST", 0, "sweep")}, "events.claim", "reset-after").empty());
}

TEST_CASE("sweep: claims without a pause while no event is there are a storm", "[sweep]") {
  const Reference reference = reference_of(run_of({sent("events.claim", "POST", 200)}, ""));
  const auto claims = [&](std::size_t count) {
    const std::vector<SentRequest> all(count, sent("events.claim", "POST", 200, "sweep"));
    return words(reference, row_of("events.claim", "queue-empty"), run_of(all, ""));
  };
  CHECK(claims(11) == Words{"storm"});
  CHECK(claims(10).empty());
}

TEST_CASE("sweep: an operation that failed after its 202 is hidden, unless the output tells its state", "[sweep]") {
  const auto ends = [](const std::string& out) {
    const Reference reference = reference_of(run_of({sent("files.organize", "POST", 202)}, out));
    return words(reference,
                 row_of("files.organize", "operation-fails"),
                 run_of({sent("files.organize", "POST", 202, "sweep")}, out));
  };
  CHECK(ends("organized\n") == Words{"hidden"});
  CHECK(ends("the operation is queued\n").empty());
}

TEST_CASE("sweep: secrets of agents and credentials differ from run to run", "[sweep]") {
  const std::set<std::string> none;
  CHECK(TextBinder(none).bind("secret wsk_abcDEF-123_x.") == TextBinder(none).bind("secret wsk_other."));
}

TEST_CASE("sweep: a change is lost if the object is as the service answered it first", "[sweep]") {
  const char* const made_id = "019b76da-0000-7000-8000-000000000002";
  SentRequest create = sent("docs.create", "POST", 201);
  create.response_body = note("open", made_id);
  SentRequest update = sent("docs.update", "PUT", 403, "sweep");
  const auto ends = [&](const char* content, const char* changed) {
    update.path = std::string("/v1/documents/") + changed;
    const auto state = [&](const char* made) { return state_of({note("old"), note(made, made_id)}); };
    const Reference reference = reference_of(run_of({create, sent("docs.update", "PUT", 200)}, "", state("closed")));
    return words(
        reference, row_of("docs.update", "403-before"), run_of({create, update}, "docs.update\n", state(content)));
  };
  CHECK(ends("open", made_id) == Words{"lost"});
  CHECK(ends("open", note_id) == Words{"wrong"});
  CHECK(ends("broken", made_id) == Words{"wrong"});
  CHECK(ends("closed", made_id).empty());
}

TEST_CASE("sweep: work that fails after its event was completed is lost, unless a second run does it", "[sweep]") {
  const Json reply = note("reply", "019b76da-0000-7000-8000-000000000002");
  const Reference reference = reference_of(run_of({}, "", state_of({note("old"), reply})));
  const SentRequest claim = sent("events.claim", "POST", 200);
  SentRequest complete = sent("events.complete", "POST", 200);
  complete.path = "/v1/agent-events/e:complete";
  const SentRequest refused = sent("comments.reply", "POST", 403, "sweep");
  const auto ends = [&](std::vector<SentRequest> requests, Json left) {
    Run run = run_of(std::move(requests), "");
    run.end.exit = 1;
    return words(reference, row_of("comments.reply", "403-before"), run, run_of({}, "", std::move(left)));
  };
  CHECK(ends({claim, complete, refused}, state_of({note("old")})) == Words{"lost"});
  CHECK(ends({claim, complete, refused}, state_of({note("old"), reply})).empty());
  CHECK(ends({claim, complete, claim, refused, complete}, state_of({note("old")})) == Words{"stuck"});
}
