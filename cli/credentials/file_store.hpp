/// Credentials in one JSON file, replaced atomically: the folder has mode 0700, the file 0600.
///
///     {"v": 1, "credentials": [{"profile", "base_url", "origin", "key_id", "audience", "scopes", "expires_at",
///                               "created_at", "workspace_id", "workspace_name", "secret", "kept_in", "current"}]}
///
/// A file that is readable by others, owned by another user, or of a newer `v` is refused.
#pragma once

#include <filesystem>

#include "cli/credentials/credential_store.hpp"

namespace ws::cli {

class FileStore final : public CredentialStore {
 public:
  /// `folder` is `$XDG_DATA_HOME/ws`; it is created by the first `put`.
  explicit FileStore(std::filesystem::path folder);

  Result<std::vector<StoredCredential>> load() const override;
  Result<std::string> secret_of(const StoredCredential& credential) const override { return credential.secret; }
  Result<void> put(const StoredCredential& credential) override;
  Result<void> remove(std::string_view key_id) override;
  Result<void> make_current(std::string_view key_id) override;
  std::string place(KeptIn kept_in) const override;

 private:
  Result<void> save(const std::vector<StoredCredential>& credentials) const;
  std::filesystem::path file() const { return folder_ / "credentials"; }

  std::filesystem::path folder_;
};

}  // namespace ws::cli
