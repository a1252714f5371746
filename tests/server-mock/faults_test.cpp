// Every effect of fault rules, in both phases, over real sockets: the response, and the state afterwards.
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/running.hpp"

namespace ws::mock::test {
namespace {

using namespace std::chrono_literals;
using ws::test::RawConnection;

class Faulty : public Running {
 public:
  using Running::Running;

  std::string add(const std::string& operation, const Json& effect, const Json& more = Json::object()) {
    Json rule = {{"operation", operation}, {"effect", effect}};
    rule.update(more);
    return send("POST", "/_mock/faults", rule, 201).at("id");
  }
  void clear() { CHECK(ws::test::ask(port(), {.method = "DELETE", .target = "/_mock/faults"}).status == 204); }

  RawRequest create(const std::string& key = "") const {
    RawRequest made = request("POST", "/v1/documents", {{"title", "made"}, {"content", "x"}}, built_in().token);
    if (!key.empty()) made.headers.push_back("Idempotency-Key: " + key);
    return made;
  }
  RawAnswer ask(const RawRequest& request) const { return ws::test::ask(port(), request); }
  std::size_t documents_made() {
    std::size_t made = 0;
    const Json list = send("GET", "/v1/documents", nullptr, 200);
    for (const Json& one : list.at("data")) made += one.at("title") == "made";
    return made;
  }
  /// The last entry of the journal.
  Json last() { return send("GET", "/_mock/requests", nullptr, 200).at("data").back(); }
};

const Json before = {{"phase", "before"}};
const Json after = {{"phase", "after"}};

/// Sends a request and returns what happens on the connection: a response, its end, or nothing.
std::optional<RawAnswer> answer_to(RawConnection& connection,
                                   const RawRequest& request,
                                   std::chrono::milliseconds wait) {
  connection.send(ws::test::render(request));
  return connection.read(ws::test::AnswerTo::get, wait);
}

}  // namespace

TEST_CASE("faults: a status stands in place of the answer, before nothing was made, after it was", "[server-mock]") {
  Faulty mock;
  const std::string id = mock.add("docs.create", {{"status", 503}, {"retry_after", 2}}, before);
  const RawAnswer refused = mock.ask(mock.create());
  CHECK(refused.status == 503);
  CHECK(refused.header("retry-after") == "2");
  CHECK(parse(refused).at("code") == "unavailable");
  CHECK_FALSE(refused.header("x-request-id").empty());
  CHECK(refused.header("x-mock-operation") == "docs.create");
  CHECK(mock.last().at("fault") == id);
  CHECK(mock.last().at("status") == 503);
  CHECK(mock.documents_made() == 0);
  CHECK(mock.last().at("fault").is_null());
  mock.clear();
  mock.add("docs.create", {{"status", {{"status", 500}, {"headers", {{"X-Proxy", "p"}}}, {"body", "<html>"}}}}, after);
  const RawAnswer lost = mock.ask(mock.create());
  CHECK(lost.status == 500);
  CHECK(lost.body == "<html>");
  CHECK(lost.header("x-proxy") == "p");
  CHECK(mock.documents_made() == 1);
}

TEST_CASE("faults: retry_after by itself is 429 rate_limited", "[server-mock]") {
  Faulty mock;
  mock.add("me.get", {{"retry_after", 9}}, {{"nth", 1}});
  const RawAnswer answer = mock.ask(mock.request("GET", "/v1/me", nullptr, mock.built_in().token));
  CHECK(answer.status == 429);
  CHECK(answer.header("retry-after") == "9");
  CHECK(parse(answer).at("code") == "rate_limited");
  CHECK(mock.ask(mock.request("GET", "/v1/me", nullptr, mock.built_in().token)).status == 200);
}

TEST_CASE("faults: an answer that never comes - hang, reset, close - in both phases", "[server-mock]") {
  const std::string effect = GENERATE("hang", "reset", "close_without_answer");
  const bool is_after = GENERATE(false, true);
  CAPTURE(effect, is_after);
  Faulty mock;
  mock.add("docs.create", {{effect, true}}, is_after ? after : before);
  {
    RawConnection connection(mock.port());
    CHECK_FALSE(answer_to(connection, mock.create(), effect == "hang" ? 50ms : 5000ms));
    if (effect != "hang") CHECK(connection.ends());
  }
  CHECK(mock.documents_made() == (is_after ? 1 : 0));
  const Json entry = mock.send("GET", "/_mock/requests?operation=docs.create", nullptr, 200).at("data").at(0);
  CHECK(entry.at("fault") == "fault_1");
  CHECK(entry.at("status") == (is_after ? Json(201) : Json(nullptr)));
}

TEST_CASE("faults: an answer that arrives broken - cut, no JSON, of another length - in both phases", "[server-mock]") {
  const Json effect = GENERATE(Json{{"truncate_at", 20}}, Json{{"bad_json", true}}, Json{{"wrong_length", true}});
  const bool is_after = GENERATE(false, true);
  CAPTURE(effect.dump(), is_after);
  Faulty mock;
  mock.add("docs.create", effect, is_after ? after : before);
  RawConnection connection(mock.port());
  const auto answer = answer_to(connection, mock.create(), 5000ms);
  if (effect.contains("bad_json")) {
    REQUIRE(answer);
    CHECK(answer->status == 201);
    CHECK_FALSE(parse_bounded(answer->body));
  } else {
    CHECK_FALSE(answer);
    CHECK(connection.ends());
  }
  CHECK(mock.documents_made() == (is_after ? 1 : 0));
}

TEST_CASE("faults: dribble and delay bring the whole answer, late", "[server-mock]") {
  const Json effect = GENERATE(Json{{"dribble", {{"bytes", 100}, {"every_ms", 5}}}}, Json{{"delay_ms", 40}});
  const bool is_after = GENERATE(false, true);
  CAPTURE(effect.dump(), is_after);
  Faulty mock;
  mock.add("docs.create", effect, is_after ? after : before);
  const auto start = std::chrono::steady_clock::now();
  CHECK(mock.ask(mock.create()).status == 201);
  CHECK(std::chrono::steady_clock::now() - start >= 30ms);
  CHECK(mock.documents_made() == 1);
}

TEST_CASE("faults: hashes in answer and fields are wrong, and nothing else", "[server-mock]") {
  Faulty mock;
  const Json made = parse(mock.ask(mock.create()));
  const std::string path = "/v1/documents/" + made.at("id").get<std::string>();
  mock.add("docs.get", {{"bad_hash", true}});
  Json seen = mock.send("GET", path, nullptr, 200);
  CHECK(seen.at("content_sha256") != made.at("content_sha256"));
  seen["content_sha256"] = made.at("content_sha256");
  CHECK(seen == made);
}

TEST_CASE("faults: expire_key ends this call before, the next one after", "[server-mock]") {
  Faulty mock;
  const auto new_key = [&] {
    return mock.send("POST", "/_mock/keys", {{"user_id", mock.built_in().user_id}}, 201)
        .at("secret")
        .get<std::string>();
  };
  const auto who = [&](const std::string& key) { return mock.ask(mock.request("GET", "/v1/me", nullptr, key)); };
  mock.add("me.get", {{"expire_key", true}}, {{"nth", 1}});
  mock.add("me.get", {{"expire_key", true}}, {{"nth", 2}, {"phase", "after"}});
  const std::string first = new_key();
  CHECK(parse(who(first)).at("code") == "expired_credential");
  const std::string second = new_key();
  CHECK(who(second).status == 200);
  CHECK(parse(who(second)).at("code") == "expired_credential");
}

TEST_CASE("faults: revoke_key is for good, a stall is silence before the end", "[server-mock]") {
  Faulty mock;
  mock.add("me.get", {{"stall_ms", 50}, {"close_without_answer", true}}, {{"nth", 1}});
  mock.add("me.get", {{"revoke_key", true}}, {{"nth", 2}});
  const auto begin = std::chrono::steady_clock::now();
  {
    RawConnection connection(mock.port());
    CHECK_FALSE(answer_to(connection, mock.request("GET", "/v1/me", nullptr, mock.built_in().token), 5000ms));
  }
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(50));
  for (int i = 0; i < 2; ++i) {
    CHECK(parse(mock.ask(mock.request("GET", "/v1/me", nullptr, mock.built_in().token))).at("code") ==
          "revoked_credential");
  }
}

