/// Which changes were sent, under which key, and what was answered: `$XDG_STATE_HOME/ws/idempotency.db`, 0600, SQLite.
///
/// A call that changes something is written down before it is sent, and its answer before it is printed; the row goes
/// when the outcome has reached its reader. What a crash, a lost answer or a full disk left open is found again by its
/// fingerprints (hashes of server, owner, operation, parameters and body): the owner is whom the service names as the
/// key's, and, because that may not be known yet, also what is known of every key. Neither bodies nor the key of the
/// account are kept; an answer is kept because a secret of it may exist nowhere else.
///
/// Services keep idempotency keys for a day (`decisions.md`, "Idempotency"): settled rows and answers go after that. A
/// row that was never settled stays for 90 days, because after the day nobody can tell any more whether it happened.
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

/// What a change is, without what is in it.
struct KeyedCreate {
  std::string operation = {};
  std::string origin = {};
  std::string fingerprint = {};          ///< hex; of the key in use, or of its Workspace
  std::string account_fingerprint = {};  ///< of the key's person or agent; empty: not known
};

/// Whether a key was written down for the first time.
enum class Recorded { first_time, again };

/// An earlier change that is the same: of the same person or agent, or, where one of the two does not know whose it is,
/// of the same key.
struct EarlierCreate {
  std::string key = {};
  Time begun_at = {};
  bool settled = false;
  int status = 0;           ///< of its answer; 0: none is kept
  std::string answer = {};  ///< the body, as it came
  bool is_taken = false;    ///< another process that still runs continues it
};

class IdempotencyJournal {
 public:
  /// Makes it where it is missing. Fails with `disk`.
  static Result<IdempotencyJournal> open(const std::filesystem::path& state_folder);
  IdempotencyJournal(IdempotencyJournal&&) noexcept;
  IdempotencyJournal& operator=(IdempotencyJournal&&) noexcept;
  ~IdempotencyJournal();

  /// For `stable`: the same create that must be completed (the oldest that is open), else the one that an earlier
  /// `stable` stood for; empty: there is none.
  Result<std::optional<EarlierCreate>> find(const KeyedCreate& create);
  /// What an earlier run of the last day left open, or another one took over and told after this one `began`; one with
  /// an answer first. It is this process's now, unless another one that runs has taken it. A process that only makes
  /// the same change leaves nothing: those are two changes.
  Result<std::optional<EarlierCreate>> find_left(const KeyedCreate& create, Time began, Time now);
  /// Written and flushed before the call is sent. A key that is known already stays as it is, and is this process's
  /// now; whose it is is added where it was not known. `stable`: the key stands for this create from now on.
  Result<Recorded> begin(const KeyedCreate& create, const std::string& key, bool stable, Time now);
  /// What was answered, until the row is settled or forgotten; with status 0 nothing was.
  Result<void> keep_answer(const std::string& key, int status, const std::string& body);
  /// The outcome has reached its reader: a `stable` key is kept for a day without its answer, any other row goes; one
  /// that was taken over a minute later, for those that began before.
  Result<void> settle(const std::string& key, Time now);
  /// Nothing happened under this key.
  Result<void> forget(const std::string& key);

 private:
  explicit IdempotencyJournal(std::unique_ptr<sqlite::Database> database);
  Result<void> purge(Time now);

  std::unique_ptr<sqlite::Database> database_;
};

/// How long a service keeps a key, and how long a change that was left open is continued.
inline constexpr std::chrono::hours key_lifetime{24};

}  // namespace ws::cli
