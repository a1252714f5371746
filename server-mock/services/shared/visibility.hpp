/// Access rules for documents and nodes (`decisions.md`, "Credentials, roles, scopes").
///
/// A document in a Project is visible to the members of its Workspace. One outside every Project is visible to its
/// creator, to those with whom it was shared, and to admins. An agent never counts as an admin: it sees what it created
/// and what was shared with it.
#pragma once

#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Each level includes those before it.
enum class AccessLevel { none, read, comment, edit };

/// A person's role in a Workspace; `none` if they are no member.
Result<contract::Role> member_role(World& world, std::string_view workspace_id, std::string_view user_id);

/// The caller's current role in a Workspace; `none` if the caller is no member or the key is bound to another
/// Workspace.
Result<contract::Role> role_in(World& world, const Caller& caller, std::string_view workspace_id);

/// The caller of what is done after the call that began it, or for an agent that did not call: with the current role in
/// the Workspace, at most `ceiling`. `agent_id` empty: a person.
Result<Caller> caller_in(World& world,
                         std::string_view workspace_id,
                         std::string_view user_id,
                         std::string_view agent_id,
                         contract::Role ceiling);

/// The caller's access to a document, where `role` is the caller's role in its Workspace. An archived document is
/// visible only to its editors.
Result<AccessLevel> access_to(World& world, const Caller& caller, contract::Role role, const Document& document);

/// The same for a node without a document. Pages outside every Project are visible to their creator and to admins,
/// assets to all members.
AccessLevel access_to(const Caller& caller, contract::Role role, const Node& node);

/// Whether the role gives access to everything in the Workspace.
bool is_admin(const Caller& caller, contract::Role role);

/// For queries over several Workspaces: 1 or 0 if the key is bound to a Workspace, whether the caller is an admin
/// there; null if the key never acts as an admin. `iif(w.workspace_id = OWN, ?, ? is not null and m.role in ('owner',
/// 'admin'))`
std::optional<std::int64_t> bound_admin_flag(const Caller& caller);

/// The Workspace that the caller's key is bound to; empty: a user key, for all Workspaces of its owner.
std::string_view bound_workspace(const Caller& caller);

/// Who acts, with the name for `updated_by`.
Result<Actor> find_actor(World& world, const Caller& caller);

}  // namespace ws::mock