TEST_CASE("faults: an empty page leads on to its own items, a repeated page is the first one", "[server-mock]") {
  Faulty mock;
  const Json first = mock.send("GET", "/v1/documents?limit=3", nullptr, 200);
  const std::string cursor = first.at("next_cursor");
  const Json second = mock.send("GET", "/v1/documents?limit=3&cursor=" + cursor, nullptr, 200);
  mock.add("docs.list", {{"empty_page", true}}, {{"times", 1}});
  for (const Json& page : {first, second}) {
    const std::string target = "/v1/documents?limit=3" + (page == first ? "" : "&cursor=" + cursor);
    const Json empty = mock.send("GET", target, nullptr, 200);
    CHECK(empty.at("data").empty());
    CHECK(
        mock.send("GET", "/v1/documents?limit=3&cursor=" + empty.at("next_cursor").get<std::string>(), nullptr, 200) ==
        page);
    mock.clear();
    mock.add("docs.list", {{"empty_page", true}}, {{"times", 1}});
  }
  mock.clear();
  mock.add("docs.list", {{"repeat_page", true}}, {{"times", 1}});
  CHECK(mock.send("GET", "/v1/documents?limit=3&cursor=" + cursor, nullptr, 200) == first);
  CHECK(mock.send("GET", "/v1/documents?limit=3&cursor=" + cursor, nullptr, 200) == second);
}

