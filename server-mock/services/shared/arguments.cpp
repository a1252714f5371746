#include "server-mock/services/shared/arguments.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/store/query.hpp"

namespace ws::mock {

using contract::Role;

std::string_view text_of(const Json& object, std::string_view name) {
  const Json* member = find(object, name);
  return member != nullptr && member->is_string() ? std::string_view(member->get_ref<const std::string&>())
                                                  : std::string_view();
}

std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t fallback) {
  return find_integer(object, name).value_or(fallback);
}

std::string id_of(const Json& object, std::string_view name) {
  std::string id(text_of(object, name));
  for (char& c : id) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return id;
}

ApiResult<VisibleDocument> find_visible_document(World& world,
                                                 const ServiceCall& call,
                                                 std::string_view id,
                                                 WithContent content) {
  WS_API_LET(std::optional<Document> document, find_document(world, id, content));
  if (!document) return not_found("document");
  WS_API_LET(const Role role, role_in(world, call.caller, document->workspace_id));
  WS_API_LET(const AccessLevel access, access_to(world, call.caller, role, *document));
  if (access == AccessLevel::none) return not_found("document");
  return VisibleDocument{.document = std::move(*document), .access = access, .role = role};
}

ApiResult<bool> is_visible_document(World& world, const ServiceCall& call, std::string_view id) {
  const auto seen = find_visible_document(world, call, id, WithContent::no);
  if (!seen && seen.error().status >= 500) return refuse(seen.error());
  return seen.has_value();
}

ApiResult<Document> editable_document(World& world, const ServiceCall& call, std::string_view id, WithContent content) {
  WS_API_LET(VisibleDocument seen, find_visible_document(world, call, id, content));
  WS_API_TRY(require_role(call, seen.role));
  if (seen.access < AccessLevel::edit) return forbidden("The document was shared with you, but not for editing");
  return std::move(seen.document);
}

ApiResult<void> require_active(const Document& document) {
  if (document.archived) return conflict("archived", "The document is archived");
  return {};
}

ApiResult<VisibleNode> find_visible_node(World& world, const ServiceCall& call, std::string_view id) {
  WS_API_LET(std::optional<Node> node, find_node(world, id));
  if (!node) return not_found("node");
  WS_API_LET(const Role role, role_in(world, call.caller, node->workspace_id));
  WS_API_LET(const std::optional<std::string> document_id, document_on(world, id));
  AccessLevel access = access_to(call.caller, role, *node);
  if (document_id) {
    WS_API_LET(const std::optional<Document> document, find_document(world, *document_id, WithContent::no));
    WS_API_LET(access, access_to(world, call.caller, role, *document));
    // The node of an archived document belongs to no tree.
    if (document->archived) access = AccessLevel::none;
  }
  if (access == AccessLevel::none) return not_found("node");
  return VisibleNode{.node = std::move(*node), .access = access, .role = role};
}

ApiResult<VisibleNode> find_visible_project(World& world, const ServiceCall& call, std::string_view project_id) {
  WS_API_LET(const std::optional<std::string> node_id,
             read_row(world, read_text, "select node_id from projects where id = ?", project_id));
  if (!node_id) return not_found("Project");
  auto seen = find_visible_node(world, call, *node_id);
  if (!seen && seen.error().status == 404) return not_found("Project");
  return seen;
}

ApiResult<std::string> own_workspace(const ServiceCall& call) {
  WS_API_TRY(require_role(call, call.caller.role));
  return call.caller.workspace_id;
}

ApiResult<Parent> find_parent(World& world, const ServiceCall& call) {
  const std::string parent_id = id_of(call.body, "parent_node_id");
  const std::string project_id = id_of(call.body, "project_id");
  if (parent_id.empty() && project_id.empty()) {
    WS_API_LET(std::string own, own_workspace(call));
    return Parent{.workspace_id = std::move(own)};
  }
  std::optional<VisibleNode> parent;
  if (!project_id.empty()) {
    WS_API_LET(parent, find_visible_project(world, call, project_id));
  }
  if (!parent_id.empty()) {
    WS_API_LET(parent, find_visible_node(world, call, parent_id));
  }
  if (parent->node.kind != "page" && parent->node.kind != "project") {
    return invalid("body", "parent_node_id", "value_error", "Only a Project or a Page can hold a document", parent_id);
  }
  if (!project_id.empty() && parent->node.project_id != project_id) {
    return invalid("body", "parent_node_id", "value_error", "The node is not in that Project", parent_id);
  }
  WS_API_TRY(require_role(call, parent->role));
  return Parent{.workspace_id = parent->node.workspace_id,
                .parent_node_id = parent->node.id,
                .project_id = parent->node.project_id};
}

}  // namespace ws::mock
