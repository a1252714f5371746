#include "server-mock/sweep/plan.hpp"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "server-mock/faults/faults.hpp"
#include "server-mock/store/assumptions.hpp"
#include "server-mock/sweep/report.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::sweep;

namespace {

SentRequest sent(const char* operation, const char* method, const char* path) {
  return sent_request(read_exchange({{"time", "2026-11-20T10:00:00Z"},
                                     {"method", method},
                                     {"path", path},
                                     {"operation", operation},
                                     {"status", 200},
                                     {"request_headers", Json::object()}})
                          .value());
}

const std::vector<SentRequest> script = {sent("docs.create", "POST", "/v1/documents"),
                                         sent("docs.list", "GET", "/v1/documents"),
                                         sent("upload.put", "PUT", "/uploads/[redacted]"),
                                         sent("events.complete", "POST", "/v1/agent-events/x:complete"),
                                         sent("docs.create", "POST", "/v1/documents")};

std::set<std::string> ids(const Plan& plan) {
  std::set<std::string> all;
  for (const Row& row : plan.rows) all.insert(row.id);
  return all;
}

}  // namespace

TEST_CASE("sweep: every fault is a rule that the mock takes, and hits some request", "[sweep]") {
  SentRequest second_page = sent("docs.list", "GET", "/v1/documents");
  second_page.query = "limit=6&cursor=x";
  std::vector<SentRequest> whole = script;
  whole.push_back(sent("docs.update", "PUT", "/v1/documents/x"));
  whole.push_back(sent("files.upload_start", "POST", "/v1/files/uploads"));
  whole.push_back(second_page);
  whole.push_back(sent("docs.archive", "DELETE", "/v1/documents/x"));
  whole.push_back(sent("files.organize", "POST", "/v1/files/x:organize"));
  whole.push_back(sent("events.claim", "POST", "/v1/agent-events:claim"));
  whole.back().response_body = Json{{"event", {{"created_at", "2026-11-20T05:00:00Z"}}}};
  const Plan plan = make_plan(whole, whole, "http://localhost:1", {});
  std::set<std::string> met;
  for (const Row& row : plan.rows) {
    CAPTURE(row.id, row.rule);
    met.insert(row.fault);
    if (row.rule.empty()) continue;
    ValidationErrors errors;
    CHECK(read_fault_rule(*parse_bounded(row.rule), {}, errors));
    CHECK(errors.empty());
  }
  for (const Fault& fault : faults()) {
    CAPTURE(fault.id);
    CHECK(met.contains(std::string(fault.id)));
  }
  CHECK(ids(plan).size() == plan.rows.size());
}

TEST_CASE("sweep: a read has no effects to lose, each create is swept by itself, switches follow", "[sweep]") {
  const std::set<std::string> all = ids(make_plan(script, script, "http://localhost:1", {}));
  CHECK(all.contains("docs.create#1:reset-after"));
  CHECK(all.contains("docs.create#2:reset-after"));
  CHECK_FALSE(all.contains("docs.list#1:reset-after"));
  CHECK(all.contains("docs.list#1:truncated-after"));
  CHECK(all.contains("docs.list#1:empty-page"));
  CHECK_FALSE(all.contains("docs.list#1:page-twice"));
  CHECK(all.contains("upload.put#1:put-cut"));
  CHECK_FALSE(all.contains("upload.put#1:key-expired"));
  CHECK(all.contains("events.complete#1:lease-lost"));
  CHECK(all.contains("switch:error_style=html"));
  CHECK_FALSE(all.contains("switch:question_async=yes"));
}

TEST_CASE("sweep: somebody else edits before a change, and between it and the read that it is made from", "[sweep]") {
  const std::vector<SentRequest> update = {sent("docs.get", "GET", "/v1/documents/a"),
                                           sent("docs.get", "GET", "/v1/documents/b"),
                                           sent("comments.list", "GET", "/v1/documents/a/comments"),
                                           sent("docs.get", "GET", "/v1/documents/a"),
                                           sent("docs.update", "PUT", "/v1/documents/a"),
                                           sent("docs.get", "GET", "/v1/documents/a")};
  const std::set<std::string> rows = ids(make_plan(update, update, "http://localhost:1", {.only = {"bump-revision"}}));
  CHECK(rows == std::set<std::string>{
                    "comments.list#1:bump-revision", "docs.get#3:bump-revision", "docs.update#1:bump-revision"});
}

TEST_CASE("sweep: a redirect leads to its own place in the sandbox, or to the second origin", "[sweep]") {
  const std::vector<SentRequest> one = {sent("docs.archive", "DELETE", "/v1/documents/a")};
  const auto rule = [&one](const char* fault) {
    return make_plan(one, one, "http://localhost:1", {.only = {fault}}).rows.at(0).rule;
  };
  CHECK_THAT(rule("see-other-before"), Catch::Matchers::Contains("\"Location\": \"SANDBOX/v1/documents/a\""));
  CHECK_THAT(rule("redirect-before"), Catch::Matchers::Contains("\"http://localhost:1SANDBOX/v1/documents/a\""));
}

TEST_CASE("sweep: rows are narrowed by fault, row, operation, number and chance", "[sweep]") {
  const auto plan = [](PlanOptions options) { return make_plan(script, script, "http://localhost:1", options); };
  CHECK(ids(plan({.only = {"docs.create#2:reset-*"}})) ==
        std::set<std::string>{"docs.create#2:reset-before", "docs.create#2:reset-after"});
  for (const Row& row : plan({.only = {"switch"}}).rows) CHECK(row.operation.empty());
  for (const Row& row : plan({.skip = {"switch"}}).rows) CHECK_FALSE(row.operation.empty());
  for (const Row& row : plan({.operations = {"docs.*"}}).rows) CHECK(row.operation.substr(0, 5) == "docs.");
  const Plan all = plan({});
  const Plan few = plan({.max_rows = 5});
  CHECK(few.rows.size() == 5);
  CHECK(few.left_out == all.rows.size() - 5);
  const Plan sample = plan({.sample = 7, .seed = 3});
  CHECK(sample.rows.size() == 7);
  CHECK(ids(sample) == ids(plan({.sample = 7, .seed = 3})));
  CHECK(ids(sample) != ids(plan({.sample = 7, .seed = 4})));
}

TEST_CASE("sweep: where two clean runs differ, what both sent is swept, and the rest is told", "[sweep]") {
  std::vector<SentRequest> shorter = script;
  shorter.pop_back();
  const Plan plan = make_plan(script, shorter, "http://localhost:1", {});
  CHECK(ids(plan).contains("docs.create#1:reset-after"));
  CHECK_FALSE(ids(plan).contains("docs.create#2:reset-after"));
  REQUIRE(plan.notes.size() == 1);
  CHECK_THAT(plan.notes[0], Catch::Matchers::Contains("docs.create was sent 2 times, then 1 times"));
}

TEST_CASE("sweep: no output of a program ends or swallows the script of the HTML report", "[sweep]") {
  Report report;
  RowResult result;
  result.end.out = "<!--<script></script><b>";
  report.rows.push_back(result);
  const std::string page = render_html(report, {});
  CHECK(page.find("<!--<script>") == std::string::npos);
  CHECK(page.find("\\u003c!--\\u003cscript>\\u003c/script>\\u003cb>") != std::string::npos);
}
