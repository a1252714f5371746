#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/tests/catalog.hpp"

namespace ws::mock {
namespace {

constexpr std::string_view nobody = "00000000-0000-7000-8000-000000000000";

ScratchReply create(ScratchWorld& world, const Caller& caller, std::string_view title, std::string_view content) {
  ScratchReply made = world.call("docs.create", caller, {{"title", title}, {"content", content}});
  world.expect(made.status == 201, "a document could not be created");
  return made;
}

ScratchReply read(ScratchWorld& world, const Caller& caller, const std::string& id) {
  return world.call("docs.get", caller, nullptr, {{"document_id", id}});
}

ScratchReply rewrite(
    ScratchWorld& world, const Caller& caller, const std::string& id, std::string_view text, int seen) {
  return world.call(
      "docs.update", caller, {{"content", text}, {"expected_content_revision", seen}}, {{"document_id", id}});
}

ScratchReply archive(ScratchWorld& world, const Caller& caller, const std::string& id) {
  return world.call("docs.archive", caller, nullptr, {{"document_id", id}});
}

ScratchReply share(ScratchWorld& world, const std::string& id, std::string_view permission) {
  return world.call(
      "docs.share", world.editor, {{"email", "viewer@example.com"}, {"permission", permission}}, {{"document_id", id}});
}

ScratchReply move(ScratchWorld& world, const std::string& node, const Json& parent) {
  return world.call("nodes.move", world.owner, {{"parent_node_id", parent}}, {{"node_id", node}});
}

bool lists(ScratchWorld& world, const Caller& caller, const std::string& id) {
  const ScratchReply page = world.call("docs.list", caller, nullptr, {{"limit", 100}});
  const Json* data = find(*page.body, "data");
  if (data == nullptr) return false;
  for (const Json& item : *data) {
    if (find_text(item, "id") == id) return true;
  }
  return false;
}

void read_back(ScratchWorld& world) {
  const std::string text = "\xEF\xBB\xBF# Ünïcode \U0001F41F\r\n\r\n\ttabs\r\n\n\n";
  const std::string id = create(world, world.editor, "Read back", text).text("id");
  const ScratchReply seen = read(world, world.editor, id);
  world.expect(seen.text("content") == text, "the text is not byte for byte what was written");
  world.expect(seen.text("content_sha256") == Sha256::of(text).hex(), "the hash is not that of the bytes");
  world.expect(lists(world, world.editor, id), "the new document is in no list");
}

void revision_rises(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Rising", "one").text("id");
  world.expect(rewrite(world, world.editor, id, "two", 1).integer("content_revision") == 2, "no second revision");
  world.expect(rewrite(world, world.editor, id, "two", 2).integer("content_revision") == 3,
               "the same text again made no new revision");
}

void stale_write_refused(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Stale", "one").text("id");
  rewrite(world, world.editor, id, "two", 1);
  const ScratchReply late = rewrite(world, world.editor, id, "three", 1);
  world.expect(late.status == 409 && late.code == "revision_conflict", "a stale write was not refused");
  world.expect(late.integer("current_content_revision") == 2, "the error does not name the current revision");
  world.expect(read(world, world.editor, id).text("content") == "two", "the refused write changed the text");
}

void archive_hides(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Archived", "kept").text("id");
  share(world, id, "read");
  world.expect(archive(world, world.editor, id).status == 200, "it could not be archived");
  world.expect(!lists(world, world.editor, id), "an archived document is in the list");
  world.expect(read(world, world.editor, id).text("content") == "kept", "its editor cannot read the text any more");
  world.expect(read(world, world.viewer, id).status == 404, "a reader still sees it");
}

void archived_is_closed(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Closed", "kept").text("id");
  archive(world, world.editor, id);
  world.expect(archive(world, world.editor, id).status == 200, "archiving again is refused");
  world.expect(rewrite(world, world.editor, id, "new", 2).code == "archived", "an archived text can be rewritten");
}

void limits_hold(ScratchWorld& world) {
  const auto status = [&](std::size_t title, std::size_t content) {
    const Json body = {{"title", std::string(title, 't')}, {"content", std::string(content, 'c')}};
    return world.call("docs.create", world.editor, body).status;
  };
  world.expect(status(300, 0) == 201, "a title of 300 characters was refused");
  world.expect(status(301, 0) == 422, "a title of 301 characters was taken");
  world.expect(status(1, 1'048'576) == 201, "a text of 1 MiB was refused");
  world.expect(status(1, 1'048'577) == 422, "a text over 1 MiB was taken");
}

void private_is_hidden(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Private", "mine").text("id");
  world.expect(read(world, world.owner, id).status == 200, "the owner of the Workspace does not see it");
  for (const Caller* caller : {&world.viewer, &world.agent, &world.stranger}) {
    world.expect(read(world, *caller, id).status == 404, "somebody sees a private document");
    world.expect(!lists(world, *caller, id), "a private document is in somebody's list");
  }
}

void share_opens(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Shared", "ours").text("id");
  world.expect(share(world, id, "read").status == 200, "it could not be shared");
  world.expect(read(world, world.viewer, id).status == 200, "it was shared and is not seen");
  world.expect(read(world, world.agent, id).status == 404, "somebody else sees it too");
}

void viewer_changes_nothing(ScratchWorld& world) {
  world.expect(world.call("docs.create", world.viewer, {{"title", "x"}, {"content", ""}}).status == 403,
               "a viewer made a document");
  world.expect(world.call("projects.create", world.viewer, {{"title", "x"}}).status == 403, "a viewer made a Project");
}

void other_workspace_is_404(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Here", "here").text("id");
  world.expect(read(world, world.stranger, id).status == 404, "a key of another Workspace reads it");
  world.expect(read(world, world.editor, std::string(nobody)).status == 404, "a missing document is not a 404");
  world.expect(move(world, std::string(nobody), nullptr).status == 404, "a node that is not there was moved");
}

void share_is_capped(ScratchWorld& world) {
  const std::string id = create(world, world.editor, "Capped", "one").text("id");
  share(world, id, "edit");
  world.expect(rewrite(world, world.viewer, id, "two", 1).status == 403, "a share lifted a viewer to editor");
}

void no_cycle(ScratchWorld& world) {
  const std::string source = world.call("sync.source_create", world.owner, {{"name", "Outer"}}).text("root_node_id");
  const std::string inner = world.call("sync.source_create", world.owner, {{"name", "Inner"}}).text("root_node_id");
  world.expect(move(world, inner, source).status == 200, "a Page could not be moved below another");
  world.expect(move(world, source, inner).code == "node_cycle", "a cycle was made");
  world.expect(move(world, source, source).code == "node_cycle", "a node is its own parent");
}

void project_at_root(ScratchWorld& world) {
  const ScratchReply project = world.call("projects.create", world.owner, {{"title", "Second"}});
  world.expect(project.status == 201, "no Project could be made");
  world.expect(move(world, project.text("node_id"), world.built_in.project_node_id).code == "project_at_root",
               "a Project left the root");
}

void move_changes_project(ScratchWorld& world) {
  const ScratchReply document = create(world, world.editor, "Moving", "text");
  world.expect(move(world, document.text("node_id"), world.built_in.project_node_id).status == 200, "it did not move");
  world.expect(read(world, world.viewer, document.text("id")).text("project_id") == world.built_in.project_id,
               "it is in the Project and the Workspace does not see it");
}

constexpr TestCase cases[] = {
    {"documents.read_back",
     "A document reads as it was written",
     "Creates a text with a BOM, CRLF and astral characters, and reads it back with its hash.",
     "documents.write",
     "content",
     "editor",
     "free",
     read_back},
    {"documents.revision_rises",
     "Each write is a revision",
     "Rewrites a text twice, the second time with the same words.",
     "documents.write",
     "content",
     "editor",
     "free",
     revision_rises},
    {"documents.stale_write_refused",
     "A stale write is refused",
     "Writes with a revision that is no longer the newest: 409, and nothing changed.",
     "documents.write",
     "content",
     "editor",
     "free",
     stale_write_refused},
    {"documents.archive_hides",
     "Archiving hides and keeps",
     "Archives a shared document: out of the list, 404 to its reader, text kept for its editor.",
     "documents.archive",
     "content",
     "editor",
     "free",
     archive_hides},
    {"documents.archived_is_closed",
     "What is archived cannot be rewritten",
     "Archives twice and writes: 200, then 409 archived.",
     "documents.archive",
     "content",
     "editor",
     "free",
     archived_is_closed},
    {"documents.limits_hold",
     "The limits of title and text hold",
     "Creates just inside and just outside of 300 characters and 1 MiB.",
     "documents.write",
     "content",
     "editor",
     "low",
     limits_hold},
    {"access.private_is_hidden",
     "A private document is there for few",
     "Creates outside every Project; a viewer, an agent and another Workspace do not see it.",
     "access.read",
     "access",
     "editor",
     "free",
     private_is_hidden},
    {"access.share_opens",
     "A share opens to one",
     "Shares with one person: seen by that one and by nobody else.",
     "access.share",
     "access",
     "editor",
     "free",
     share_opens},
    {"access.viewer_changes_nothing",
     "A viewer changes nothing",
     "Creates as a viewer: 403.",
     "access.write",
     "access",
     "viewer",
     "free",
     viewer_changes_nothing},
    {"access.other_workspace_is_404",
     "Another Workspace is not there",
     "Reads with a key of another Workspace: 404, as for what never was.",
     "access.read",
     "access",
     "viewer",
     "free",
     other_workspace_is_404},
    {"access.share_is_capped",
     "A share never exceeds the role",
     "Shares for editing with a viewer, who still may not write.",
     "access.share",
     "access",
     "viewer",
     "free",
     share_is_capped},
    {"tree.no_cycle",
     "No node below itself",
     "Moves a Page below its own child: 409 node_cycle.",
     "tree.move",
     "content",
     "editor",
     "free",
     no_cycle},
    {"tree.project_at_root",
     "A Project stays at the root",
     "Moves a Project below another: 409 project_at_root.",
     "tree.move",
     "content",
     "editor",
     "free",
     project_at_root},
    {"tree.move_changes_project",
     "A move into a Project opens a document",
     "Moves a private document into a Project, where the Workspace sees it.",
     "tree.move",
     "content",
     "editor",
     "free",
     move_changes_project},
};

}  // namespace

std::span<const TestCase> content_cases() { return cases; }

}  // namespace ws::mock
