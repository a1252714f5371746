/// What a validated call names, as values: members of bodies and parameters, the objects that they point at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/services/shared/refuse.hpp"
#include "server-mock/services/shared/visibility.hpp"

namespace ws::mock {

/// The member as text; empty where it is missing or null. Points into `object`.
std::string_view text_of(const Json& object, std::string_view name);
std::int64_t integer_of(const Json& object, std::string_view name, std::int64_t fallback);
/// A UUID in lower case, the form in which ids are kept; empty where it is missing or null.
std::string id_of(const Json& object, std::string_view name);

/// A document that the caller sees, and what may be done with it. 404 where there is none to be seen.
struct SeenDocument {
  Document document = {};
  Sight access = Sight::none;
  contract::Role role = contract::Role::none;
};
Served<SeenDocument> see_document(World& world, const ServiceCall& call, std::string_view id, WithContent content);
/// The same, and that the caller may change it: 403 otherwise.
Served<Document> editable_document(World& world, const ServiceCall& call, std::string_view id, WithContent content);

/// A node that the caller sees; 404 otherwise.
struct SeenNode {
  Node node = {};
  Sight access = Sight::none;
  contract::Role role = contract::Role::none;
};
Served<SeenNode> see_node(World& world, const ServiceCall& call, std::string_view id);

/// Where something new goes: a Project or a Page that the caller may change, or (empty id) the Workspace root.
struct Place {
  std::string workspace_id = {};
  std::string parent_node_id = {};
  std::string project_id = {};
};
/// Of the members `parent_node_id` and `project_id`; without both the root of the caller's own Workspace.
Served<Place> find_place(World& world, const ServiceCall& call);

/// A Project that the caller sees, as its node; 404 otherwise.
Served<SeenNode> see_project(World& world, const ServiceCall& call, std::string_view project_id);

}  // namespace ws::mock