TEST_CASE("faults: lose_lease takes the event back from who holds or claims it", "[server-mock]") {
  Faulty mock;
  mock.mention();
  mock.add("events.complete", {{"lose_lease", true}}, {{"nth", 1}});
  const auto claim = [&] { return mock.send("POST", "/v1/agent-events:claim", {{"worker_id", "w"}}, 200).at("event"); };
  const auto complete = [&](const Json& event, int status) {
    mock.send("POST",
              fmt::format("/v1/agent-events/{}:complete", event.at("id").get<std::string>()),
              {{"lease_token", event.at("lease_token")}, {"result", Json::object()}},
              status);
  };
  complete(claim(), 409);
  mock.advance(5);
  mock.add("events.claim", {{"lose_lease", true}}, {{"nth", 1}});
  const Json lost = claim();
  CHECK(lost.at("attempt") == 1);  // a lost lease is no attempt
  complete(lost, 409);
  mock.advance(10);
  complete(claim(), 200);
}

TEST_CASE("faults: bump_revision is somebody else's edit, before or after", "[server-mock]") {
  Faulty mock;
  const Json made = mock.send(
      "POST", "/v1/documents", {{"title", "T"}, {"content", "x"}, {"project_id", mock.built_in().project_id}}, 201);
  const std::string path = "/v1/documents/" + made.at("id").get<std::string>();
  mock.add("docs.update", {{"bump_revision", true}}, {{"nth", 1}});
  mock.add("docs.update", {{"bump_revision", true}}, {{"nth", 2}, {"phase", "after"}});
  const auto update = [&](int revision, int status) {
    return mock.send("PUT", path, {{"content", "mine"}, {"expected_content_revision", revision}}, status);
  };
  CHECK(update(1, 409).at("current_content_revision") == 2);
  const Json now = mock.send("GET", path, nullptr, 200);
  CHECK(now.at("updated_by").at("id") == mock.built_in().other_user_id);
  CHECK(now.at("content").get<std::string>().starts_with("x"));
  CHECK(update(2, 200).at("content_revision") == 3);
  CHECK(mock.send("GET", path, nullptr, 200).at("content_revision") == 4);
}

TEST_CASE("faults: remove_member takes the key's owner out of the Workspace", "[server-mock]") {
  Faulty mock;
  mock.add("docs.create", {{"remove_member", true}}, {{"nth", 1}});
  CHECK(mock.ask(mock.create()).status == 403);
  CHECK(mock.last().at("fault") == "fault_1");
  CHECK(mock.ask(mock.create()).status == 403);
}

TEST_CASE("faults: small_pages makes pages of two items that lead through the whole list", "[server-mock]") {
  Faulty mock;
  const Json whole = mock.send("GET", "/v1/documents?limit=100", nullptr, 200).at("data");
  REQUIRE(whole.size() > 4);
  mock.add("docs.list", {{"small_pages", true}});
  Json all = Json::array();
  std::string cursor;
  do {
    const Json page =
        mock.send("GET", "/v1/documents?limit=50" + (cursor.empty() ? "" : "&cursor=" + cursor), nullptr, 200);
    CHECK(page.at("data").size() <= 2);
    for (const Json& one : page.at("data")) all.push_back(one);
    cursor = page.at("next_cursor").is_null() ? "" : page.at("next_cursor").get<std::string>();
  } while (!cursor.empty());
  CHECK(all == whole);
}

