/// The control calls: each is a row of the table at the end of its file, and `control.cpp` joins these tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/control/worlds.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox/sandbox.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/services/shared/validation_errors.hpp"

namespace ws::mock::control {

struct Call {
  Sandbox& sandbox;
  const http::Pairs& path;
  const http::Pairs& query;
  const Json& body;          ///< null where none was sent
  Worlds* worlds = nullptr;  ///< null within a sandbox
};
using Handler = ServiceResult (*)(Call& call);

/// Who says what the body may hold. There is no default: a call that names no rule does not compile.
struct BodyRule {
  enum class By { table, handler } by;
  const contract::Schema& schema;                                    ///< with `table`
  enum class Text { refused, taken } text = Text::refused;           ///< in place of an object
  void (*more)(const Json& body, Complaints& complaints) = nullptr;  ///< what a schema cannot say
};

inline constexpr contract::Schema no_members = {};
inline constexpr BodyRule nothing = {.by = BodyRule::By::table, .schema = no_members};
/// The handler reads a list, or members that depend on the world: `Complaints::check`, or one by one.
inline constexpr BodyRule by_handler = {.by = BodyRule::By::handler, .schema = no_members};
constexpr BodyRule members(const contract::Schema& schema) { return {.by = BodyRule::By::table, .schema = schema}; }
constexpr BodyRule members_and(const contract::Schema& schema, void (*more)(const Json&, Complaints&)) {
  return {.by = BodyRule::By::table, .schema = schema, .more = more};
}
constexpr BodyRule members_or_text(const contract::Schema& schema) {
  return {.by = BodyRule::By::table, .schema = schema, .text = BodyRule::Text::taken};
}

struct CallEntry {
  std::string_view method;
  std::string_view path;  ///< "/_mock/snapshots/{name}:restore"
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
/// By id or handle, with or without its @. Of two Workspaces' agents with one handle the older.
Result<std::optional<FoundAgent>> find_agent(World& world, std::string_view word);

}  // namespace ws::mock::control
