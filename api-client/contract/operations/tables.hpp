/// The tables of all areas, in the order of the API document. For the files of this folder alone.
#pragma once

#include <span>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

struct Area {
  std::string_view name;  ///< OpenAPI tag: "Documents"
  std::span<const Operation> operations;
};

extern const Area authorization_operations;
extern const Area workspace_operations;
extern const Area question_operations;
extern const Area search_operations;
extern const Area document_operations;
extern const Area comment_operations;
extern const Area file_operations;
extern const Area sync_operations;
extern const Area agent_operations;
extern const Area event_operations;
extern const Area test_operations;
extern const Area discovery_operations;

}  // namespace ws::contract