TEST_CASE("faults: time_offset writes the same moments another way, and keeps what the call did", "[server-mock]") {
  Faulty mock;
  mock.add("docs.create", {{"time_offset", "-05:00"}}, {{"nth", 1}, {"phase", "after"}});
  const Json made = mock.send("POST", "/v1/documents", {{"title", "T"}, {"content", "at 2026-11-20T05:00:00Z"}}, 201);
  const Json again = mock.send("GET", "/v1/documents/" + made.at("id").get<std::string>(), nullptr, 200);
  const std::string moved = made.at("updated_at");
  CHECK(moved.substr(moved.size() - 6) == "-05:00");
  CHECK(parse_rfc3339(moved).value() == parse_rfc3339(again.at("updated_at").get<std::string>()).value());
  CHECK(made.at("content") == again.at("content"));
  mock.send("POST", "/_mock/faults", {{"operation", "docs.create"}, {"effect", {{"time_offset", "5 hours"}}}}, 422);
}

TEST_CASE("faults: a rule with for_ms ends so long after it fired first, by the sandbox's clock", "[server-mock]") {
  Faulty mock;
  mock.send("PUT", "/_mock/clock", {{"clock", "frozen:2026-11-20T05:00:00Z"}}, 200);
  mock.add("me.get", {{"status", 503}}, {{"nth", 2}, {"for_ms", 2000}});
  const auto ask = [&mock] { return mock.ask(mock.request("GET", "/v1/me", nullptr, mock.built_in().token)).status; };
  CHECK(ask() == 200);
  CHECK(ask() == 503);
  CHECK(ask() == 503);
  mock.send("PUT", "/_mock/clock", {{"clock", "frozen:2026-11-20T05:00:03Z"}}, 200);
  CHECK(ask() == 200);
}

TEST_CASE("faults: what a 202 began stays as it is for a while, or fails", "[server-mock]") {
  Faulty mock;
  mock.send("PUT", "/_mock/clock", {{"clock", "frozen:2026-11-20T05:00:00Z"}}, 200);
  Json upload = {{"file_name", "notes.md"}, {"mime_type", "text/markdown"}, {"size_bytes", 5}};
  const Json started = mock.send("POST", "/v1/files/uploads", upload, 201);
  const auto url = started.at("upload_url").get<std::string>();
  CHECK(mock.ask({.method = "PUT",
                  .target = url.substr(url.find("/uploads/")),
                  .json = "# One",
                  .headers = {"Content-Type: text/markdown"}})
            .status == 200);
  upload["upload_id"] = started.at("upload_id");
  upload["blob_name"] = started.at("blob_name");
  const std::string file = mock.send("POST", "/v1/files/uploads:finalize", upload, 201).at("id");
  const auto begin = [&mock, &file](const Json& effect) {
    mock.clear();
    mock.add("files.organize", effect, after);
    const Json begun = mock.send("POST", "/v1/files/" + file + ":organize", {{"instruction", "i"}}, 202);
    return "/v1/file-operations/" + begun.at("operation_id").get<std::string>();
  };
  const auto status = [&mock](const std::string& path) { return mock.send("GET", path, nullptr, 200).at("status"); };
  const std::string slow = begin({{"slow_operation_ms", 3000}});
  for (int i = 0; i < 6; ++i) CHECK(status(slow) == "queued");
  mock.send("PUT", "/_mock/clock", {{"clock", "frozen:2026-11-20T05:00:04Z"}}, 200);
  CHECK(status(slow) == "running");
  CHECK(status(begin({{"fail_operation", true}})) == "failed");
}

