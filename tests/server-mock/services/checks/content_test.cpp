#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/checks/checked_world.hpp"

namespace ws::mock::test {
namespace {

constexpr std::string_view nobody = "00000000-0000-7000-8000-000000000000";

CheckedReply create(CheckedWorld& world, const Caller& caller, std::string_view title, std::string_view content) {
  CheckedReply made = world.call("docs.create", caller, {{"title", title}, {"content", content}});
  world.expect(made.status == 201, "a document could not be created");
  return made;
}

CheckedReply read(CheckedWorld& world, const Caller& caller, const std::string& id) {
  return world.call("docs.get", caller, nullptr, {{"document_id", id}});
}

CheckedReply rewrite(
    CheckedWorld& world, const Caller& caller, const std::string& id, std::string_view text, int seen) {
  return world.call(
      "docs.update", caller, {{"content", text}, {"expected_content_revision", seen}}, {{"document_id", id}});
}

CheckedReply archive(CheckedWorld& world, const Caller& caller, const std::string& id) {
  return world.call("docs.archive", caller, nullptr, {{"document_id", id}});
}

CheckedReply share(CheckedWorld& world, const std::string& id, std::string_view permission) {
  return world.call(
      "docs.share", world.editor, {{"email", "Vera@example.com"}, {"permission", permission}}, {{"document_id", id}});
}

CheckedReply move(CheckedWorld& world, const std::string& node, const Json& parent) {
  return world.call("nodes.move", world.owner, {{"parent_node_id", parent}}, {{"node_id", node}});
}

bool lists(CheckedWorld& world, const Caller& caller, const std::string& id) {
  const CheckedReply page = world.call("docs.list", caller, nullptr, {{"limit", 100}});
  const Json* data = find(page.body, "data");
  if (data == nullptr) return false;
  for (const Json& item : *data) {
    if (find_text(item, "id") == id) return true;
  }
  return false;
}

void read_back(CheckedWorld& world) {
  const std::string text = "\xEF\xBB\xBF# Ünïcode \U0001F41F\r\n\r\n\ttabs\r\n\n\n";
  const std::string id = create(world, world.editor, "Read back", text).text("id");
  const CheckedReply seen = read(world, world.editor, id);
  world.expect(seen.text("content") == text, "the text is not byte for byte what was written");
  world.expect(seen.text("content_sha256") == Sha256::of(text).hex(), "the hash is not that of the bytes");
  world.expect(lists(world, world.editor, id), "the new document is in no list");
}

void revision_rises(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Rising", "one").text("id");
  world.expect(rewrite(world, world.editor, id, "two", 1).integer("content_revision") == 2, "no second revision");
  world.expect(rewrite(world, world.editor, id, "two", 2).integer("content_revision") == 3,
               "the same text again made no new revision");
}

void stale_write_refused(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Stale", "one").text("id");
  rewrite(world, world.editor, id, "two", 1);
  const CheckedReply late = rewrite(world, world.editor, id, "three", 1);
  world.expect(late.status == 409 && late.code == "revision_conflict", "a stale write was not refused");
  world.expect(late.integer("current_content_revision") == 2, "the error does not name the current revision");
  world.expect(read(world, world.editor, id).text("content") == "two", "the refused write changed the text");
}

void archive_hides(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Archived", "kept").text("id");
  share(world, id, "read");
  world.expect(archive(world, world.editor, id).status == 200, "it could not be archived");
  world.expect(!lists(world, world.editor, id), "an archived document is in the list");
  world.expect(read(world, world.editor, id).text("content") == "kept", "its editor cannot read the text any more");
  world.expect(read(world, world.viewer, id).status == 404, "a reader still sees it");
}

void archived_is_closed(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Closed", "kept").text("id");
  archive(world, world.editor, id);
  world.expect(archive(world, world.editor, id).status == 200, "archiving again is refused");
  world.expect(rewrite(world, world.editor, id, "new", 2).code == "archived", "an archived text can be rewritten");
}

void limits_hold(CheckedWorld& world) {
  const auto status = [&](std::size_t title, std::size_t content) {
    const Json body = {{"title", std::string(title, 't')}, {"content", std::string(content, 'c')}};
    return world.call("docs.create", world.editor, body).status;
  };
  world.expect(status(300, 0) == 201, "a title of 300 characters was refused");
  world.expect(status(301, 0) == 422, "a title of 301 characters was taken");
  world.expect(status(1, 1'048'576) == 201, "a text of 1 MiB was refused");
  world.expect(status(1, 1'048'577) == 422, "a text over 1 MiB was taken");
}

void private_is_hidden(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Private", "mine").text("id");
  world.expect(read(world, world.owner, id).status == 200, "the owner of the Workspace does not see it");
  for (const Caller* caller : {&world.viewer, &world.agent, &world.stranger}) {
    world.expect(read(world, *caller, id).status == 404, "somebody sees a private document");
    world.expect(!lists(world, *caller, id), "a private document is in somebody's list");
  }
}

void share_opens(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Shared", "ours").text("id");
  world.expect(share(world, id, "read").status == 200, "it could not be shared");
  world.expect(read(world, world.viewer, id).status == 200, "it was shared and is not seen");
  world.expect(read(world, world.agent, id).status == 404, "somebody else sees it too");
}

void viewer_changes_nothing(CheckedWorld& world) {
  world.expect(world.call("docs.create", world.viewer, {{"title", "x"}, {"content", ""}}).status == 403,
               "a viewer made a document");
  world.expect(world.call("projects.create", world.viewer, {{"title", "x"}}).status == 403, "a viewer made a Project");
}

void other_workspace_is_404(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Here", "here").text("id");
  world.expect(read(world, world.stranger, id).status == 404, "a key of another Workspace reads it");
  world.expect(read(world, world.editor, std::string(nobody)).status == 404, "a missing document is not a 404");
  world.expect(move(world, std::string(nobody), nullptr).status == 404, "a node that is not there was moved");
}

void share_is_capped(CheckedWorld& world) {
  const std::string id = create(world, world.editor, "Capped", "one").text("id");
  share(world, id, "edit");
  world.expect(rewrite(world, world.viewer, id, "two", 1).status == 403, "a share lifted a viewer to editor");
}

void no_cycle(CheckedWorld& world) {
  const std::string source = world.call("sync.source_create", world.owner, {{"name", "Outer"}}).text("root_node_id");
  const std::string inner = world.call("sync.source_create", world.owner, {{"name", "Inner"}}).text("root_node_id");
  world.expect(move(world, inner, source).status == 200, "a Page could not be moved below another");
  world.expect(move(world, source, inner).code == "node_cycle", "a cycle was made");
  world.expect(move(world, source, source).code == "node_cycle", "a node is its own parent");
}

void project_at_root(CheckedWorld& world) {
  const CheckedReply project = world.call("projects.create", world.owner, {{"title", "Second"}});
  world.expect(project.status == 201, "no Project could be made");
  world.expect(move(world, project.text("node_id"), world.built_in.project_node_id).code == "project_at_root",
               "a Project left the root");
}

void move_changes_project(CheckedWorld& world) {
  const CheckedReply document = create(world, world.editor, "Moving", "text");
  world.expect(move(world, document.text("node_id"), world.built_in.project_node_id).status == 200, "it did not move");
  world.expect(read(world, world.viewer, document.text("id")).text("project_id") == world.built_in.project_id,
               "it is in the Project and the Workspace does not see it");
}

constexpr Check checks[] = {
    {"documents.read_back", read_back},
    {"documents.revision_rises", revision_rises},
    {"documents.stale_write_refused", stale_write_refused},
    {"documents.archive_hides", archive_hides},
    {"documents.archived_is_closed", archived_is_closed},
    {"documents.limits_hold", limits_hold},
    {"access.private_is_hidden", private_is_hidden},
    {"access.share_opens", share_opens},
    {"access.viewer_changes_nothing", viewer_changes_nothing},
    {"access.other_workspace_is_404", other_workspace_is_404},
    {"access.share_is_capped", share_is_capped},
    {"tree.no_cycle", no_cycle},
    {"tree.project_at_root", project_at_root},
    {"tree.move_changes_project", move_changes_project},
};

}  // namespace

TEST_CASE("checks: documents, access and the tree", "[server-mock]") { run_all(checks); }

}  // namespace ws::mock::test
