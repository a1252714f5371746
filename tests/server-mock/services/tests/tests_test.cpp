#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Outcome launch(ServiceWorld& world, const Caller& caller, Json body) {
  return world.call("tests.run_launch", caller, std::move(body));
}

Json list(ServiceWorld& world, std::string_view operation, const Caller& caller, Json parameters = Json::object()) {
  const Outcome page = world.call(operation, caller, nullptr, std::move(parameters));
  REQUIRE(page.status == 200);
  return page.body;
}

Json ids(const Json& page, const char* member) {
  Json all = Json::array();
  for (const Json& item : page.at("data")) all.push_back(item.at(member));
  return all;
}

}  // namespace

TEST_CASE("tests: a run of all cases passes, one case after the other", "[server-mock]") {
  ServiceWorld world;
  const Json all = ids(list(world, "tests.cases_list", world.mara, {{"limit", 100}}), "case_id");
  CHECK(all.size() >= 20);
  const Outcome run = launch(world, world.mara, {{"selection_kind", "cases"}, {"case_ids", all}});
  REQUIRE(run.status == 202);
  const auto seen = [&] {
    return world.call("tests.run_get", world.mara, nullptr, {{"run_id", run.body.at("id")}}).body;
  };
  world.clock.time += std::chrono::milliseconds(1100);
  CHECK(seen().at("status") == "running");
  CHECK(seen().at("counts") == Json({{"total", all.size()}, {"passed", 5}, {"failed", 0}}));
  CHECK(seen().at("results").size() == 5);
  world.clock.time += std::chrono::minutes(1);
  for (const Json& result : seen().at("results")) {
    CAPTURE(dump(result));
    CHECK(result.at("status") == "passed");
    CHECK(result.at("message").is_null());
  }
  CHECK(seen().at("status") == "passed");
  CHECK(seen().at("case_ids") == all);
  CHECK(seen().at("counts") == Json({{"total", all.size()}, {"passed", all.size()}, {"failed", 0}}));
}

TEST_CASE("tests: a run changes nothing in the world that it is launched in", "[server-mock]") {
  ServiceWorld world;
  const Json before = list(world, "docs.list", world.mara);
  REQUIRE(launch(world, world.mara, {{"selection_kind", "suite"}, {"suite_id", "smoke"}}).status == 202);
  CHECK(list(world, "docs.list", world.mara) == before);
}

TEST_CASE("tests: the catalog agrees with its cases and suites", "[server-mock]") {
  ServiceWorld world;
  const Json catalog = world.call("tests.catalog", world.mara).body;
  const Json cases = list(world, "tests.cases_list", world.mara, {{"limit", 100}});
  const Json suites = list(world, "tests.suites_list", world.mara, {{"limit", 100}});
  CHECK(catalog.at("case_count") == cases.at("data").size());
  CHECK(catalog.at("suite_count") == suites.at("data").size());
  CHECK(suites.at("data").size() >= 4);
  std::set<std::string> known;
  for (const Json& test : cases.at("data")) {
    CAPTURE(dump(test));
    CHECK(known.insert(test.at("case_id")).second);
    CHECK_FALSE(test.at("suite_ids").empty());
    for (const auto& [list_of, member] : {std::pair{"capabilities", "capability"},
                                          std::pair{"owners", "owner"},
                                          std::pair{"roles", "role"},
                                          std::pair{"cost_classes", "cost_class"}}) {
      const Json& values = catalog.at(list_of);
      CHECK(std::ranges::find(values, test.at(member)) != values.end());
    }
    CHECK(world.call("tests.case_get", world.mara, nullptr, {{"case_id", test.at("case_id")}}).body == test);
  }
  for (const Json& suite : suites.at("data")) {
    CAPTURE(dump(suite));
    for (const Json& id : suite.at("case_ids")) CHECK(known.count(id) == 1);
    CHECK(world.call("tests.suite_get", world.mara, nullptr, {{"suite_id", suite.at("suite_id")}}).body == suite);
  }
  CHECK(world.call("tests.case_get", world.mara, nullptr, {{"case_id", "nothing"}}).status == 404);
  CHECK(world.call("tests.suite_get", world.mara, nullptr, {{"suite_id", "nothing"}}).status == 404);
}

