#include "server-mock/store/tree.hpp"

#include "server-mock/store/query.hpp"

namespace ws::mock {

#define WS_NODE_COLUMNS \
  "id, workspace_id, kind, parent_id, project_id, position, title, created_by_user_id, created_by_agent_id"

Document read_document(const sqlite::Statement& row, WithContent content) {
  return {.sequence = row.integer(0),
          .id = row.string(1),
          .node_id = row.string(2),
          .parent_node_id = row.string(3),
          .project_id = row.string(4),
          .workspace_id = row.string(5),
          .title = row.string(6),
          .archived = row.text(7) == "archived",
          .content_revision = row.integer(8),
          .content_sha256 = row.string(9),
          .size_bytes = row.integer(10),
          .created_by_user_id = row.string(11),
          .created_by_agent_id = row.string(12),
          .created_by_name = row.string(19),
          .created_at = row.integer(13),
          .updated_by = {.kind = row.string(14), .id = row.string(15), .name = row.string(16)},
          .updated_at = row.integer(17),
          .archived_at = row.optional_integer(18),
          .content = content == WithContent::yes ? row.string(document_column_count) : std::string()};
}

Result<std::optional<Node>> find_node(World& world, std::string_view id) {
  return read_row(world, read_as<Node>, "select " WS_NODE_COLUMNS " from nodes where id = ?", id);
}

Result<std::optional<Document>> find_document(World& world, std::string_view id, WithContent content) {
  const char* sql =
      content == WithContent::yes
          ? "select " WS_DOCUMENT_COLUMNS ", d.content from documents d join nodes n on n.id = d.node_id where d.id = ?"
          : "select " WS_DOCUMENT_COLUMNS " from documents d join nodes n on n.id = d.node_id where d.id = ?";
  return read_row(
      world, [content](const sqlite::Statement& row) { return read_document(row, content); }, sql, id);
}

Result<std::optional<std::string>> document_on(World& world, std::string_view node_id) {
  return read_row(world, read_text, "select id from documents where node_id = ?", node_id);
}

Result<std::optional<PastText>> find_text_at(World& world, std::string_view document_id, std::int64_t revision) {
  return read_row(
      world,
      read_as<PastText>,
      "select content_sha256, content from documents where id = ?1 and content_revision = ?2 union all "
      "select content_sha256, content from document_revisions where document_id = ?1 and content_revision = ?2 limit 1",
      document_id,
      revision);
}

Result<std::vector<Node>> node_and_above(World& world, std::string_view id) {
  std::vector<Node> line;
  std::string next(id);
  while (!next.empty()) {
    WS_LET(std::optional<Node> node, find_node(world, next));
    if (!node) break;
    next = node->parent_id;
    line.push_back(std::move(*node));
  }
  return line;
}

Result<std::vector<std::string>> documents_below(World& world, std::string_view node_id) {
  return read_rows(world,
                   read_text,
                   "with recursive below (id, workspace_id) as (  select id, workspace_id from nodes where id = ?"
                   "  union all select n.id, n.workspace_id from nodes n join below b"
                   "    on n.workspace_id = b.workspace_id and n.parent_id = b.id)"
                   "select d.id from below b join documents d on d.node_id = b.id "
                   "where d.status = 'active' order by d.id",
                   node_id);
}

Result<std::int64_t> next_position(World& world, std::string_view workspace_id, std::string_view parent_id) {
  return read_number(world,
                     "select coalesce(max(position) + 1, 0) from nodes where workspace_id = ? and parent_id = ?",
                     workspace_id,
                     parent_id);
}

Result<void> insert_node(World& world, Node& node) {
  WS_LET(node.position, next_position(world, node.workspace_id, node.parent_id));
  return put(world,
             "insert into nodes (" WS_NODE_COLUMNS ", created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             node.id,
             node.workspace_id,
             node.kind,
             node.parent_id,
             node.project_id,
             node.position,
             node.title,
             node.created_by_user_id,
             node.created_by_agent_id,
             world.now(),
             world.now());
}

}  // namespace ws::mock
