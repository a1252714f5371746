/// The desktop's keyring (Secret Service) through libsecret: opened when a key is kept there, never linked.
///
/// Nothing here takes longer than 3 s: a keyring that does not answer, or that waits for somebody to unlock it where
/// nobody is, is a failure like any other.
#pragma once

#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"

namespace ws::cli {

class Keyring {
 public:
  /// Whether there may be one: a session bus. Loads nothing.
  static bool is_likely(const Environment& environment);
  /// Fails with `internal` where libsecret is missing.
  static Result<Keyring> open(const std::string& library = "libsecret-1.so.0");

  /// Whether it answers. Fails with `disk`.
  Result<void> check() const;
  /// All fail with `disk`; `look_up` with `not_found` where it holds no such key.
  Result<void> store(const std::string& key_id, const std::string& label, const std::string& secret) const;
  Result<std::string> look_up(const std::string& key_id) const;
  Result<void> remove(const std::string& key_id) const;

 private:
  struct Library;
  explicit Keyring(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

  std::shared_ptr<const Library> library_;  // shared with a call that was given up and has not ended yet
};

}  // namespace ws::cli
