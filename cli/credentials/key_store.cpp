#include "cli/credentials/key_store.hpp"

#include <algorithm>

#include "api-client/base/shell_command.hpp"

namespace ws::cli {

Result<const Keyring*> KeyStore::keyring() const {
  if (!keyring_) {
    WS_LET(keyring_, Keyring::open());
  }
  return &*keyring_;
}

Result<std::string> KeyStore::secret_of(const StoredCredential& credential) const {
  if (credential.kept_in == KeptIn::file) return credential.secret;
  WS_LET(const Keyring* const opened, keyring());
  auto secret = opened->look_up(credential.key_id);
  if (!secret && secret.error().kind == Failure::Kind::not_found) {
    return fail(
        Failure::Kind::auth,
        "the keyring no longer holds the key of profile `" + credential.profile + "`",
        "run " + ShellCommand{"ws", "login", "--base-url=", credential.base_url, "--profile=", credential.profile}
                     .in_backticks());
  }
  return secret;
}

Result<void> KeyStore::put(const StoredCredential& credential) {
  WS_LET(const std::vector<StoredCredential> before, load());
  StoredCredential in_file = credential;
  if (credential.kept_in == KeptIn::keyring) {
    WS_LET(const Keyring* const opened, keyring());
    WS_TRY(opened->store(credential.key_id, "ws key for " + credential.base_url, credential.secret));
    in_file.secret.clear();
  }
  WS_TRY(file_.put(in_file));
  for (const StoredCredential& one : before) {
    if (one.kept_in != KeptIn::keyring || one.key_id == credential.key_id || !same_place(one, credential)) continue;
    const auto opened = keyring();
    if (opened) static_cast<void>((*opened)->remove(one.key_id));  // no credential refers to it any more
  }
  return {};
}

Result<void> KeyStore::remove(std::string_view key_id) {
  WS_LET(const std::vector<StoredCredential> all, load());
  const auto found = std::ranges::find(all, key_id, &StoredCredential::key_id);
  if (found != all.end() && found->kept_in == KeptIn::keyring) {
    WS_LET(const Keyring* const opened, keyring());
    WS_TRY(opened->remove(found->key_id));
  }
  return file_.remove(key_id);
}

std::string KeyStore::place(KeptIn kept_in) const {
  return kept_in == KeptIn::keyring ? "the keyring" : file_.place(kept_in);
}

}  // namespace ws::cli
