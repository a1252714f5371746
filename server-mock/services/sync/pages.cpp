#include "server-mock/services/sync/shared.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<bool> is_empty(World& world, const Node& page) {
  WS_LET(const bool has_nodes,
         has_row(world,
                 "select 1 from nodes where workspace_id = ? and parent_id = ? and archived = 0 limit 1",
                 page.workspace_id,
                 page.id));
  return !has_nodes;
}

/// The root Page of a source is kept even if it is empty.
Result<bool> is_root(World& world, const Node& page) {
  return has_row(world, "select 1 from sync_sources where root_node_id = ?", page.id);
}

/// Moves the nodes of archived documents to the parent: their editors can still read them.
Result<void> remove_page(World& world, const Node& page) {
  WS_TRY(put(world,
             "update nodes set parent_id = ? where workspace_id = ? and parent_id = ?",
             page.parent_id,
             page.workspace_id,
             page.id));
  return put(world, "delete from nodes where id = ?", page.id);
}

}  // namespace

Result<Pages::Children*> Pages::children_of(const Node& parent) {
  const auto known = children_.find(parent.id);
  if (known != children_.end()) return &known->second;
  WS_LET(const sqlite::CachedStatement rows,
         world_.database.cached("select id, title from nodes where workspace_id = ? and parent_id = ? "
                                "and kind = 'page' order by position, id"));
  rows->bind_all(parent.workspace_id, parent.id);
  Children children;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return &children_.emplace(parent.id, std::move(children)).first->second;
    children.emplace(segment_of(rows->text(1)),
                     Node{.id = rows->string(0),
                          .workspace_id = parent.workspace_id,
                          .kind = "page",
                          .parent_id = parent.id,
                          .project_id = parent.project_id,
                          .title = rows->string(1)});
  }
}

Result<Node> Pages::find_or_make(std::string_view folder) {
  if (folder.empty()) return seen_.root;
  const auto known = folders_.find(folder);
  if (known != folders_.end()) return known->second;
  WS_LET(const Node parent, find_or_make(folder_of(folder)));
  WS_LET(Children * children, children_of(parent));
  const std::string segment(file_name_of(folder));
  auto child = children->find(segment);
  if (child == children->end()) {
    Node page = {.id = world_.ids.uuid("node"),
                 .workspace_id = parent.workspace_id,
                 .kind = "page",
                 .parent_id = parent.id,
                 .project_id = parent.project_id,
                 .title = segment,
                 .created_by_user_id = caller_.owner_user_id,
                 .created_by_agent_id = caller_.agent_id};
    WS_TRY(insert_node(world_, page));
    child = children->emplace(segment, std::move(page)).first;
  }
  return folders_.emplace(std::string(folder), child->second).first->second;
}

Result<void> Pages::prune(std::string page_id) {
  while (!page_id.empty() && page_id != seen_.root.id) {
    WS_LET(const std::optional<Node> page, find_node(world_, page_id));
    if (!page || page->kind != "page") return {};
    WS_LET(const bool empty, is_empty(world_, *page));
    WS_LET(const bool root, is_root(world_, *page));
    if (!empty || root) return {};
    WS_TRY(remove_page(world_, *page));
    page_id = page->parent_id;
    // The cached children may be outdated now.
    folders_.clear();
    children_.clear();
  }
  return {};
}

}  // namespace ws::mock