TEST_CASE("tests: cases are filtered by each of their fields", "[server-mock]") {
  ServiceWorld world;
  for (const auto& [filter, value] : {std::pair{"capability", "tree.move"},
                                      std::pair{"owner", "sync"},
                                      std::pair{"role", "viewer"},
                                      std::pair{"cost_class", "low"}}) {
    CAPTURE(filter);
    const Json found = list(world, "tests.cases_list", world.mara, {{"limit", 100}, {filter, value}});
    CHECK_FALSE(found.at("data").empty());
    for (const Json& test : found.at("data")) CHECK(test.at(filter) == value);
    CHECK(list(world, "tests.cases_list", world.mara, {{filter, "nothing"}}).at("data") == Json::array());
  }
  const Json in_suite = list(world, "tests.cases_list", world.mara, {{"suite_id", "tree"}});
  CHECK(ids(in_suite, "case_id") == Json({"tree.no_cycle", "tree.project_at_root", "tree.move_changes_project"}));
  CHECK(ids(list(world, "tests.cases_list", world.mara, {{"query", "LOST quote"}}), "case_id") ==
        Json::array({"comments.anchor_is_lost"}));
  CHECK(ids(list(world, "tests.suites_list", world.mara, {{"runnable", false}}), "suite_id") == Json::array({"soak"}));
  CHECK(ids(list(world, "tests.suites_list", world.mara, {{"query", "markdown"}}), "suite_id") ==
        Json::array({"sync"}));
}

TEST_CASE("tests: a cursor continues the list with its own filters only", "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 5; ++i) {
    launch(world, world.mara, {{"selection_kind", "cases"}, {"case_ids", {"tree.no_cycle"}}});
  }
  for (const char* operation : {"tests.cases_list", "tests.suites_list", "tests.runs_list"}) {
    CAPTURE(operation);
    const Json all = list(world, operation, world.mara, {{"limit", 100}}).at("data");
    Json paged = Json::array();
    Json parameters = {{"limit", 2}};
    while (true) {
      const Json page = list(world, operation, world.mara, parameters);
      for (const Json& item : page.at("data")) paged.push_back(item);
      launch(world, world.mara, {{"selection_kind", "cases"}, {"case_ids", {"tree.no_cycle"}}});
      if (page.at("next_cursor").is_null()) break;
      parameters["cursor"] = page.at("next_cursor");
    }
    CHECK(paged == all);
    Json other = parameters;
    other["query"] = "other";
    CHECK(world.call(operation, world.mara, nullptr, other).status == 422);
    CHECK(world.call(operation, world.mara, nullptr, {{"cursor", "nonsense"}}).status == 422);
  }
}

TEST_CASE("tests: a run is kept and found by each of its filters", "[server-mock]") {
  ServiceWorld world;
  const Json suite = launch(world, world.mara, {{"selection_kind", "suite"}, {"suite_id", "tree"}}).body;
  const Json cases =
      launch(world,
             world.mara,
             {{"selection_kind", "cases"}, {"case_ids", {"search.takes_any_text", "search.takes_any_text"}}})
          .body;
  CHECK(cases.at("case_ids") == Json::array({"search.takes_any_text"}));
  CHECK(cases.at("workspace_id") == world.built_in.workspace_id);
  CHECK(world.call("tests.run_get", world.mara, nullptr, {{"run_id", suite.at("id")}}).body == suite);
  const auto found = [&](const Json& filters) {
    return ids(list(world, "tests.runs_list", world.mara, filters), "id");
  };
  CHECK(found(Json::object()) == Json({cases.at("id"), suite.at("id")}));
  CHECK(found({{"selection_kind", "suite"}}) == Json::array({suite.at("id")}));
  CHECK(found({{"suite_id", "tree"}}) == Json::array({suite.at("id")}));
  CHECK(found({{"case_id", "search.takes_any_text"}}) == Json::array({cases.at("id")}));
  CHECK(found({{"case_id", "tree.no_cycle"}}) == Json::array({suite.at("id")}));
  CHECK(found({{"status", "queued"}}).size() == 2);
  world.clock.time += std::chrono::minutes(1);
  CHECK(found({{"status", "passed"}}).size() == 2);
  CHECK(found({{"status", "failed"}}) == Json::array());
}

