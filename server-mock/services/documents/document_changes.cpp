#include "server-mock/services/documents/document_changes.hpp"

#include "api-client/base/sha256.hpp"
#include "server-mock/services/comments/anchors.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<void> insert_document(World& world, Document& document, std::string_view content) {
  WS_TRY(put(world,
             "insert into documents (id, node_id, workspace_id, content_revision, content_sha256, size_bytes, "
             "created_by_user_id, created_by_agent_id, created_by_name, created_at, updated_by_kind, updated_by_id, "
             "updated_by_name, updated_at, content) values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             document.id,
             document.node_id,
             document.workspace_id,
             document.content_sha256,
             document.size_bytes,
             document.created_by_user_id,
             document.created_by_agent_id,
             document.created_by_name,
             document.created_at,
             document.updated_by.kind,
             document.updated_by.id,
             document.updated_by.name,
             document.updated_at,
             content));
  document.sequence = world.database.last_insert_rowid();
  return {};
}

/// Stores the current text under its revision: it is the base of later conflicts.
Result<void> keep_text(World& world, std::string_view document_id) {
  return put(world,
             "insert or ignore into document_revisions (document_id, content_revision, "
             "content_sha256, content) select id, content_revision, content_sha256, content "
             "from documents where id = ?",
             document_id);
}

Result<void> set_title(World& world, std::string_view node_id, std::string_view title) {
  return put(world, "update nodes set title = ?, updated_at = ? where id = ?", title, world.now(), node_id);
}

}  // namespace

Result<DocumentChanges> DocumentChanges::by(World& world, const Caller& caller) {
  WS_LET(Actor actor, find_actor(world, caller));
  return DocumentChanges(world, caller, std::move(actor));
}

Result<const std::vector<std::string>*> DocumentChanges::sources_at(const std::string& node_id) {
  const auto known = sources_.find(node_id);
  if (known != sources_.end()) return &known->second;
  WS_LET(std::vector<std::string> above, sources_above(world_, node_id));
  return &sources_.emplace(node_id, std::move(above)).first->second;
}

Result<Document> DocumentChanges::create(const Draft& draft, const std::optional<RequestedPath>& requested) {
  Node node = {.id = world_.ids.uuid("node"),
               .workspace_id = std::string(draft.workspace_id),
               .kind = "document",
               .parent_id = std::string(draft.parent_node_id),
               .project_id = std::string(draft.project_id),
               .title = std::string(draft.title),
               .created_by_user_id = caller_.owner_user_id,
               .created_by_agent_id = caller_.agent_id};
  WS_TRY(insert_node(world_, node));
  Document document = {.id = world_.ids.uuid("document"),
                       .node_id = node.id,
                       .parent_node_id = node.parent_id,
                       .project_id = node.project_id,
                       .workspace_id = node.workspace_id,
                       .title = node.title,
                       .content_sha256 = draft.content_sha256.empty() ? Sha256::of(draft.content).hex()
                                                                      : std::string(draft.content_sha256),
                       .size_bytes = static_cast<std::int64_t>(draft.content.size()),
                       .created_by_user_id = caller_.owner_user_id,
                       .created_by_agent_id = caller_.agent_id,
                       .created_by_name = actor_.name,
                       .created_at = world_.now(),
                       .updated_by = actor_,
                       .updated_at = world_.now()};
  WS_TRY(insert_document(world_, document, draft.content));
  if (document.parent_node_id.empty()) return document;
  WS_LET(const std::vector<std::string>* above, sources_at(document.parent_node_id));
  for (const std::string& source : *above) {
    const bool wished = requested && requested->source_id == source;
    WS_TRY(enter_source(world_, source, document, wished ? std::optional(requested->path) : std::nullopt));
  }
  return document;
}

Result<void> DocumentChanges::rewrite(Document& document, const Rewrite& change) {
  WS_TRY(keep_text(world_, document.id));
  if (change.title) {
    document.title = *change.title;
    WS_TRY(set_title(world_, document.node_id, document.title));
  }
  if (change.content) {
    document.content_sha256 =
        change.content_sha256.empty() ? Sha256::of(*change.content).hex() : std::string(change.content_sha256);
    document.size_bytes = static_cast<std::int64_t>(change.content->size());
    WS_TRY(put(world_,
               "update documents set content = ?, content_sha256 = ?, size_bytes = ? where id = ?",
               *change.content,
               document.content_sha256,
               document.size_bytes,
               document.id));
    WS_TRY(check_anchors(world_, document.id, *change.content));
  }
  ++document.content_revision;
  WS_TRY(sign(document));
  return touch_sources(world_, document.id, change.content ? Changed::text : Changed::title);
}

Result<void> DocumentChanges::archive(Document& document) {
  WS_TRY(keep_text(world_, document.id));
  ++document.content_revision;
  document.archived = true;
  document.archived_at = world_.now();
  WS_TRY(sign(document));
  WS_TRY(put(world_,
             "update documents set status = 'archived', archived_at = ? where id = ?",
             *document.archived_at,
             document.id));
  WS_TRY(put(world_, "update nodes set archived = 1 where id = ?", document.node_id));
  return leave_all_sources(world_, document.id);
}

Result<void> DocumentChanges::move(Document& document,
                                   const Node& parent,
                                   const std::optional<RequestedPath>& requested) {
  if (document.parent_node_id != parent.id) {
    WS_LET(const std::int64_t position, next_position(world_, parent.workspace_id, parent.id));
    WS_TRY(put(world_,
               "update nodes set parent_id = ?, project_id = ?, position = ?, updated_at = ? where id = ?",
               parent.id,
               parent.project_id,
               position,
               world_.now(),
               document.node_id));
    document.parent_node_id = parent.id;
    document.project_id = parent.project_id;
  }
  WS_TRY(sign(document));
  WS_LET(const std::vector<std::string>* above, sources_at(parent.id));
  return follow_move(world_, document, *above, requested);
}

Result<void> DocumentChanges::moved_with_parent(std::string_view document_id) {
  WS_LET(std::optional<Document> document, find_document(world_, document_id, WithContent::no));
  if (!document) return {};
  WS_TRY(sign(*document));
  WS_LET(const std::vector<std::string>* above, sources_at(document->parent_node_id));
  return follow_move(world_, *document, *above, std::nullopt);
}

Result<void> DocumentChanges::sign(Document& document) {
  document.updated_by = actor_;
  document.updated_at = world_.now();
  return put(world_,
             "update documents set content_revision = ?, updated_by_kind = ?, updated_by_id = ?, "
             "updated_by_name = ?, updated_at = ? where id = ?",
             document.content_revision,
             actor_.kind,
             actor_.id,
             actor_.name,
             document.updated_at,
             document.id);
}

}  // namespace ws::mock
