/// The control calls. Each file of calls ends with a table of them; `control.cpp` joins these tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/operations/shared.hpp"
#include "server-mock/control/sandboxes.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::control {

struct Call {
  Sandbox& sandbox;
  const http::Pairs& path;
  const http::Pairs& query;
  const Json& body;                ///< null if the request has none
  Sandboxes* sandboxes = nullptr;  ///< null inside a sandbox
};
using Handler = ServiceResult (*)(Call& call);

/// How the body is validated. There is no default, so that every call declares it.
struct BodyRule {
  enum class By { table, handler } by;
  const contract::Schema& schema;                                      ///< with `table`
  enum class Text { refused, taken } text = Text::refused;             ///< instead of an object
  void (*more)(const Json& body, ValidationErrors& errors) = nullptr;  ///< checks that a schema cannot express
};

inline constexpr contract::Schema no_members = {};
inline constexpr BodyRule nothing = {.by = BodyRule::By::table, .schema = no_members};
/// The handler validates the body itself: a list, or members that depend on the world.
inline constexpr BodyRule by_handler = {.by = BodyRule::By::handler, .schema = no_members};
constexpr BodyRule members(const contract::Schema& schema) { return {.by = BodyRule::By::table, .schema = schema}; }
constexpr BodyRule members_and(const contract::Schema& schema, void (*more)(const Json&, ValidationErrors&)) {
  return {.by = BodyRule::By::table, .schema = schema, .more = more};
}
constexpr BodyRule members_or_text(const contract::Schema& schema) {
  return {.by = BodyRule::By::table, .schema = schema, .text = BodyRule::Text::taken};
}

struct CallEntry {
  std::string_view method;
  std::string_view path;     ///< "/_mock/snapshots/{name}:restore"
  std::string_view summary;  ///< half a sentence for `/_mock/openapi.json`
  Handler handler;
  BodyRule body;
  std::span<const std::string_view> query = {};  ///< names of the query parameters that the call takes
};
using CallTable = std::span<const CallEntry>;

CallTable general_calls();
CallTable state_calls();
CallTable inspect_calls();
CallTable clock_calls();
CallTable fault_calls();
CallTable journal_calls();
CallTable key_calls();
CallTable event_calls();
CallTable device_calls();
CallTable sandbox_calls();

/// `{clock, now}`
Json clock_of(const Sandbox& sandbox);

struct FoundAgent {
  std::string id = {};
  std::string owner_user_id = {};
  std::string workspace_id = {};
};
/// By id or handle, with or without `@`. If agents of two Workspaces share the handle: the older one.
Result<std::optional<FoundAgent>> find_agent(World& world, std::string_view word);

// Words that more than one control call takes.

/// Of a person in a Workspace, the highest first.
inline constexpr std::string_view roles[] = {"owner", "admin", "editor", "commenter", "viewer"};

// What rows of a state must be before they replace those of a world: types, words, revisions, references, the bytes
// of files.

/// Adds an error for each fault of `tables`, `{table: [{column: value, ...}, ...]}`, with the place of the value. Does
/// not change `world`. What only SQLite can tell (two rows with one key) is left to it.
Result<void> check_state_tables(World& world, const Json& tables, const Loc& loc, ValidationErrors& errors);
/// Adds an error for each table of which `ids`, loaded from the state, would make an id again.
void check_id_counters(const Json& tables, Ids ids, const Loc& loc, ValidationErrors& errors);

}  // namespace ws::mock::control
