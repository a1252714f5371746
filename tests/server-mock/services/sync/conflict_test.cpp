#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

std::string conflict_id(const Outcome& committed) {
  REQUIRE(committed.body.at("conflicts").size() == 1);
  return committed.body.at("conflicts")[0].at("id");
}

/// A document edited on both sides: "theirs" on the service, "mine" locally.
struct EditedTwice {
  ServiceWorld world = ServiceWorld();
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  Json base = {};
  std::string id = {};

  EditedTwice() {
    client.publish(Json::array({created("a.md", "base")}));
    base = client.at("a.md");
    client.publish(Json::array({updated(base, "theirs")}));
    id = conflict_id(client.publish(Json::array({updated(base, "mine")})));
  }
};

}  // namespace

TEST_CASE("conflict: it shows base, local and remote", "[server-mock]") {
  EditedTwice state;
  const Json conflict = state.client.conflict(state.id).body;
  CHECK(conflict.at("kind") == "revision");
  CHECK(conflict.at("status") == "open");
  CHECK(conflict.at("client_id") == "laptop");
  CHECK(conflict.at("base") ==
        Json{{"content_revision", 1}, {"content_sha256", Sha256::of("base").hex()}, {"content", "base"}});
  CHECK(conflict.at("local") ==
        Json{{"content_sha256", Sha256::of("mine").hex()}, {"content", "mine"}, {"deleted", false}, {"path", "a.md"}});
  CHECK(conflict.at("remote").at("content") == "theirs");
  CHECK(conflict.at("remote").at("content_revision") == 2);
  CHECK(conflict.at("remote").at("updated_by").at("name") == "Mara Lindqvist");
  CHECK(conflict.at("resolution").is_null());
}

TEST_CASE("conflict: each resolution does what it says", "[server-mock]") {
  EditedTwice state;
  Json expected = {{"a.md", "theirs"}};
  Json body = {{"expected_content_revision", 2}};
  SECTION("keep_local") {
    body["resolution"] = "keep_local";
    expected = Json{{"a.md", "mine"}};
  }
  SECTION("keep_remote") { body["resolution"] = "keep_remote"; }
  SECTION("merged") {
    body["resolution"] = "merged";
    body["content"] = "both";
    body["content_sha256"] = Sha256::of("both").hex();
    expected = Json{{"a.md", "both"}};
  }
  SECTION("merged to another path") {
    body["resolution"] = "merged";
    body["content"] = "both";
    body["path"] = "sub/c.md";
    expected = Json{{"sub/c.md", "both"}};
  }
  SECTION("keep_both") {
    body["resolution"] = "keep_both";
    expected = Json{{"a (local).md", "mine"}, {"a.md", "theirs"}};
  }
  SECTION("keep_both at a path of one's own") {
    body["resolution"] = "keep_both";
    body["path_for_local_copy"] = "copies/mine.md";
    expected = Json{{"a.md", "theirs"}, {"copies/mine.md", "mine"}};
  }
  const Outcome resolved = state.client.resolve(state.id, body);
  CHECK(resolved.status == 200);
  CHECK(resolved.body.at("status") == "resolved");
  CHECK(resolved.body.at("resolution") == body.at("resolution"));
  CHECK(resolved.body.at("result").at("document_id") == state.base.at("document_id"));
  CHECK(state.client.tree() == expected);
  CHECK(state.client.resolve(state.id, body).body == resolved.body);
  CHECK(state.client.tree() == expected);
}

TEST_CASE("conflict: the same resolution again is 200, another 409 conflict_resolved", "[server-mock]") {
  EditedTwice state;
  const Json keep = {{"resolution", "keep_local"}, {"expected_content_revision", 2}};
  CHECK(state.client.resolve(state.id, keep).status == 200);
  CHECK(state.client.resolve(state.id, keep).status == 200);
  const Outcome other =
      state.client.resolve(state.id, {{"resolution", "keep_remote"}, {"expected_content_revision", 2}});
  CHECK(other.status == 409);
  CHECK(other.code == "conflict_resolved");
}