TEST_CASE("tests: what cannot be run is refused with a reason", "[server-mock]") {
  ServiceWorld world;
  const auto status = [&](const Json& body) { return launch(world, world.mara, body).status; };
  CHECK(status({{"selection_kind", "suite"}, {"suite_id", "soak"}}) == 422);
  CHECK(status({{"selection_kind", "suite"}}) == 422);
  CHECK(status({{"selection_kind", "cases"}}) == 422);
  CHECK(status({{"selection_kind", "cases"}, {"case_ids", Json::array()}}) == 422);
  CHECK(status({{"selection_kind", "suite"}, {"suite_id", "nothing"}}) == 404);
  CHECK(status({{"selection_kind", "cases"}, {"case_ids", {"nothing"}}}) == 404);
  CHECK(list(world, "tests.runs_list", world.mara).at("data") == Json::array());
}

TEST_CASE("tests: a run is visible only to admins of its Workspace", "[server-mock]") {
  ServiceWorld world;
  const Json one = {{"selection_kind", "cases"}, {"case_ids", {"tree.no_cycle"}}};
  const Json run = launch(world, world.mara, one).body;
  const Json of_run = {{"run_id", run.at("id")}};
  Json elsewhere = one;
  elsewhere["workspace_id"] = world.built_in.other_workspace_id;
  CHECK(launch(world, world.mara, elsewhere).status == 403);  // a viewer there
  elsewhere["workspace_id"] = "00000000-0000-7000-8000-000000000000";
  CHECK(launch(world, world.mara, elsewhere).status == 404);

  CHECK(world.call("tests.run_get", world.add_person("Ada", "admin"), nullptr, of_run).status == 200);
  CHECK(world.call("tests.run_get", world.tomas, nullptr, of_run).status == 403);
  CHECK(list(world, "tests.runs_list", world.tomas).at("data") == Json::array());
  const Caller platform = {.owner_user_id = world.built_in.other_user_id,
                           .audience = Audience::platform_admin,
                           .workspace_id = world.built_in.other_workspace_id,
                           .role = contract::Role::owner};
  CHECK(list(world, "tests.runs_list", platform).at("data") == Json::array());
  const Json garden = launch(world, platform, one).body;
  CHECK(garden.at("workspace_id") == world.built_in.other_workspace_id);
  CHECK(world.call("tests.run_get", platform, nullptr, {{"run_id", garden.at("id")}}).status == 200);
  CHECK(list(world, "tests.runs_list", platform).at("data").size() == 1);
  const Caller bound = {.owner_user_id = world.built_in.other_user_id,
                        .audience = Audience::workspace,
                        .workspace_id = world.built_in.other_workspace_id,
                        .role = contract::Role::owner};
  CHECK(world.call("tests.run_get", bound, nullptr, of_run).status == 404);
}

TEST_CASE("tests: a run is queued, runs and ends by the clock", "[server-mock]") {
  ServiceWorld world;
  const std::string way = GENERATE(std::string("timed"), std::string("failing"));
  REQUIRE(world.world->assumptions.set("test_runs", way));
  const std::string end = way == "timed" ? "passed" : "failed";
  const Outcome run = launch(world, world.mara, {{"selection_kind", "suite"}, {"suite_id", "smoke"}});
  REQUIRE(run.status == 202);
  const auto seen = [&] {
    return world.call("tests.run_get", world.mara, nullptr, {{"run_id", run.body.at("id")}}).body;
  };
  const auto listed = [&](const char* status) {
    return list(world, "tests.runs_list", world.mara, {{"status", status}}).at("data").size();
  };
  CHECK(seen() == run.body);
  CHECK(seen().at("status") == "queued");
  CHECK(seen().at("started_at").is_null());
  CHECK(seen().at("results").empty());
  CHECK(listed("queued") == 1);
  world.clock.time += std::chrono::seconds(1);
  CHECK(seen().at("status") == "running");
  CHECK(seen().at("finished_at").is_null());
  CHECK(listed("running") == 1);
  CHECK(listed(end.c_str()) == 0);
  world.clock.time += std::chrono::seconds(1);
  CHECK(seen().at("status") == end);
  CHECK(seen().at("counts").at("failed") == (way == "timed" ? 0 : 1));
  CHECK_FALSE(seen().at("finished_at").is_null());
  CHECK(listed(end.c_str()) == 1);
}
