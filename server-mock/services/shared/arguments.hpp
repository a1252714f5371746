/// Reads the arguments of a validated call: members of bodies and parameters, and the objects that they refer to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/visibility.hpp"

namespace ws::mock {

/// The member as text; empty if it is missing or null. Points into `object`.
std::string_view text_of(const Json& object, std::string_view name);
std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t fallback);
/// A UUID in lower case, as ids are stored; empty if it is missing or null.
std::string id_of(const Json& object, std::string_view name);

/// A document, with the caller's access to it. 404 if it does not exist or the caller may not see it.
struct VisibleDocument {
  Document document = {};
  AccessLevel access = AccessLevel::none;
  contract::Role role = contract::Role::none;
};
ApiResult<VisibleDocument> find_visible_document(World& world,
                                                 const ServiceCall& call,
                                                 std::string_view id,
                                                 WithContent content);
/// The same, and 403 if the caller may not change it.
ApiResult<Document> editable_document(World& world, const ServiceCall& call, std::string_view id, WithContent content);
/// Whether the caller may see a document that the call does not name.
ApiResult<bool> is_visible_document(World& world, const ServiceCall& call, std::string_view id);

/// 409 `archived`. The state comes last: first look up all that the call names.
ApiResult<void> require_active(const Document& document);

/// A node; 404 if it does not exist or the caller may not see it.
struct VisibleNode {
  Node node = {};
  AccessLevel access = AccessLevel::none;
  contract::Role role = contract::Role::none;
};
ApiResult<VisibleNode> find_visible_node(World& world, const ServiceCall& call, std::string_view id);

/// The Workspace of a new object that names no place: the one that /v1/me shows. 403 if the caller's role there does
/// not suffice. Services take it from here, since the pipeline accepts a user key whose role suffices in any Workspace.
ApiResult<std::string> own_workspace(const ServiceCall& call);

/// Parent of a new object: a Project or a Page that the caller may change, or (empty id) the Workspace root.
struct Parent {
  std::string workspace_id = {};
  std::string parent_node_id = {};
  std::string project_id = {};
};
/// Reads `parent_node_id` and `project_id`; without both, the root of the caller's Workspace.
ApiResult<Parent> find_parent(World& world, const ServiceCall& call);

/// The node of a Project; 404 if it does not exist or the caller may not see it.
ApiResult<VisibleNode> find_visible_project(World& world, const ServiceCall& call, std::string_view project_id);

}  // namespace ws::mock
