#include "server-mock/sweep/coverage.hpp"

#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock::sweep;
using Catch::Matchers::Contains;

namespace {

std::string run_with_report(const std::string& name) {
  const ws::test::TemporaryFolder folder;
  const std::string file = folder / name;
  const auto ended = ws::test::run_command(
      {.arguments = {
           ws::test::program("ws-mock"),
           "exec",
           "--report",
           file,
           "--",
           "sh",
           "-c",
           "curl -s -o /dev/null -H \"Authorization: Bearer $WS_TOKEN\" -H 'Content-Type: application/json' "
           "-d '{\"prompt\": \"When is the lamp lit?\", \"sources\": [\"workspace\"]}' $WS_BASE_URL/v1/questions; "
           "curl -s -o /dev/null $WS_BASE_URL/v1/me; exit 4"}});
  CHECK(ended.exit == 4);
  CHECK(ended.out.empty());
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("sweep: exec --report tells the operations met and the guesses that answers rest on", "[sweep]") {
  const auto report = parse_bounded(run_with_report("r.json"));
  REQUIRE(report);
  const Json& operations = report->at("operations");
  CHECK(operations.at("questions.create").at("requests") == 1);
  CHECK(operations.at("me.get").at("statuses") == Json::array({401}));
  CHECK(report->at("operations_never_called").size() == 54);
  std::set<std::string> guesses;
  for (const Json& one : report->at("assumptions")) guesses.insert(one.at("assumption"));
  CHECK(guesses.contains("question_created=200"));
  CHECK(guesses.contains("question_async=no"));
  const std::string text = run_with_report("r.txt");
  CHECK_THAT(text, Contains("2 of the API's 56 operations") && Contains("The answers depend on"));
}
