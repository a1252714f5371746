/// What rows of a state must be before they replace those of a world: types, words, revisions, references, the bytes
/// of files.
#pragma once

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/validation_errors.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::control {

/// Adds an error for each fault of `tables`, `{table: [{column: value, ...}, ...]}`, with the place of the value. Does
/// not change `world`. What only SQLite can tell (two rows with one key) is left to it.
Result<void> check_state_tables(World& world, const Json& tables, const Loc& loc, ValidationErrors& errors);

}  // namespace ws::mock::control