TEST_CASE("faults: a damaged upload has other bytes, with their own hash, and a cut one has the first half",
          "[server-mock]") {
  const std::string phase = GENERATE("before", "after");
  CAPTURE(phase);
  Faulty mock;
  Json body = {{"file_name", "a.bin"}, {"size_bytes", 6}};
  const Json begun = mock.send("POST", "/v1/files/uploads", body, 201);
  const auto url = begun.at("upload_url").get<std::string>();
  const auto put = [&](const std::string& effect) {
    mock.clear();
    if (!effect.empty()) mock.add("upload.put", {{effect, true}}, {{"phase", phase}});
    const RawRequest request = {.method = "PUT",
                                .target = url.substr(url.find("/uploads/")),
                                .json = "abcdef",
                                .headers = {"Content-Type: application/octet-stream"}};
    CHECK(mock.ask(request).status == 200);
  };
  body["upload_id"] = begun.at("upload_id");
  body["blob_name"] = begun.at("blob_name");
  put("cut_upload");
  const Json cut = mock.send("GET", "/_mock/state", nullptr, 200).at("tables").at("uploads").at(0);
  CHECK(cut.at("received_bytes") == 3);
  CHECK(cut.at("received_sha256") == Sha256::of("abc").hex());
  CHECK(mock.send("POST", "/v1/files/uploads:finalize", body, 409).at("code") == "upload_incomplete");
  const std::string effect = GENERATE("damage_upload", "");
  put(effect);
  const Json asset = mock.send("POST", "/v1/files/uploads:finalize", body, 201);
  const std::string content = asset.at("links").at("content");
  const std::string stored = mock.ask(mock.request("GET", content, nullptr, mock.built_in().token)).body;
  CHECK(stored == (effect.empty() ? "abcdef" : "`bcdef"));
  CHECK(asset.at("content_sha256") == Sha256::of(stored).hex());
  // What a fault left is a state like any other.
  mock.send("PUT", "/_mock/state", mock.send("GET", "/_mock/state", nullptr, 200), 200);
}

TEST_CASE("faults: with then_down nothing answers until the rule is gone", "[server-mock]") {
  Faulty mock;
  mock.add("docs.create", {{"reset", true}, {"then_down", true}}, {{"nth", 1}, {"phase", "after"}});
  CHECK(mock.ask(mock.request("GET", "/v1/me", nullptr, mock.built_in().token)).status == 200);
  for (const RawRequest& one :
       {mock.create(), mock.create(), mock.request("GET", "/v1/me", nullptr, mock.built_in().token)}) {
    RawConnection connection(mock.port());
    CHECK_FALSE(answer_to(connection, one, 5000ms));
  }
  mock.clear();
  CHECK(mock.documents_made() == 1);
}

