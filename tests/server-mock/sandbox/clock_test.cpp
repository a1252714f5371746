// Advancing the clock in steps: what expires, in which order, and pending claims meanwhile.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/server-mock/running.hpp"

namespace ws::mock::test {
namespace {

using namespace std::chrono_literals;
using ws::test::RawConnection;

/// "10:00:35 lease", of each thing that has fired.
std::vector<std::string> fired(const Json& answer) {
  std::vector<std::string> lines;
  for (const Json& one : answer.at("fired")) {
    const auto time = one.at("time").get<std::string>();
    lines.push_back(time.substr(11, 8) + " " + one.at("kind").get<std::string>());
  }
  return lines;
}

Json claimed(RawConnection& connection) {
  const auto answer = connection.read();
  REQUIRE(answer);
  return parse(*answer).at("event");
}

bool is_silent(RawConnection& connection) { return !connection.read(ws::test::AnswerTo::get, 20ms); }

}  // namespace

TEST_CASE("clock: due changes fire in order, each at its own time", "[server-mock]") {
  Running mock;
  mock.mention();
  RawConnection worker(mock.port());
  worker.send(mock.claim(0));  // a lease of 30 s
  const Json event = claimed(worker);
  mock.send("POST", "/_mock/keys", {{"expires_in", 40}}, 201);
  RawRequest keyed = mock.request("POST", "/v1/projects", {{"title", "P"}}, mock.built_in().token);
  keyed.headers = {"Idempotency-Key: k1"};
  REQUIRE(ws::test::ask(mock.port(), keyed).status == 201);
  const Json login = mock.send("POST",
                               "/v1/auth/device-authorizations",
                               {{"client_name", "c"}, {"cli_version", "1"}, {"scopes", {"documents:read"}}},
                               201);
  const Json first = mock.advance(60);
  CHECK(fired(first) == std::vector<std::string>{"10:00:30 lease", "10:00:30 event", "10:00:40 key"});
  CHECK(first.at("fired").at(0).at("id") == event.at("id"));
  CHECK(first.at("now") == "2026-11-20T10:01:00.000Z");
  const Json rest = mock.advance(86'400);
  CHECK(fired(rest) == std::vector<std::string>{"10:15:00 device_code", "10:00:00 idempotency_record"});
  CHECK(rest.at("fired").at(0).at("user_code") == login.at("user_code"));
  CHECK(rest.at("fired").at(1).at("id") == "k1");
  CHECK(mock.advance(86'400).at("fired").empty());
}

TEST_CASE("clock: uploads, plans and phases of organization runs expire too", "[server-mock]") {
  Running mock;
  const auto begin_upload = [&] {
    return mock.send("POST", "/v1/files/uploads", {{"file_name", "a.md"}, {"size_bytes", 5}}, 201);
  };
  const Json upload = begin_upload();
  const std::string url = upload.at("upload_url");
  REQUIRE(ws::test::ask(mock.port(),
                        {.method = "PUT",
                         .target = url.substr(url.find("/uploads/")),
                         .json = "# One",
                         .headers = {"Content-Type: application/octet-stream"}})
              .status == 200);
  const Json asset = mock.send("POST",
                               "/v1/files/uploads:finalize",
                               {{"upload_id", upload.at("upload_id")},
                                {"blob_name", upload.at("blob_name")},
                                {"file_name", "a.md"},
                                {"size_bytes", 5}},
                               201);
  const Json left = begin_upload();
  const Json source = mock.send("POST", "/v1/sync/sources", {{"name", "S"}}, 201);
  const Json plan = mock.send("POST",
                              "/v1/sync/plan",
                              {{"source_id", source.at("id")},
                               {"base_revision", 0},
                               {"client_id", "c"},
                               {"complete", true},
                               {"entries", Json::array()}},
                              200);
  const std::string path = asset.at("links").at("organize");
  const Json run = mock.send("POST", path, {{"instruction", "By headings"}}, 202);
  const Json answer = mock.advance(7200);
  const std::vector<std::string> lines = fired(answer);
  REQUIRE(lines.size() > 3);
  CHECK(lines.front() == "10:00:05 organization");
  CHECK(answer.at("fired").at(0).at("id") == run.at("operation_id"));
  CHECK(std::vector<std::string>(lines.end() - 2, lines.end()) ==
        std::vector<std::string>{"11:00:00 plan", "11:00:00 upload"});
  CHECK(answer.at("fired").at(lines.size() - 2).at("id") == plan.at("plan_id"));
  CHECK(answer.at("fired").back().at("id") == left.at("upload_id"));
  const Json done = mock.send("GET", "/v1/file-operations/" + run.at("operation_id").get<std::string>(), nullptr, 200);
  CHECK(done.at("status") == "succeeded");
}

TEST_CASE("clock: a pending claim gets an event at its due time, not at the end of the advance", "[server-mock]") {
  Running mock;
  mock.mention();
  RawConnection worker(mock.port());
  worker.send(mock.claim(0));
  const Json held = claimed(worker);
  RawConnection waiting(mock.port());
  mock.advance(20);
  waiting.send(mock.claim(30));
  CHECK(is_silent(waiting));
  const Json answer = mock.advance(600);
  const Json again = claimed(waiting);
  CHECK(again.at("id") == held.at("id"));
  CHECK(again.at("attempt") == 1);
  CHECK(again.at("lease_expires_at") == "2026-11-20T10:01:00.000Z");  // 30 s after 10:00:30
  CHECK(fired(answer) ==
        std::vector<std::string>{"10:00:30 lease", "10:00:30 event", "10:01:00 lease", "10:01:00 event"});
  CHECK(answer.at("now") == "2026-11-20T10:10:20.000Z");
}

TEST_CASE("clock: a pending claim without an event times out, and the advance reports it", "[server-mock]") {
  Running mock;
  RawConnection waiting(mock.port());
  RawRequest claim =
      mock.request("POST", "/v1/agent-events:claim", {{"worker_id", "w"}, {"wait_seconds", 10}}, mock.built_in().token);
  claim.headers = {"X-Request-Id: waits"};
  waiting.send(ws::test::render(claim));
  CHECK(is_silent(waiting));
  const Json answer = mock.advance(3600);
  CHECK(fired(answer) == std::vector<std::string>{"10:00:10 waiting_claim"});
  CHECK(answer.at("fired").at(0).at("id") == "waits");
  CHECK(claimed(waiting).is_null());
}

TEST_CASE("clock: a question that is answered later is answered at its time", "[server-mock]") {
  Running mock;
  mock.send("PATCH", "/_mock/assumptions", {{"question_async", "yes"}}, 200);
  const Json asked =
      mock.send("POST", "/v1/questions", {{"prompt", "Where is the harbour?"}, {"sources", {"workspace"}}}, 200);
  CHECK(fired(mock.advance(60)) == std::vector<std::string>{"10:00:02 question"});
  const Json answered = mock.send("GET", "/v1/questions/" + asked.at("id").get<std::string>(), nullptr, 200);
  CHECK(answered.at("status") == "completed");
}

TEST_CASE("clock: every accepted form sets it", "[server-mock]") {
  Wire wire;
  const auto [said, text] = GENERATE(table<Json, std::string>({
      {Json{{"clock", "real"}}, "real"},
      {Json{{"clock", "frozen:2026-11-20T12:00:00+02:00"}}, "frozen:2026-11-20T10:00:00.000Z"},
      {Json{{"clock", "offset:+2h"}}, "offset:+2h"},
      {Json{{"clock", "offset:90s"}}, "offset:+90s"},
      {Json{{"frozen", "2026-01-01T00:00:00Z"}}, "frozen:2026-01-01T00:00:00.000Z"},
      {Json{{"frozen", true}}, "frozen:2026-11-20T10:00:00.000Z"},
      {Json{{"mode", "frozen"}, {"time", "2026-01-01T00:00:00Z"}}, "frozen:2026-01-01T00:00:00.000Z"},
      {Json{{"offset", "-1h"}}, "offset:-1h"},
      {Json{{"offset", 120}}, "offset:+2m"},
      {Json{{"real", true}}, "real"},
      {Json("offset:+250ms"), "offset:+250ms"},
  }));
  CAPTURE(said.dump());
  CHECK(wire.control("PUT", "/clock", said).at("clock") == text);
}

TEST_CASE("clock: it advances by seconds, whole or not, or by a duration", "[server-mock]") {
  Wire wire;
  CHECK(wire.control("POST", "/clock:advance", {{"seconds", 0.5}}).at("now") == "2026-11-20T10:00:00.500Z");
  CHECK(wire.control("POST", "/clock:advance", {{"by", "2h"}}).at("now") == "2026-11-20T12:00:00.500Z");
  for (const Json& bad : {Json(nullptr), Json{{"seconds", "5"}}, Json{{"seconds", -1}}, Json{{"by", "soon"}}}) {
    wire.control("POST", "/clock:advance", bad, 422);
  }
  for (const Json& bad : {Json{{"seconds", 6'324'480'000}}, Json{{"by", "1h"}, {"seconds", 1}}}) {
    CHECK(wire.control("POST", "/clock:advance", bad, 422).at("detail").at(0).at("msg") ==
          "Give seconds (0 to 3162240000) or by (\"2h\"), not both");
  }
}

}  // namespace ws::mock::test
