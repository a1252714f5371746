#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Json entry(const Json& item, const Json& text) {
  return {{"path", item.at("path")},
          {"document_id", item.at("document_id")},
          {"content_sha256", text.is_null() ? Json(nullptr) : Json(Sha256::of(text.get<std::string>()).hex())},
          {"size_bytes", 1},
          {"base_content_revision", item.at("content_revision")}};
}

Json renamed(Json entry, std::string_view path) {
  entry["previous_path"] = entry.at("path");
  entry["path"] = path;
  return entry;
}

Json fresh(std::string_view path, std::string_view text) {
  return {{"path", path}, {"content_sha256", Sha256::of(text).hex()}};
}

/// "action path" of each row.
Json actions(const Outcome& planned) {
  Json rows = Json::array();
  for (const Json& action : planned.body.at("actions")) {
    rows.push_back(action.at("action").get<std::string>() + " " + action.at("path").get<std::string>());
  }
  return rows;
}

/// Four documents that are in sync at revision 4.
struct InStep {
  ServiceWorld world = ServiceWorld();
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  Json a = {};
  Json b = {};

  InStep() {
    client.publish(Json::array({created("a.md", "a"), created("b.md", "b")}));
    a = client.at("a.md");
    b = client.at("b.md");
  }
};

}  // namespace

TEST_CASE("plan: local changes are pushes", "[server-mock]") {
  InStep state;
  const Outcome planned = state.client.plan(
      Json::array({entry(state.a, "a2"), renamed(entry(state.b, "b"), "sub/b.md"), fresh("new.md", "n")}), 2);
  CHECK(actions(planned) == Json{"push_update a.md", "push_move sub/b.md", "push_create new.md"});
  CHECK(planned.body.at("revision") == 2);
  CHECK(planned.body.at("summary").at("push_update") == 1);
  CHECK(planned.body.at("summary").at("pull_update") == 0);
  CHECK(planned.body.at("expires_at") == "2026-11-20T11:00:00.000Z");
  CHECK(actions(state.client.plan(Json::array({entry(state.a, nullptr)}), 2)) == Json{"push_delete a.md"});
  CHECK(actions(state.client.plan(Json::array({entry(state.a, "a")}), 2)) == Json{"unchanged a.md"});
}

TEST_CASE("plan: the absence of an entry never means deleted", "[server-mock]") {
  InStep state;
  CHECK(actions(state.client.plan(Json::array(), 2)) == Json::array());
}

TEST_CASE("plan: remote changes are pulls, listed or not", "[server-mock]") {
  InStep state;
  state.client.publish(Json::array({updated(state.a, "a2"), moved(state.b, "b2.md"), created("c.md", "c")}));
  const Json unnamed = actions(state.client.plan(Json::array(), 2));
  CHECK(unnamed == Json{"pull_update a.md", "pull_move b2.md", "pull_create c.md"});
  const Json named = actions(state.client.plan(Json::array({entry(state.a, "a"), entry(state.b, "b")}), 2));
  CHECK(named == unnamed);
  state.client.publish(Json::array({removed(state.client.at("a.md")), removed(state.client.at("c.md"))}));
  CHECK(actions(state.client.plan(Json::array(), 2)) == Json{"pull_move b2.md", "pull_delete a.md"});
}

TEST_CASE("plan: both sides changed", "[server-mock]") {
  InStep state;
  state.client.publish(Json::array({updated(state.a, "a2"), moved(state.b, "there.md")}));
  const auto plan = [&](const Json& one) { return actions(state.client.plan(Json::array({one}), 4)); };
  CHECK(plan(entry(state.a, "mine")) == Json{"conflict a.md"});
  CHECK(plan(entry(state.a, "a2")) == Json{"unchanged a.md"});
  CHECK(plan(entry(state.a, nullptr)) == Json{"pull_create a.md"});
  CHECK(plan(entry(state.b, "b2")) == Json{"push_update there.md", "pull_move there.md"});
  CHECK(plan(renamed(entry(state.b, "b"), "here.md")) == Json{"conflict here.md"});
  CHECK(plan(renamed(entry(state.b, "b"), "there.md")) == Json{"unchanged there.md"});
  CHECK(plan(renamed(entry(state.a, "a"), "here.md")) == Json{"pull_update here.md", "push_move here.md"});
  CHECK(plan(fresh("a.md", "other")) == Json{"conflict a.md"});
  CHECK(plan(fresh("A.md", "a2")) == Json{"unchanged A.md"});
}

TEST_CASE("plan: deleted on the service", "[server-mock]") {
  InStep state;
  state.client.publish(Json::array({removed(state.a)}));
  const auto plan = [&](const Json& one) { return actions(state.client.plan(Json::array({one}), 3)); };
  CHECK(plan(entry(state.a, "a")) == Json{"pull_delete a.md"});
  CHECK(plan(entry(state.a, "mine")) == Json{"conflict a.md"});
  CHECK(plan(entry(state.a, nullptr)) == Json{"unchanged a.md"});
}

TEST_CASE("plan: swaps are moves, a taken path is a conflict", "[server-mock]") {
  InStep state;
  CHECK(actions(state.client.plan(
            Json::array({renamed(entry(state.a, "a"), "b.md"), renamed(entry(state.b, "b"), "a.md")}), 2)) ==
        Json{"push_move b.md", "push_move a.md"});
  CHECK(actions(state.client.plan(Json::array({renamed(entry(state.a, "a"), "b.md")}), 2)) == Json{"conflict b.md"});
}

TEST_CASE("plan: invalid and duplicate paths are conflicts, the rest is planned", "[server-mock]") {
  InStep state;
  const Outcome planned =
      state.client.plan(Json::array({fresh("../x.md", "x"), fresh("n.md", "n"), fresh("N.md", "m")}), 2);
  CHECK(actions(planned) == Json{"conflict ../x.md", "push_create n.md", "conflict N.md"});
  CHECK(planned.body.at("actions")[0].at("conflict_id").is_null());
}

TEST_CASE("plan: stores nothing but itself and names only conflicts that are open already", "[server-mock]") {
  InStep state;
  state.client.publish(Json::array({updated(state.a, "a2")}));
  const Json local = entry(state.a, "mine");
  CHECK(state.client.plan(Json::array({local}), 3).body.at("actions")[0].at("conflict_id").is_null());
  const auto source = [&] {
    return state.world.call("sync.source_get", state.world.mara, nullptr, {{"source_id", state.client.source_id()}});
  };
  CHECK(source().body.at("open_conflicts") == Json::array());
  const Outcome committed = state.client.publish(Json::array({updated(state.a, "mine")}));
  CHECK(state.client.plan(Json::array({local}), 3).body.at("actions")[0].at("conflict_id") ==
        committed.body.at("conflicts")[0].at("id"));
  CHECK(source().body.at("revision") == 3);
}

TEST_CASE("plan: one that was never committed is 409 whenever it is asked for", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string committed = client.plan_id();
  REQUIRE(client.commit(committed, Json::array()).status == 200);
  const std::string left = client.plan_id();
  for (const int hours : {2, 24}) {
    world.clock.time += std::chrono::hours(hours);
    client.plan_id();
    CHECK(client.commit(left, Json::array()).code == "plan_expired");
  }
  CHECK(client.commit(committed, Json::array()).status == 200);
}