TEST_CASE("conflict: if the remote moved again it is 409, and the conflict shows the new remote", "[server-mock]") {
  EditedTwice state;
  state.client.publish(Json::array({updated(state.client.at("a.md"), "newer")}));
  const Outcome late = state.client.resolve(state.id, {{"resolution", "keep_local"}, {"expected_content_revision", 2}});
  CHECK(late.status == 409);
  CHECK(late.code == "revision_conflict");
  CHECK(late.body.at("current_content_revision") == 3);
  const Json conflict = state.client.conflict(state.id).body;
  CHECK(conflict.at("status") == "open");
  CHECK(conflict.at("remote").at("content") == "newer");
  CHECK(state.client.tree() == Json{{"a.md", "newer"}});
}

TEST_CASE("conflict: one open per document and client, a later commit refreshes its local text", "[server-mock]") {
  EditedTwice state;
  CHECK(conflict_id(state.client.publish(Json::array({updated(state.base, "mine again")}))) == state.id);
  CHECK(state.client.conflict(state.id).body.at("local").at("content") == "mine again");
  SyncClient other(state.world, state.world.mara, state.client.source_id(), "desk");
  CHECK(conflict_id(other.publish(Json::array({updated(state.base, "third")}))) != state.id);
  const Json keep = {{"resolution", "keep_remote"}, {"expected_content_revision", 2}};
  CHECK(state.client.resolve(state.id, keep).status == 200);
  CHECK(conflict_id(state.client.publish(Json::array({updated(state.base, "mine again")}))) != state.id);
}

TEST_CASE("conflict: one open per document and client, though the client took its file for a new one",
          "[server-mock]") {
  EditedTwice state;
  const auto open_conflicts = [&] {
    return state.world.call("sync.source_get", state.world.mara, nullptr, {{"source_id", state.client.source_id()}})
        .body.at("open_conflicts")
        .size();
  };
  const Json entry = {{"path", "a.md"},
                      {"document_id", nullptr},
                      {"content_sha256", Sha256::of("as new").hex()},
                      {"size_bytes", 6},
                      {"base_content_revision", nullptr},
                      {"previous_path", nullptr}};
  const auto planned = [&] {
    return state.client.plan(Json::array({entry})).body.at("actions").at(0).at("conflict_id");
  };
  CHECK(planned() == state.id);
  CHECK(conflict_id(state.client.publish(Json::array({created("a.md", "as new")}))) == state.id);
  CHECK(state.client.conflict(state.id).body.at("local").at("content") == "as new");
  CHECK(planned() == state.id);
  CHECK(open_conflicts() == 1);
  CHECK(conflict_id(state.client.publish(Json::array({updated(state.base, "as known")}))) == state.id);
  CHECK(state.client.conflict(state.id).body.at("local").at("content") == "as known");
  CHECK(open_conflicts() == 1);
  // Another file that wants the document's place is a conflict of its own: both texts are kept.
  state.client.publish(Json::array({moved(state.base, "b.md"), created("a.md", "another")}));
  const Json known = state.client.conflict(state.id).body.at("local");
  CHECK(known.at("path") == "b.md");
  CHECK(open_conflicts() == 2);
}

TEST_CASE("conflict: keep_local of an edit_delete makes a new document", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "base")}));
  const Json base = client.at("a.md");
  client.publish(Json::array({removed(base)}));
  const std::string id = conflict_id(client.publish(Json::array({updated(base, "mine")})));
  const Json conflict = client.conflict(id).body;
  CHECK(conflict.at("kind") == "edit_delete");
  CHECK(conflict.at("remote").at("deleted") == true);
  CHECK(conflict.at("remote").at("content").is_null());
  const Json expected = GENERATE(Json(nullptr), Json(2));
  SECTION("keep_local") {
    const Outcome resolved =
        client.resolve(id, {{"resolution", "keep_local"}, {"expected_content_revision", expected}});
    CHECK(resolved.status == 200);
    CHECK(resolved.body.at("result").at("document_id") != base.at("document_id"));
    CHECK(client.tree() == Json{{"a.md", "mine"}});
  }
  SECTION("keep_remote") {
    const Outcome resolved =
        client.resolve(id, {{"resolution", "keep_remote"}, {"expected_content_revision", expected}});
    CHECK(resolved.body.at("result").is_null());
    CHECK(client.tree() == Json::object());
  }
}

TEST_CASE("conflict: a deletion against an edit is resolved either way", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("sub/a.md", "base")}));
  const Json base = client.at("sub/a.md");
  client.publish(Json::array({updated(base, "theirs")}));
  const std::string id = conflict_id(client.publish(Json::array({removed(base)})));
  CHECK(client.conflict(id).body.at("local").at("deleted") == true);
  SECTION("keep_local deletes") {
    client.resolve(id, {{"resolution", "keep_local"}, {"expected_content_revision", 2}});
    CHECK(client.tree() == Json::object());
  }
  SECTION("keep_remote keeps") {
    client.resolve(id, {{"resolution", "keep_remote"}, {"expected_content_revision", 2}});
    CHECK(client.tree() == Json{{"sub/a.md", "theirs"}});
  }
}

