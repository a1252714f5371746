/// Which creates were sent under which key: `$XDG_STATE_HOME/ws/idempotency.db`, 0600, SQLite.
///
/// A keyed create is written down before it is sent and settled when its outcome is known. What a crash, a lost answer
/// or a second process left open is found again by its fingerprint (a hash of server, owner, operation and body): sent
/// once more under the same key, the service completes it instead of doing it twice. Neither bodies nor secrets are
/// kept; a key is kept because only it can complete the call.
///
/// Services keep keys for a day (`decisions.md`, "Idempotency"): settled rows go after that. A row that was never
/// settled stays for 90 days, because after the day nobody can tell any more whether it happened.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"

namespace ws::sqlite {
class Database;
}

namespace ws::cli {

/// What a create is, without what is in it.
struct KeyedCreate {
  std::string operation = {};
  std::string origin = {};
  std::string fingerprint = {};  ///< hex
};

/// Whether a key was written down for the first time.
enum class Recorded { first_time, again };

/// An earlier create of the same fingerprint.
struct EarlierCreate {
  std::string key = {};
  Time begun_at = {};
  bool settled = false;
};

class IdempotencyJournal {
 public:
  /// Makes it where it is missing. Fails with `disk`.
  static Result<IdempotencyJournal> open(const std::filesystem::path& state_folder);
  IdempotencyJournal(IdempotencyJournal&&) noexcept;
  IdempotencyJournal& operator=(IdempotencyJournal&&) noexcept;
  ~IdempotencyJournal();

  /// For `stable`: the create of this fingerprint that must be completed (the oldest that is open), else the one that
  /// an earlier `stable` stood for; empty: there is none.
  Result<std::optional<EarlierCreate>> find(const KeyedCreate& create);
  /// Written and flushed before the call is sent. A key that is known already stays as it is. `stable`: the key stands
  /// for the fingerprint from now on.
  Result<Recorded> begin(const KeyedCreate& create, const std::string& key, bool stable, Time now);
  /// It is done.
  Result<void> settle(const std::string& key, Time now);
  /// Nothing happened under this key.
  Result<void> forget(const std::string& key);

 private:
  explicit IdempotencyJournal(std::unique_ptr<sqlite::Database> database);
  Result<void> purge(Time now);

  std::unique_ptr<sqlite::Database> database_;
};

/// How long a service keeps a key.
inline constexpr std::chrono::hours key_lifetime{24};

}  // namespace ws::cli
