/// The final world against a wanted one: `ws-mock grade`, `exec --expect`, `exec --save`. Pure.
///
/// A wanted world names rows of tables as `GET /_mock/state` shows them, each with the members that matter:
/// `documents: [{title: Tides, id: $tides}]`, `comment_threads: [{document_id: $tides}]`; rows with a node have its
/// title. Ids are bound by unification: a `$name` stands for one value everywhere, and so does an id, whichever it is
/// in the other world. Times do not count. `absent: {documents: [{title: Draft}]}` names rows that must not be, and
/// `count: {documents: 11}` how many there are.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"

namespace ws::mock::sweep {

/// What differs, by name: `document "Tides": content is "a", not "b"`. Empty: the world is as wanted. Fails with
/// `usage` where the wanted world names a table or member that there is not, with the nearest names.
Result<std::vector<std::string>> grade_world(const Json& wanted, const Json& state);

/// A wanted world that this state, and no state with more or fewer rows, meets.
Json wanted_world(const Json& state);

}  // namespace ws::mock::sweep
