/// What the bodies of control calls may hold. For the table of calls alone: a member that is not here is refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "api-client/contract/operations/fields.hpp"

namespace ws::mock::control {

using contract::nullable;
using contract::optional;

inline constexpr contract::Type any_value = {};

inline constexpr contract::Field reset_fields[] = {optional("to", contract::string(1, 100))};
inline constexpr contract::Schema reset_body = {.name = "Reset", .fields = reset_fields};

inline constexpr contract::Field snapshot_fields[] = {contract::required("name", contract::string())};
inline constexpr contract::Schema snapshot_body = {.name = "NewSnapshot", .fields = snapshot_fields};

inline constexpr contract::Field state_fields[] = {
    optional("assumptions", contract::free_object()),
    optional("clock", contract::string(1, 100)),
    contract::required("tables", contract::free_object()),
    optional("v", contract::integer(1, 1)),
};
inline constexpr contract::Schema state_body = {.name = "State", .fields = state_fields};

inline constexpr contract::Field clock_fields[] = {
    optional("clock", any_value),
    optional("mode", contract::string(1, 100)),
    optional("real", contract::boolean()),
    optional("frozen", any_value),
    optional("time", contract::string(1, 100)),
    optional("offset", any_value),
};
inline constexpr contract::Schema clock_body = {.name = "Clock", .fields = clock_fields};

inline constexpr contract::Field advance_fields[] = {
    optional("seconds", contract::number()),
    optional("by", contract::string(1, 100)),
};
inline constexpr contract::Schema advance_body = {.name = "Advance", .fields = advance_fields};

inline constexpr contract::Field approval_fields[] = {
    optional("user_id", contract::string(1, 100)),
    optional("workspace_id", contract::string(1, 100)),
};
inline constexpr contract::Schema approval_body = {.name = "Approval", .fields = approval_fields};

inline constexpr contract::Field sandbox_fields[] = {nullable(optional("fixtures", any_value))};
inline constexpr contract::Schema sandbox_body = {.name = "NewSandbox", .fields = sandbox_fields};

inline constexpr std::string_view audiences[] = {"user", "workspace", "platform_admin"};
inline constexpr std::string_view roles[] = {"owner", "admin", "editor", "commenter", "viewer"};
inline constexpr contract::Type word = contract::string(1, 300);
inline constexpr std::int64_t longest_s = std::int64_t{100} * 366 * 86400;
inline constexpr contract::Field key_fields[] = {
    nullable(optional("person", word)),
    nullable(optional("user", word)),
    nullable(optional("user_id", word)),
    nullable(optional("email", word)),
    nullable(optional("agent", word)),
    nullable(optional("agent_id", word)),
    nullable(optional("handle", word)),
    nullable(optional("agent_handle", word)),
    nullable(optional("audience", contract::choice(audiences))),
    nullable(optional("workspace", word)),
    nullable(optional("workspace_id", word)),
    nullable(optional("role", contract::choice(roles))),
    nullable(optional("scopes", contract::array_of(word))),
    nullable(optional("expires_in", contract::integer(-longest_s, longest_s))),
    nullable(optional("expires_at", contract::date_time())),
};
inline constexpr contract::Schema key_body = {.name = "NewKey", .fields = key_fields};

inline constexpr contract::Field event_fields[] = {
    optional("agent", contract::string(1, 100)),
    optional("agent_id", contract::string(1, 100)),
    optional("handle", contract::string(1, 100)),
    optional("agent_handle", contract::string(1, 100)),
    optional("kind", contract::string(1, 100)),
    nullable(optional("payload", contract::free_object())),
    nullable(optional("document_id", contract::uuid())),
    nullable(optional("thread_id", contract::uuid())),
    nullable(optional("comment_id", contract::uuid())),
};
inline constexpr contract::Schema event_body = {.name = "NewEvent", .fields = event_fields};

}  // namespace ws::mock::control
