/// Who may see and change what (`decisions.md`, "Credentials, roles, scopes").
///
/// A document under a Project is the Workspace's; one outside every Project belongs to its creator, to whom it was
/// shared, and to admins. An agent is never an admin: it sees what it made and what was shared with it.
#pragma once

#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// What may be done with an object; each grants what those before it grant.
enum class Sight { none, read, comment, edit };

/// The caller's role in a Workspace now; `none` for a stranger, and for a key bound to another Workspace.
Result<contract::Role> role_in(World& world, const Caller& caller, std::string_view workspace_id);

/// What the caller may do with a document whose Workspace gives the caller `role`. An archived document is there for
/// its editors alone.
Result<Sight> access_to(World& world, const Caller& caller, contract::Role role, const Document& document);

/// Likewise with a node that is no document: Pages outside every Project belong to their maker and to admins, assets to
/// the Workspace.
Sight access_to(const Caller& caller, contract::Role role, const Node& node);

/// Whether the role alone opens everything in the Workspace.
bool is_admin(const Caller& caller, contract::Role role);

/// For a query that goes over Workspaces: 1 where the caller is an admin in the key's own, 0 where not; null where the
/// key makes nobody an admin anywhere. `iif(w.workspace_id = OWN, ?, ? is not null and m.role in ('owner', 'admin'))`
std::optional<std::int64_t> admin_here(const Caller& caller);

/// Who acts, with the name that goes into `updated_by`.
Result<Actor> find_actor(World& world, const Caller& caller);

}  // namespace ws::mock
