/// Stored API keys.
///
/// A credential is sent only to the origin that issued it (`safety.md`, promise 8). `CredentialStore` is the interface;
/// `file_store.*` stores credentials in a file with mode 0600, `key_store.*` the secrets in a keyring.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::cli {

/// Where the secret of a key is stored.
enum class KeptIn { file, keyring };

struct StoredCredential {
  std::string profile = {};
  std::string base_url = {};
  std::string origin = {};
  std::string key_id = {};
  std::string audience = {};
  std::vector<std::string> scopes = {};
  std::string expires_at = {};  ///< RFC 3339; empty: never
  std::string created_at = {};
  std::string workspace_id = {};
  std::string workspace_name = {};
  std::string secret = {};  ///< empty if it is in the keyring: `CredentialStore::secret_of`
  KeptIn kept_in = KeptIn::file;
  bool current = false;  ///< used if no flag, environment variable or profile selects another

  bool operator==(const StoredCredential&) const = default;
};

/// Whether one replaces the other in the store: same profile, base URL and Workspace.
bool same_place(const StoredCredential& a, const StoredCredential& b);

class CredentialStore {
 public:
  CredentialStore() = default;
  CredentialStore(const CredentialStore&) = delete;
  CredentialStore& operator=(const CredentialStore&) = delete;
  virtual ~CredentialStore() = default;

  /// Oldest first; empty if nothing is stored. Fails with `disk`: unreadable, or readable by others.
  virtual Result<std::vector<StoredCredential>> load() const = 0;
  /// Reads the secret. Fails with `disk` if the keyring does not respond, with `auth` if the key is missing there.
  virtual Result<std::string> secret_of(const StoredCredential& credential) const = 0;
  /// Adds the credential, or replaces the one of the same profile, base URL and Workspace, and makes it the current
  /// one. On success the written data has been read back.
  virtual Result<void> put(const StoredCredential& credential) = 0;
  /// Removes the credential; succeeds if there is none.
  virtual Result<void> remove(std::string_view key_id) = 0;
  virtual Result<void> make_current(std::string_view key_id) = 0;
  /// The location as shown to users: "the file /home/mira/.local/share/ws/credentials".
  virtual std::string place(KeptIn kept_in) const = 0;
};

/// Selects a key; empty members match every key.
struct CredentialQuery {
  std::string base_url = {};
  std::string origin = {};
  std::string profile = {};
  std::string workspace_id = {};
};

/// The matching credential: same origin (the same base URL first), profile, Workspace. If several match, the current
/// one, then that of the profile `default`, then the newest.
std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& query);

}  // namespace ws::cli
