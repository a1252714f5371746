/// Rows of nodes and documents: reading, and plain writes of nodes.
///
/// A document's title and place are those of its node. Documents are changed only by `services/documents`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A Project, a branch Page, or the leaf node of a document or an asset.
struct Node {
  std::string id = {};
  std::string workspace_id = {};
  std::string kind = {};        ///< "project", "page", "document", "asset"
  std::string parent_id = {};   ///< empty: Workspace root
  std::string project_id = {};  ///< of the enclosing Project; empty: outside every Project
  std::int64_t position = 0;
  std::string title = {};
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
};

/// Who did something. The name is stored, so that a later change of it does not alter history.
struct Actor {
  std::string kind = {};  ///< "user", "agent"
  std::string id = {};
  std::string name = {};
};

struct Document {
  std::int64_t sequence = 0;  ///< creation order; list cursors hold it
  std::string id = {};
  std::string node_id = {};
  std::string parent_node_id = {};
  std::string project_id = {};
  std::string workspace_id = {};
  std::string title = {};
  bool archived = false;
  std::int64_t content_revision = 1;
  std::string content_sha256 = {};
  std::int64_t size_bytes = 0;
  std::string created_by_user_id = {};
  std::string created_by_agent_id = {};
  std::string created_by_name = {};
  std::int64_t created_at = 0;
  Actor updated_by = {};
  std::int64_t updated_at = 0;
  std::optional<std::int64_t> archived_at = {};
  std::string content = {};  ///< empty unless requested
};

enum class WithContent { no, yes };

Result<std::optional<Node>> find_node(World& world, std::string_view id);
Result<std::optional<Document>> find_document(World& world, std::string_view id, WithContent content);
/// The document of a node; empty if the node has none.
Result<std::optional<std::string>> document_on(World& world, std::string_view node_id);
/// The text of a document at a current or earlier revision; empty if there is none.
struct PastText {
  std::string sha256 = {};
  std::string content = {};
};
Result<std::optional<PastText>> find_text_at(World& world, std::string_view document_id, std::int64_t revision);

/// The node and its ancestors, from itself to the top.
Result<std::vector<Node>> node_and_above(World& world, std::string_view id);
/// The documents of a node and of all nodes below it, without archived ones, ordered by id.
Result<std::vector<std::string>> documents_below(World& world, std::string_view node_id);

/// Appends a new node to its siblings and sets its position.
Result<void> insert_node(World& world, Node& node);
/// The position after the last child of `parent_id` ('': Workspace root).
Result<std::int64_t> next_position(World& world, std::string_view workspace_id, std::string_view parent_id);

/// Columns of `documents d join nodes n on n.id = d.node_id`, and the function that reads them.
#define WS_DOCUMENT_COLUMNS                                                                                         \
  "d.sequence, d.id, d.node_id, n.parent_id, n.project_id, d.workspace_id, n.title, d.status, d.content_revision, " \
  "d.content_sha256, d.size_bytes, d.created_by_user_id, d.created_by_agent_id, d.created_at, d.updated_by_kind, "  \
  "d.updated_by_id, d.updated_by_name, d.updated_at, d.archived_at, d.created_by_name"
inline constexpr int document_column_count = 20;
Document read_document(const sqlite::Statement& row, WithContent content);

}  // namespace ws::mock
