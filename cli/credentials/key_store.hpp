/// Stores keys: their metadata in the file, their secrets in the keyring or in the same file.
#pragma once

#include <optional>

#include "cli/credentials/file_store.hpp"
#include "cli/credentials/keyring.hpp"

namespace ws::cli {

class KeyStore final : public CredentialStore {
 public:
  /// `folder` is `$XDG_DATA_HOME/ws`. The keyring is opened only to read or write a key that is stored there.
  explicit KeyStore(std::filesystem::path folder) : file_(std::move(folder)) {}

  Result<std::vector<StoredCredential>> load() const override { return file_.load(); }
  Result<std::string> secret_of(const StoredCredential& credential) const override;
  Result<void> put(const StoredCredential& credential) override;
  Result<void> remove(std::string_view key_id) override;
  Result<void> make_current(std::string_view key_id) override { return file_.make_current(key_id); }
  std::string place(KeptIn kept_in) const override;

 private:
  Result<const Keyring*> keyring() const;

  FileStore file_;
  mutable std::optional<Keyring> keyring_ = {};
};

}  // namespace ws::cli
