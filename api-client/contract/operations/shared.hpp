/// Types, fields, parameters and schemas used by more than one area of the table. For `operations/*.cpp` alone.
#pragma once

#include <string_view>

#include "api-client/contract/operations/fields.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

// Item types of arrays. A `Type` holds a pointer to its item type, so these must have static lifetime.
inline constexpr Type text_item = string();
inline constexpr Type uuid_item = uuid();
inline constexpr Type free_item = free_object();

inline constexpr std::string_view agent_permission_values[] = {"read", "comment", "edit"};
inline constexpr Type agent_permission_item = choice(agent_permission_values);

inline constexpr std::string_view audience_values[] = {"user", "workspace", "platform_admin"};

inline constexpr std::string_view requestable_scopes[] = {
    "questions:read",     "questions:write",    "search:read",   "documents:read",  "documents:write",
    "documents:share",    "assets:read",        "assets:write",  "sync:read",       "sync:write",
    "workspaces:write",   "tests:read",         "tests:run",     "admin_data:read", "admin_support:read",
    "admin_costs:read",   "admin_content:read", "comments:read", "comments:write",  "agent_events:read",
    "agent_events:write",
};

/// "Document content": at most 1 MiB of UTF-8 (`decisions.md`, "Resource shapes").
inline constexpr Type markdown_content = assumed(bytes_at_most(1'048'576));

inline constexpr Field links = required("links", text_map(), "paths of what belongs to it");
inline constexpr Field next_cursor = nullable(optional("next_cursor", string(), "where the next page begins"));

/// API document, "Endpoints": the header of the operations marked IK.
inline constexpr Parameter idempotency_key = {
    In::header, optional("Idempotency-Key", string_at_most(128), "the same key and body again give the first answer")};

constexpr Parameter page_limit(std::string_view fallback) {
  return in_query(with_default(optional("limit", integer(1, 100), "at most this many"), fallback));
}
inline constexpr Parameter page_cursor = in_query(optional("cursor", string(), "next_cursor of the page before"));

/// The user or agent that created or changed an object.
inline constexpr auto actor_fields = all_assumed({
    required("kind", string(), "user or agent"),
    required("id", uuid()),
    required("name", string()),
});
inline constexpr Schema actor = {.name = "Actor", .fields = actor_fields, .source = Source::assumed};

}  // namespace ws::contract
