/// Whose a key is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/session.hpp"
#include "sync-engine/binding/tree_binding.hpp"

namespace ws::cli {

/// Whose key it is, as the service says; asked once for each key. Fails where the service cannot be asked, or refuses
/// the key. Where it names nobody, a note says what `follows` from that, and the id is empty.
Result<sync::Account> account_of(Session& session,
                                 const Key& key,
                                 std::string_view follows = "so only its Workspace is checked");

/// The same of what `me.get` answered to a caller that asked by itself.
Result<sync::Account> account_told(Session& session, const Key& key, const Result<Reply>& me, std::string_view follows);

/// "Mara Lindqvist (Workspace Harbour)"; cleaned. Empty: the service names nobody.
std::string account_name(const sync::Account& account);

/// Who it is, as a hash that tells them in this Workspace from all others of the server. Empty: the service names
/// nobody.
std::string identity_of(const sync::Account& account);

/// The account of a stored key, as far as it is known; the service is not asked.
std::optional<sync::Account> known_account(const Session& session, const std::string& key_id);
std::optional<sync::Account> known_account(const Session& session, const Key& key);
/// Whether both keys are of the same person or agent in the same Workspace; asked once for each of them. False where
/// the service cannot be asked.
bool is_of_same_account(Session& session, const Key& one, const Key& other);
/// What a login has learned. Where it cannot be kept it is asked again.
void keep_account(const Session& session, const std::string& key_id, const sync::Account& account);

/// The login for one more key of the server, in this profile if it has none: no stored key is revoked by it.
ShellCommand login_beside(Session& session, const std::string& profile, const std::string& base_url);

/// What `GET /v1/me` says.
sync::Account read_account(const Json& me);

/// Whether both are the same person or agent in the same Workspace, as far as the service says.
bool is_same_account(const sync::Account& one, const sync::Account& other);

}  // namespace ws::cli