TEST_CASE("conflict: two renames are resolved to either name", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "text")}));
  const Json base = client.at("a.md");
  client.publish(Json::array({moved(base, "there.md")}));
  const std::string id = conflict_id(client.publish(Json::array({moved(base, "here.md")})));
  CHECK(client.conflict(id).body.at("local").at("content") == "text");
  client.resolve(id, {{"resolution", "keep_local"}, {"expected_content_revision", 1}});
  CHECK(client.tree() == Json{{"here.md", "text"}});
}

TEST_CASE("conflict: a rename onto a taken path asks for another", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "a"), created("b.md", "b")}));
  const std::string id = conflict_id(client.publish(Json::array({moved(client.at("a.md"), "b.md")})));
  Json body = {{"resolution", "keep_local"}, {"expected_content_revision", 1}};
  CHECK(client.resolve(id, body).code == "sync_conflict");
  CHECK(client.conflict(id).body.at("status") == "open");
  body["path"] = "../b.md";
  CHECK(client.resolve(id, body).status == 422);
  body["path"] = "c.md";
  CHECK(client.resolve(id, body).status == 200);
  CHECK(client.tree() == Json{{"b.md", "b"}, {"c.md", "a"}});
}

TEST_CASE("conflict: merged needs content whose hash is the one it says", "[server-mock]") {
  EditedTwice state;
  Json body = {{"resolution", "merged"}, {"expected_content_revision", 2}};
  CHECK(state.client.resolve(state.id, body).status == 422);
  body["content"] = "x";
  body["content_sha256"] = Sha256::of("y").hex();
  CHECK(state.client.resolve(state.id, body).status == 422);
}

TEST_CASE("conflict: 404 without access to the source, 403 for a viewer who resolves", "[server-mock]") {
  EditedTwice state;
  const Caller stranger = state.world.add_person("lena", "editor");
  CHECK(state.world.call("sync.conflict_get", stranger, nullptr, {{"conflict_id", state.id}}).status == 404);
  Caller viewer = state.world.mara;
  viewer.role = contract::Role::viewer;
  CHECK(state.world
            .call("sync.conflict_resolve",
                  viewer,
                  {{"resolution", "keep_local"}, {"expected_content_revision", 2}},
                  {{"conflict_id", state.id}})
            .code == "insufficient_role");
}

TEST_CASE("conflict: who may only read the document does not change it by a resolution", "[server-mock]") {
  ServiceWorld world;
  const Caller lena = world.add_person("lena", "editor");
  SyncClient client = SyncClient::with_new_source(world, lena);
  const Json source = world.call("sync.source_get", lena, nullptr, {{"source_id", client.source_id()}}).body;
  const Json theirs =
      world.create_document(world.mara, "a", "base", {{"parent_node_id", source.at("root_node_id")}}).body;
  const Json document = {{"document_id", theirs.at("id")}};
  const auto share = [&](std::string_view permission) {
    const Json body = {{"email", "lena@example.com"}, {"permission", permission}};
    REQUIRE(world.call("docs.share", world.mara, body, document).status == 200);
  };
  share("edit");
  const Json base = client.at("a.md");
  world.call("docs.update", world.mara, {{"content", "theirs"}, {"expected_content_revision", 1}}, document);
  const bool deletes = GENERATE(false, true);
  const std::string id = conflict_id(client.publish(Json::array({deletes ? removed(base) : updated(base, "mine")})));
  share("read");
  const Json merged = {{"resolution", "merged"}, {"content", "both"}, {"expected_content_revision", 2}};
  CHECK(client.resolve(id, {{"resolution", "keep_local"}, {"expected_content_revision", 2}}).code == "forbidden");
  CHECK(client.resolve(id, merged).code == "forbidden");
  const Json now = world.call("docs.get", world.mara, nullptr, document).body;
  CHECK(now.at("content") == "theirs");
  CHECK(now.at("status") == "active");
  CHECK(client.resolve(id, {{"resolution", "keep_remote"}, {"expected_content_revision", 2}}).status == 200);
}
