/// Whom a comment mentions: `@handle` in its text.
///
/// An agent's handle is its own; a person's is what stands before the `@` of the e-mail address. A mention stands by
/// itself: `mara@example.com`, `@scout/package`, `@scout-2` (where there is only `scout`) and what stands in code are
/// none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Handle {
  std::string text = {};
  std::string agent_id = {};  ///< empty: a person's

  bool operator==(const Handle&) const = default;
};

/// Everybody who can be mentioned in a Workspace: its agents that are not revoked, then its people.
Result<std::vector<Handle>> handles_in(World& world, std::string_view workspace_id);

/// Those of `handles` that `body` mentions, each once, in the order of the text. The case of ASCII letters is one; of
/// two handles that fit the longer wins, of two that are equal the first.
std::vector<Handle> find_mentions(std::string_view body, std::span<const Handle> handles);

}  // namespace ws::mock
