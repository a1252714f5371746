/// Finds mentions in comments: `@handle`.
///
/// An agent has its own handle; a person's is the local part of the email address. Parts of longer words
/// (`mara@example.com`, `@scout/package`, `@scout-2` if there is only `scout`) and text in code are no mentions.
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

/// The handles of a Workspace: its agents that are not revoked, then its people.
Result<std::vector<Handle>> handles_in(World& world, std::string_view workspace_id);

/// Those of `handles` that `body` mentions, without duplicates, in order of the text. ASCII letters are compared
/// without case. If two handles match, the longer wins; of equal ones the first.
std::vector<Handle> find_mentions(std::string_view body, std::span<const Handle> handles);

}  // namespace ws::mock
