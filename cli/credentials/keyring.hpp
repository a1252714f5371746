/// The desktop's keyring (Secret Service) through libsecret, which is loaded only when a key is stored there.
///
/// No call takes longer than 3 s: a keyring that does not respond, or that waits to be unlocked on a machine without a
/// user, is a failure.
#pragma once

#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"

namespace ws::cli {

class Keyring {
 public:
  /// Whether a keyring may exist: there is a session bus. Loads no library.
  static bool is_likely(const Environment& environment);
  /// Fails with `internal` if libsecret is missing.
  static Result<Keyring> open(const std::string& library = "libsecret-1.so.0");

  /// Whether the keyring responds. Fails with `disk`.
  Result<void> check() const;
  /// All fail with `disk`; `look_up` with `not_found` if the keyring has no such key.
  Result<void> store(const std::string& key_id, const std::string& label, const std::string& secret) const;
  Result<std::string> look_up(const std::string& key_id) const;
  Result<void> remove(const std::string& key_id) const;

 private:
  struct Library;
  explicit Keyring(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

  std::shared_ptr<const Library> library_;  // shared with a call that timed out and is still running
};

}  // namespace ws::cli
