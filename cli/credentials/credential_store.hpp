/// Stored API keys.
///
/// A credential is sent only to the origin that issued it (`safety.md`, promise 8). They lie in one JSON file, replaced
/// atomically: the folder has mode 0700, the file 0600. A secret lies in the same file, or in the keyring.
///
///     {"v": 1, "credentials": [{"profile", "base_url", "origin", "key_id", "audience", "expires_at", "created_at",
///                               "workspace_id", "workspace_name", "secret", "scopes", "kept_in", "current"}]}
///
/// A file that is readable by others, owned by another user, or of a newer `v` is refused.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/credentials/keyring.hpp"

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

/// The profile of a second key, with the scopes that the key of `profile` has no room for: "work-more".
std::string second_profile(std::string_view profile);
/// The key of the same server and Workspace that `one` is the second key of; null where it is a key of its own.
const StoredCredential* find_first_key(const std::vector<StoredCredential>& all, const StoredCredential& one);
/// The second key of `one`; null where there is none.
const StoredCredential* find_second_key(const std::vector<StoredCredential>& all, const StoredCredential& one);

class CredentialStore {
 public:
  /// `folder` is `$XDG_DATA_HOME/ws`; it is created by the first `put`. The keyring is opened only to read or write a
  /// key that is stored there.
  explicit CredentialStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Oldest first; empty if nothing is stored. Fails with `disk`: unreadable, or readable by others.
  Result<std::vector<StoredCredential>> load() const;
  /// Reads the secret. Fails with `disk` if the keyring does not respond, with `auth` if the key is missing there.
  Result<std::string> secret_of(const StoredCredential& credential);
  /// Whether `put` can write, as far as that can be told beforehand. Fails with `disk`.
  Result<void> check() const;
  /// Adds the credential, or replaces the one of the same profile, base URL and Workspace, and makes it the current
  /// one, unless it is a second key. On success the written data has been read back.
  Result<void> put(const StoredCredential& credential);
  /// Removes the credential; succeeds if there is none.
  Result<void> remove(std::string_view key_id);
  Result<void> make_current(std::string_view key_id);
  /// The location as shown to users: "the file /home/mira/.local/share/ws/credentials".
  std::string place(KeptIn kept_in) const;

 private:
  Result<void> save(const std::vector<StoredCredential>& credentials) const;
  std::filesystem::path file() const { return folder_ / "credentials"; }
  Result<const Keyring*> keyring();

  std::filesystem::path folder_;
  std::optional<Keyring> keyring_ = {};
};

/// Selects a key; empty members match every key.
struct CredentialQuery {
  std::string base_url = {};
  std::string origin = {};
  std::string profile = {};
  std::string workspace_id = {};
};

/// The matching credential: same origin (the same base URL first), profile, Workspace. If several match, the current
/// one, then that of the profile `default`, then the newest; a second key last.
std::optional<StoredCredential> choose(const std::vector<StoredCredential>& all, const CredentialQuery& query);

}  // namespace ws::cli
