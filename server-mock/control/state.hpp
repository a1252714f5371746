/// All of a world as one JSON document, and back: every table, its rows in order, keys sorted.
///
/// The index of the search is left out: it follows from the documents. So are the bytes of assets.
#pragma once

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/complaints.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// `{tables: {name: [{column: value, ...}, ...]}}`
Result<Json> read_state(World& world);

/// In place of all rows: a table that is not named is empty afterwards. With a complaint nothing is changed.
Result<void> write_state(World& world, const Json& state, Complaints& complaints);

}  // namespace ws::mock
