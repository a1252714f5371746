/// Rows as JSON resources of the API (`decisions.md`, "Resource shapes").
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

Json to_json(const Actor& actor);
Json to_json(Document&& document);      ///< without the content
JsonText to_text(Document&& document);  ///< with the content
/// `document_id` and `asset_id`: of the document or asset of the node, else empty.
Json to_json(const Node& node, std::string_view document_id, std::string_view asset_id);

struct WorkspaceRow {
  std::string id = {};
  std::string name = {};
  std::string role = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};
Json to_json(const WorkspaceRow& workspace);

}  // namespace ws::mock
