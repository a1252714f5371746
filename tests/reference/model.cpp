// Documents, nodes and shares: `decisions.md`, "Credentials, roles, scopes" and "Resource shapes".
#include "tests/reference/model.hpp"

#include <algorithm>

namespace ws::mock::test {
namespace {

Level level_of(Rank rank) {
  if (rank >= Rank::editor) return Level::edit;
  if (rank >= Rank::commenter) return Level::comment;
  return rank >= Rank::viewer ? Level::read : Level::none;
}

const Expected missing_scope = {403, "missing_scope"};
const Expected insufficient_role = {403, "insufficient_role"};
const Expected not_found = {404, "not_found"};

}  // namespace

Level level_of(std::string_view permission) {
  if (permission == "edit") return Level::edit;
  return permission == "comment" ? Level::comment : Level::read;
}

Level Model::level(const Actor& actor, const ModelDocument& document) const {
  if (actor.workspace_id != document.workspace_id) return Level::none;
  const Level by_role = level_of(actor.rank);
  const bool made = actor.is_agent() ? document.maker_agent == actor.agent_id
                                     : document.maker_agent.empty() && document.maker_user == actor.user_id;
  const bool admin = !actor.is_agent() && actor.rank >= Rank::admin;
  Level level = Level::none;
  if (!document.project.empty() || made || admin) {
    level = by_role;
  } else {
    const auto share = document.shares.find(actor.is_agent() ? actor.agent_id : actor.user_id);
    if (share != document.shares.end()) level = std::min(by_role, test::level_of(share->second));
  }
  return document.archived && level != Level::edit ? Level::none : level;
}

bool Model::sees_node(const Actor& actor, const ModelNode& node) const {
  if (actor.workspace_id != node.workspace_id) return false;
  return !node.project.empty() || (!actor.is_agent() && actor.rank >= Rank::admin) ||
         node.maker == (actor.is_agent() ? actor.agent_id : actor.user_id);
}

const ModelDocument* Model::seen(const Actor& actor, const std::string& id) const {
  const auto found = documents.find(id);
  if (found == documents.end() || level(actor, found->second) == Level::none) return nullptr;
  return &found->second;
}

/// Checks scope, role, existence and shares; the document's state is checked later.
std::optional<Expected> Model::refuse_edit(const Actor& actor, const std::string& id) const {
  if (!actor.may_write_documents()) return missing_scope;
  if (actor.rank < Rank::editor) return insufficient_role;
  const ModelDocument* document = seen(actor, id);
  if (document == nullptr) return not_found;
  if (level(actor, *document) < Level::edit) return Expected{403, "forbidden"};
  return std::nullopt;
}

Expected Model::refuse_revision(const ModelDocument& document, std::int64_t expected) const {
  if (document.archived) return {409, "archived"};
  if (document.revision != expected) return {409, "revision_conflict"};
  return {};
}

Expected Model::create(const Actor& actor, const std::string& parent) const {
  if (!actor.may_write_documents()) return missing_scope;
  if (actor.rank < Rank::editor) return insufficient_role;
  if (parent.empty()) return {201};
  const auto node = nodes.find(parent);
  if (node != nodes.end()) return sees_node(actor, node->second) ? Expected{201} : not_found;
  const auto document = std::ranges::find_if(documents, [&](const auto& each) { return each.second.node == parent; });
  // The node of an archived document belongs to no tree.
  if (document == documents.end() || document->second.archived) return not_found;
  if (level(actor, document->second) == Level::none) return not_found;
  return {422, "validation_error"};  // a leaf cannot have children
}

void Model::created(const Actor& actor, ModelDocument document) {
  document.workspace_id = actor.workspace_id;
  document.maker_user = actor.user_id;
  document.maker_agent = actor.agent_id;
  if (const auto parent = nodes.find(document.parent); parent != nodes.end()) document.project = parent->second.project;
  documents[document.id] = std::move(document);
}

Expected Model::read(const Actor& actor, const std::string& id) const {
  return seen(actor, id) != nullptr ? Expected{} : not_found;
}

void Model::rewrite(ModelDocument& document, const std::string& content) {
  document.texts[document.revision] = document.content;
  document.content = content;
  ++document.revision;
  for (auto& [id, thread] : threads) {
    if (thread.document_id != document.id || thread.quote.empty() || thread.quote_lost) continue;
    if (content.find(thread.quote) != std::string::npos) continue;
    thread.quote_lost = true;
    if (thread.status == "open") thread.status = "needs_reanchor";
  }
}

void Model::put_away(ModelDocument& document) {
  document.texts[document.revision] = document.content;
  ++document.revision;
  document.archived = true;
}

Expected Model::update(const Actor& actor, const std::string& id, std::int64_t expected, const std::string& content) {
  if (const auto refused = refuse_edit(actor, id)) return *refused;
  ModelDocument& document = documents[id];
  const Expected answer = refuse_revision(document, expected);
  if (answer.is_success()) rewrite(document, content);
  return answer;
}

Expected Model::rename(const Actor& actor, const std::string& id, std::int64_t expected, const std::string& title) {
  if (const auto refused = refuse_edit(actor, id)) return *refused;
  ModelDocument& document = documents[id];
  const Expected answer = refuse_revision(document, expected);
  if (!answer.is_success()) return answer;
  document.texts[document.revision] = document.content;
  document.title = title;
  ++document.revision;
  return answer;
}

Expected Model::archive(const Actor& actor, const std::string& id) {
  if (const auto refused = refuse_edit(actor, id)) return *refused;
  if (!documents[id].archived) put_away(documents[id]);
  return {};
}

Expected Model::share(const Actor& actor,
                      const std::string& id,
                      const std::string& grantee,
                      const std::string& permission) {
  if (!actor.may_share()) return missing_scope;
  if (const auto refused = refuse_edit(actor, id)) return *refused;
  ModelDocument& document = documents[id];
  if (document.archived) return {409, "archived"};
  document.shares[grantee] = permission;
  if (agents.contains(grantee)) {
    events.push_back({.agent_id = grantee, .kind = "document.shared", .document_id = id, .available_at = now});
  }
  return {};
}

Expected Model::move(const Actor& actor, const std::string& id, const std::string& parent) {
  if (const auto refused = refuse_edit(actor, id)) return *refused;
  ModelDocument& document = documents[id];
  if (!parent.empty()) {
    const auto node = nodes.find(parent);
    if (node == nodes.end() || !sees_node(actor, node->second)) return not_found;
    document.project = node->second.project;
  } else {
    document.project.clear();
  }
  document.parent = parent;
  return {};
}

Expected Model::move_project(const Actor& actor, const std::string& node, const std::string& parent) const {
  if (!actor.may_write_documents()) return missing_scope;
  if (actor.rank < Rank::editor) return insufficient_role;
  const auto project = nodes.find(node);
  if (project == nodes.end() || !sees_node(actor, project->second)) return not_found;
  if (parent.empty()) return {};
  const auto into = nodes.find(parent);
  if (into == nodes.end() || !sees_node(actor, into->second)) return not_found;
  return {409, "project_at_root"};
}

Expected Model::create_project(const Actor& actor) const {
  if (actor.is_agent()) return missing_scope;
  return actor.rank < Rank::editor ? insufficient_role : Expected{201};
}

std::set<std::string> Model::listed(const Actor& actor) const {
  std::set<std::string> ids;
  for (const auto& [id, document] : documents) {
    if (!document.archived && level(actor, document) != Level::none) ids.insert(id);
  }
  return ids;
}

}  // namespace ws::mock::test