TEST_CASE("faults: bump_revision makes a conflict of what was pushed", "[server-mock]") {
  Faulty mock;
  const Json made = mock.send(
      "POST", "/v1/documents", {{"title", "T"}, {"content", "x"}, {"project_id", mock.built_in().project_id}}, 201);
  const Json source =
      mock.send("POST", "/v1/sync/sources", {{"name", "s"}, {"project_id", mock.built_in().project_id}}, 201);
  const Json pulled =
      mock.send("GET", "/v1/sync/sources/" + source.at("id").get<std::string>() + "/pull", nullptr, 200);
  std::string path;
  for (const Json& item : pulled.at("data")) {
    if (item.at("document_id") == made.at("id")) path = item.at("path");
  }
  const Json plan = mock.send("POST",
                              "/v1/sync/plan",
                              {{"source_id", source.at("id")},
                               {"base_revision", pulled.at("revision")},
                               {"client_id", "c"},
                               {"complete", false},
                               {"entries", Json::array()}},
                              200);
  const Json item = {{"path", path},
                     {"action", "push_update"},
                     {"document_id", made.at("id")},
                     {"content", ""},
                     {"content_sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                     {"expected_content_revision", 1},
                     {"previous_path", nullptr}};
  const Json push =
      mock.send("POST",
                "/v1/sync/push",
                {{"source_id", source.at("id")}, {"plan_id", plan.at("plan_id")}, {"items", Json::array({item})}},
                200);
  mock.add("sync.commit", {{"bump_revision", true}});
  const Json commit = mock.send("POST",
                                "/v1/sync/commit",
                                {{"source_id", source.at("id")},
                                 {"plan_id", plan.at("plan_id")},
                                 {"push_ids", {push.at("push_id")}},
                                 {"expected_revision", plan.at("revision")},
                                 {"client_id", "c"}},
                                200);
  CHECK(commit.at("status") == "partly_conflicted");
  CHECK(commit.at("conflicts").at(0).at("path") == path);
}

TEST_CASE("faults: the PUT of an upload is upload.put, lost before it came or after", "[server-mock]") {
  Faulty mock;
  const bool is_after = GENERATE(false, true);
  const Json effect = GENERATE(Json{{"status", 503}}, Json{{"reset", true}}, Json{{"bad_json", true}});
  CAPTURE(is_after, effect.dump());
  const Json begun = mock.send("POST", "/v1/files/uploads", {{"file_name", "a.txt"}, {"size_bytes", 5}}, 201);
  const auto url = begun.at("upload_url").get<std::string>();
  const RawRequest put = {.method = "PUT",
                          .target = url.substr(url.find("/uploads/")),
                          .json = "12345",
                          .headers = {"Content-Type: application/octet-stream"}};
  mock.add("upload.put", effect, {{"nth", 1}, {"phase", is_after ? "after" : "before"}});
  {
    RawConnection connection(mock.port());
    const auto answer = answer_to(connection, put, 5000ms);
    if (effect.contains("status")) CHECK(answer.value().status == 503);
    if (effect.contains("reset")) CHECK_FALSE(answer);
  }
  const Json entry = mock.send("GET", "/_mock/requests?operation=upload.put", nullptr, 200).at("data").at(0);
  CHECK(entry.at("fault") == "fault_1");
  const Json finalize = {{"upload_id", begun.at("upload_id")},
                         {"blob_name", begun.at("blob_name")},
                         {"file_name", "a.txt"},
                         {"size_bytes", 5}};
  if (!is_after) {
    CHECK(mock.send("POST", "/v1/files/uploads:finalize", finalize, 409).at("code") == "upload_incomplete");
    CHECK(mock.ask(put).status == 200);
  }
  const Json asset = mock.send("POST", "/v1/files/uploads:finalize", finalize, 201);
  mock.add("files.content", {{"bad_hash", true}});
  const RawAnswer content = mock.ask(mock.request(
      "GET", "/v1/files/" + asset.at("id").get<std::string>() + "/content", nullptr, mock.built_in().token));
  CHECK(content.body == "12345");
  CHECK(content.header("etag").size() == 66);
  CHECK(content.header("etag") != "\"" + asset.at("content_sha256").get<std::string>() + "\"");
}

TEST_CASE("faults: while a keyed create is held up, a second with its key is told so", "[server-mock]") {
  Faulty mock;
  mock.add("docs.create", {{"delay_ms", 300}}, {{"nth", 1}});
  RawConnection first(mock.port());
  first.send(ws::test::render(mock.create("k")));
  RawAnswer second;
  do {
    second = mock.ask(mock.create("other"));  // answered, so the first has been seen before the next
    second = mock.ask(mock.create("k"));
  } while (second.status == 201);
  CHECK(second.status == 409);
  CHECK(parse(second).at("code") == "idempotency_in_flight");
  CHECK(second.header("retry-after") == "1");
  const auto answer = first.read();
  REQUIRE(answer);
  CHECK(answer->status == 201);
  const RawAnswer replayed = mock.ask(mock.create("k"));
  CHECK(replayed.header("idempotent-replayed") == "true");
  CHECK(parse(replayed).at("id") == parse(*answer).at("id"));
}

TEST_CASE("faults: a held up call whose client goes frees its key", "[server-mock]") {
  Faulty mock;
  mock.add("docs.create", {{"delay_ms", 60'000}}, {{"nth", 1}});
  {
    RawConnection first(mock.port());
    first.send(ws::test::render(mock.create("k")));
    CHECK_FALSE(first.read(ws::test::AnswerTo::get, 20ms));
  }
  RawAnswer answer = mock.ask(mock.create("k"));
  while (answer.status == 409) answer = mock.ask(mock.create("k"));
  CHECK(answer.status == 201);
  CHECK(mock.documents_made() == 1);
}

TEST_CASE("faults: rules are listed with their counts, replaced, taken out, control calls are never faulted",
          "[server-mock]") {
  Faulty mock;
  mock.send("POST", "/_mock/faults", {{"id", "all"}, {"operation", "*"}, {"effect", {{"status", 500}}}}, 201);
  mock.send("POST", "/_mock/faults", {{"id", "all"}, {"operation", "*"}, {"effect", {{"status", 500}}}}, 409);
  mock.send("GET", "/v1/me", nullptr, 500);
  mock.send("GET", "/nowhere", nullptr, 500);
  const Json data = mock.send("GET", "/_mock/faults", nullptr, 200).at("data");
  CHECK(data.size() == 1);
  CHECK(data.at(0).at("matched") == 2);
  CHECK(data.at(0).at("fired") == 2);
  mock.send("POST", "/_mock/faults/all", {{"operation", "me.get"}, {"effect", {{"status", 404}}}}, 200);
  mock.send("GET", "/v1/me", nullptr, 404);
  mock.send("GET", "/v1/documents", nullptr, 200);
  CHECK(mock.send("GET", "/_mock/faults/all", nullptr, 200).at("fired") == 1);
  const Json pair = {{"faults",
                      {{{"operation", "docs.get"}, {"effect", {{"reset", true}}}},
                       {{"operation", "docs.list"}, {"effect", {{"reset", true}}}}}}};
  CHECK(mock.send("POST", "/_mock/faults", pair, 201).at("data").size() == 2);
  mock.send("POST", "/_mock/faults", {{"operation", "x"}, {"nth", 0}, {"effect", {{"y", 1}}}}, 422);
  CHECK(mock.send("GET", "/_mock/faults", nullptr, 200).at("data").size() == 3);
  CHECK(mock.ask({.method = "DELETE", .target = "/_mock/faults/all"}).status == 204);
  CHECK(mock.ask({.method = "DELETE", .target = "/_mock/faults/all"}).status == 404);
  mock.send("POST", "/_mock/reset", {{"to", "seed"}}, 200);
  CHECK(mock.send("GET", "/_mock/faults", nullptr, 200).at("data").empty());
}

TEST_CASE("faults: an answer lost after the change, and the same key again, leave one object", "[server-mock]") {
  struct Keyed {
    const char* operation;
    std::string target;
    Json body;
  };
  Faulty mock;
  const BuiltIn& world = mock.built_in();
  mock.send("PATCH", "/_mock/assumptions", {{"workspace_create", "visible"}}, 200);
  const Json page = mock.send("POST", "/v1/documents", {{"title", "moved"}, {"content", "x"}}, 201);
  const std::vector<Keyed> six = {
      {"workspaces.create", "/v1/workspaces", {{"name", "W"}}},
      {"projects.create", "/v1/projects", {{"title", "P"}}},
      {"nodes.move",
       fmt::format("/v1/nodes/{}:move", page.at("node_id").get<std::string>()),
       {{"parent_node_id", world.project_node_id}}},
      {"questions.create", "/v1/questions", {{"prompt", "Where is the harbour?"}, {"sources", {"workspace"}}}},
      {"docs.create", "/v1/documents", {{"title", "D"}, {"content", "x"}}},
      {"tests.run_launch", "/v1/admin/tests/runs", {{"selection_kind", "cases"}, {"case_ids", nullptr}}},
  };
  const Json cases = mock.send("GET", "/v1/admin/tests/cases?limit=1", nullptr, 200);
  const Json effect = GENERATE(
      Json{{"close_without_answer", true}}, Json{{"reset", true}}, Json{{"truncate_at", 10}}, Json{{"status", 502}});
  CAPTURE(effect.dump());
  for (const Keyed& one : six) {
    CAPTURE(one.operation);
    Json body = one.body;
    if (body.contains("case_ids")) body["case_ids"] = Json::array({cases.at("data").at(0).at("case_id")});
    RawRequest request = mock.request("POST", one.target, body, world.token);
    request.headers = {fmt::format("Idempotency-Key: key-{}", one.operation)};
    mock.add(one.operation, effect, {{"nth", 1}, {"phase", "after"}});
    {
      RawConnection connection(mock.port());
      const auto lost = answer_to(connection, request, 5000ms);
      CHECK((!lost || lost->status == 502));
    }
    const RawAnswer again = mock.ask(request);
    CHECK(again.status < 300);
    CHECK(again.header("idempotent-replayed") == "true");
    const RawAnswer third = mock.ask(request);
    CHECK(third.body == again.body);
  }
  std::size_t made = 0;
  const Json list = mock.send("GET", "/v1/documents", nullptr, 200);
  for (const Json& one : list.at("data")) made += one.at("title") == "D";
  CHECK(made == 1);
}

}  // namespace ws::mock::test
