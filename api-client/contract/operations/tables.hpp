/// The tables of all areas, in the order of the API document. For the files of this folder alone.
#pragma once

#include <span>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

extern const std::span<const Operation> authorization_operations;
extern const std::span<const Operation> workspace_operations;
extern const std::span<const Operation> question_operations;
extern const std::span<const Operation> search_operations;
extern const std::span<const Operation> document_operations;
extern const std::span<const Operation> comment_operations;
extern const std::span<const Operation> file_operations;
extern const std::span<const Operation> sync_operations;
extern const std::span<const Operation> agent_operations;
extern const std::span<const Operation> event_operations;
extern const std::span<const Operation> test_operations;
extern const std::span<const Operation> discovery_operations;

}  // namespace ws::contract
