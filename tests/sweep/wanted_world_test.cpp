#include "server-mock/sweep/wanted_world.hpp"

#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/yaml.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock::sweep;
using namespace ws::test;
using Catch::Matchers::Contains;

TEST_CASE("grade: pairs of worlds", "[sweep]") {
  const Json data =
      *parse_yaml_with_positions(read_file(source_path("/tests/sweep/worlds.yaml")).value()).value().value;
  REQUIRE(data.at("pairs").size() >= 60);
  for (const Json& pair : data.at("pairs")) {
    CAPTURE(dump(pair));
    const auto found = grade_world(pair.at("wanted"), Json{{"tables", data.at("base")}});
    if (pair.contains("refused")) {
      REQUIRE_FALSE(found);
      CHECK_THAT(found.error().what + found.error().hint, Contains(pair.at("refused").get<std::string>()));
      continue;
    }
    REQUIRE(found);
    const Json says = pair.value("says", Json::array());
    CAPTURE(*found);
    REQUIRE(found->size() == says.size());
    for (std::size_t i = 0; i < says.size(); ++i) CHECK_THAT((*found)[i], Contains(says[i].get<std::string>()));
  }
}

TEST_CASE("grade: a saved world is met by the same run, and by no run that does more or less", "[sweep]") {
  const TemporaryFolder folder;
  const std::string wanted = (folder / "wanted.yaml").string();
  const std::string data = (folder / "world.db").string();
  const auto exec = [&](const std::vector<std::string>& flags, const std::string& titles) {
    const std::string script = "for t in " + titles +
                               "; do curl -sf -o /dev/null -H \"Authorization: Bearer $WS_TOKEN\" -H 'Content-Type: "
                               "application/json' -d \"{\\\"title\\\": \\\"$t\\\", \\\"content\\\": \\\"\\\"}\" "
                               "$WS_BASE_URL/v1/documents || exit 9; done";
    std::vector<std::string> arguments = {program("ws-mock"), "exec"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return run_command({.arguments = arguments});
  };
  CHECK(exec({"--save", wanted}, "One Two").exit == 0);
  const Ended same = exec({"--expect", wanted, "--seed", "7", "--data", data}, "One Two");
  INFO(same.err);
  CHECK(same.exit == 0);
  CHECK(exec({"--expect", wanted}, "Two One").exit == 0);
  const Ended more = exec({"--expect", wanted}, "One Two Three");
  CHECK(more.exit == 1);
  CHECK_THAT(more.err, Contains("in documents, not"));
  const Ended other = exec({"--expect", wanted}, "One Tow");
  CHECK(other.exit == 1);
  CHECK_THAT(other.err, Contains("document \"Two\" is missing"));
  const auto grade = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {program("ws-mock"), "grade", "--expect", wanted};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_command({.arguments = arguments});
  };
  CHECK(grade({"--data", data}).exit == 0);
  std::ofstream(wanted) << "documents: [{title: One}, {title: Nine}]\n";
  const Ended differs = grade({"--data", data});
  CHECK(differs.exit == 1);
  CHECK(differs.out == "document \"Nine\" is missing\n");
  CHECK(grade({}).exit == 2);
  CHECK(grade({"--state", wanted}).exit == 2);
  CHECK(exec({"--expect", (folder / "none.yaml").string()}, "One").exit != 0);
  const Ended live = run_command(
      {.arguments = {program("ws-mock"),
                     "exec",
                     "--",
                     "sh",
                     "-c",
                     program("ws-mock") + " grade --expect " + wanted + " --url $WS_BASE_URL/_mock; echo $?"}});
  CHECK_THAT(live.out, Contains("document \"One\" is missing") && Contains("\n1\n"));
}

TEST_CASE("grade: a wanted world that names nothing, or a file without a world, is no pass", "[sweep]") {
  const TemporaryFolder folder;
  const std::string wanted = (folder / "wanted.yaml").string();
  for (const char* const text : {"documents: []\n", "absent: {}\n", "count: {}\n", "absent: {documents: []}\n", ""}) {
    CAPTURE(text);
    std::ofstream(wanted) << text;
    CHECK(run_command({.arguments = {program("ws-mock"), "exec", "--expect", wanted, "--", "true"}}).exit == 2);
  }
  std::ofstream(wanted) << "absent: {documents: [{title: x}]}\n";
  CHECK(run_command({.arguments = {program("ws-mock"), "exec", "--expect", wanted, "--", "true"}}).exit == 0);
  const std::string data = (folder / "empty.db").string();
  std::ofstream{data};
  CHECK(run_command({.arguments = {program("ws-mock"), "grade", "--expect", wanted, "--data", data}}).exit == 2);
}

TEST_CASE("background: one server a folder and name, until it is stopped", "[sweep]") {
  const TemporaryFolder folder;
  const auto in_folder = [&](const std::string& script) {
    return run_command(
        {.arguments = {"bash",
                       "-c",
                       "cd '" + folder.path().string() + "'; PATH=\"" +
                           std::filesystem::path(program("ws-mock")).parent_path().string() + ":$PATH\"\n" + script}});
  };
  const Ended used = in_folder(
      "out=$(ws-mock start --seed 3) || exit 7; eval \"$out\"\n"
      "curl -sf -H \"Authorization: Bearer $WS_TOKEN\" $WS_BASE_URL/v1/me >/dev/null && ws-mock env | grep -q "
      "\"WS_BASE_URL=$WS_BASE_URL\" && curl -sf $WS_MOCK_CONTROL/health >/dev/null && echo used");
  INFO(used.err);
  CHECK(used.out == "used\n");
  const Ended twice = in_folder("ws-mock start");
  CHECK(twice.exit == 2);
  CHECK_THAT(twice.err, Contains("is running already"));
  const Ended named = in_folder("ws-mock start --name other && ws-mock start --name other");
  CHECK_THAT(named.err, Contains("`ws-mock env --name other`") && Contains("`ws-mock stop --name other`"));
  CHECK(in_folder("ws-mock stop --name other").exit == 0);
  CHECK(in_folder("git init -q . && test -z \"$(git status --porcelain)\" && ws-mock stop").exit == 0);
  const Ended none = in_folder("ws-mock env");
  CHECK(none.exit == 2);
  CHECK_THAT(none.err, Contains("no server") && Contains("ws-mock start"));
  CHECK(in_folder("ws-mock stop").exit == 2);
  // Killed: another may start.
  CHECK(in_folder("ws-mock start && kill -9 $(grep -o '\"pid\": [0-9]*' .ws-mock/default.json | grep -o '[0-9]*') && "
                  "sleep 0.2; ws-mock start && ws-mock stop")
            .exit == 0);
  // Of several at once one starts, and it is the one that is stopped.
  const Ended at_once = in_folder(
      "for i in 1 2 3; do (ws-mock start --name cc >$i.out; echo $?) & done | sort | tr '\\n' ' '; wait; "
      "ws-mock stop --name cc && ! ws-mock env --name cc 2>/dev/null && wc -l <(cat [123].out) | cut -d' ' -f1");
  INFO(at_once.err);
  CHECK(at_once.out == "0 2 2 3\n");
  const Ended refused = in_folder("ws-mock start --data /nowhere/at/all.db");
  CHECK(refused.exit != 0);
  CHECK_THAT(refused.err, Contains("/nowhere/at/all.db"));
  CHECK(in_folder("ws-mock start --fixtures missing.yaml").exit == 2);
}
