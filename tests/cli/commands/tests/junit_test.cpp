#include "cli/commands/tests/junit.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands/shared/waiting.hpp"

using namespace ws;
using namespace ws::cli;

TEST_CASE("junit: one suite, a case for each result, text escaped", "[cli]") {
  const Json run = {{"id", "r1"},
                    {"suite_id", "a<b"},
                    {"results",
                     {{{"case_id", "good"}, {"status", "passed"}, {"duration_ms", 1500}},
                      {{"case_id", "bad"}, {"status", "failed"}, {"message", "1 < 2 & \"x\"\x01\n"}},
                      {{"case_id", "none"}, {"status", "skipped"}, {"message", nullptr}}}}};
  CHECK(run_to_junit(run) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"r1\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"1.500\">\n"
        "  <testsuite name=\"a&lt;b\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"1.500\">\n"
        "    <testcase classname=\"a&lt;b\" name=\"good\" time=\"1.500\"/>\n"
        "    <testcase classname=\"a&lt;b\" name=\"bad\" time=\"0.000\">\n"
        "      <failure type=\"failed\" message=\"1 &lt; 2 &amp; &quot;x&quot;&#10;\"/>\n"
        "    </testcase>\n"
        "    <testcase classname=\"a&lt;b\" name=\"none\" time=\"0.000\">\n"
        "      <skipped message=\"skipped\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
}

TEST_CASE("junit: a run of which little came is a report all the same", "[cli]") {
  CHECK(run_to_junit(Json::object()).find("tests=\"0\"") != std::string::npos);
}

TEST_CASE("junit: a run that failed without a failed case is an error of the report", "[cli]") {
  Json run = {{"id", "r1"}, {"status", GENERATE("failed", "cancelled")}};
  run["results"] = GENERATE(Json(), Json::array(), Json::array({{{"case_id", "a"}, {"status", "passed"}}}));
  const std::string report = run_to_junit(run);
  CAPTURE(report);
  CHECK(report.find("errors=\"1\"") != std::string::npos);
  CHECK(report.find("<error type=\"" + run["status"].get<std::string>() + "\"") != std::string::npos);
  run["status"] = "passed";
  CHECK(run_to_junit(run).find("<error") == std::string::npos);
}

TEST_CASE("waiting: only words that are known to be ends are ends", "[cli]") {
  CHECK(phase_of(Json{{"status", "completed"}}) == Phase::done);
  CHECK(phase_of(Json{{"status", "cancelled"}}) == Phase::failed);
  CHECK(phase_of(Json{{"status", "simmering"}}) == Phase::pending);
  CHECK(phase_of(Json::object()) == Phase::pending);
  CHECK(phase_of(Json{{"status", "running"}, {"answer", "what there is of it"}}) == Phase::pending);
  CHECK(phase_of(Json{{"artifacts", Json::array({Json::object()})}}) == Phase::done);
}
