/// Stored API keys.
///
/// A credential knows the origin that issued it and goes nowhere else (`safety.md`, promise 8). `CredentialStore` is
/// the port; `file_store.*` keeps them in one file that nobody else may read, `key_store.*` the secrets in a keyring.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::cli {

/// Where the secret of a key lies.
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
  std::string secret = {};  ///< empty where the keyring holds it: `CredentialStore::secret_of`
  KeptIn kept_in = KeptIn::file;
  bool current = false;  ///< used where neither flag, environment nor profile names another

  bool operator==(const StoredCredential&) const = default;
};

/// Whether one is stored in place of the other: the same profile, base URL and Workspace.
bool same_place(const StoredCredential& a, const StoredCredential& b);

class CredentialStore {
 public:
  CredentialStore() = default;
  CredentialStore(const CredentialStore&) = delete;
  CredentialStore& operator=(const CredentialStore&) = delete;
  virtual ~CredentialStore() = default;

  /// Oldest first; empty where nothing was stored. Fails with `disk`: unreadable, or readable by others.
  virtual Result<std::vector<StoredCredential>> load() const = 0;
  /// The key itself. Fails with `disk` where the keyring does not answer, with `auth` where it lost the key.
  virtual Result<std::string> secret_of(const StoredCredential& credential) const = 0;
  /// Adds it, in place of the one of the same profile, base URL and Workspace, and makes it the current one. What was
  /// written has been read back when this succeeds.
  virtual Result<void> put(const StoredCredential& credential) = 0;
  /// Forgets it; nothing to forget is success.
  virtual Result<void> remove(std::string_view key_id) = 0;
  virtual Result<void> make_current(std::string_view key_id) = 0;
  /// For people: "the file /home/mira/.local/share/ws/credentials".
  virtual std::string place(KeptIn kept_in) const = 0;
};

/// Which key is wanted; empty members match every key.
struct CredentialQuery {
  std::string base_url = {};
  std::string origin = {};
  std::string profile = {};
  std::string workspace_id = {};
};

/// The one that fits: same origin (the same base URL before others of the origin), profile, Workspace; of several the
/// current one, else that of the profile `default`, else the newest.
std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& query);

}  // namespace ws::cli
