/// Credentials in one JSON file: the folder 0700, the file 0600, replaced whole.
///
///     {"v": 1, "credentials": [{"profile", "base_url", "origin", "key_id", "audience", "scopes", "expires_at",
///                               "created_at", "workspace_id", "workspace_name", "secret", "kept_in", "current"}]}
///
/// A file that others can read, or that another user owns, is refused; so is one of a newer `v`.
#pragma once

#include <filesystem>

#include "cli/credentials/credential_store.hpp"

namespace ws::cli {

class FileStore final : public CredentialStore {
 public:
  /// Of `$XDG_DATA_HOME/ws`; nothing is made until something is put.
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
