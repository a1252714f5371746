/// The tables of the areas, in the order of the API document. For `operations.cpp` and `operations/*.cpp` alone.
#pragma once

#include "api-client/contract/schema.hpp"

namespace ws::contract {

extern const Operation authorization_table[4];
extern const Operation workspace_table[4];
extern const Operation question_table[5];
extern const Operation search_table[1];
extern const Operation document_table[6];
extern const Operation comment_table[4];
extern const Operation file_table[7];
extern const Operation sync_table[8];
extern const Operation agent_table[4];
extern const Operation event_table[4];
extern const Operation test_table[8];
extern const Operation discovery_table[1];

}  // namespace ws::contract
