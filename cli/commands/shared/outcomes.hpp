/// What the changes of one command came to: each is written down before it is sent, with its answer as soon as that is
/// there, and forgotten when its outcome has reached the reader (`safety.md`, promise 22).
///
/// A command that was killed, got no usable answer, or could not print it leaves its rows in the idempotency journal.
/// For a day, the same change with the same key at the same server continues from them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/state/idempotency_journal.hpp"

namespace ws::cli {

/// What the journal knows the call by. The service scopes an idempotency key to the credential's owner; where the
/// client does not know who that is, the Workspace id, or the hash of the credential, stands in. The service is not
/// asked.
Result<KeyedCreate> describe_change(Session& session,
                                    std::string_view operation,
                                    std::vector<std::pair<std::string, std::string>> parameters,
                                    const Json& body);
/// By which command a call is made: one that is about the operation, or `ws call` and `ws api`, which pass on any.
enum class Door { own, any };
/// Whether changes of this operation are written down: not those that need no key, may be made again as they are
/// (syncs, leases), or, where it has a command of its own, of which that keeps records (uploads, syncs, keys).
bool is_remembered(const contract::Operation& operation, Door door);
/// `--again`.
Flag again_flag();
/// Whether `--idempotency-key stable` is given.
bool has_stable_key(const Session& session);

/// How the answer of a change that was not told is seen.
inline constexpr std::string_view shown_again = "run the same command again within a day to see the answer";
/// The same where the format failed, and would fail again.
inline constexpr std::string_view shown_as_json =
    "run the same command within a day with --json alone to see the answer";

/// Keeps an answer that has a secret in a file of its own, which only its owner reads. Fails with `disk`.
Result<std::filesystem::path> keep_answer(const std::filesystem::path& state, const std::string& body);

class OutcomeLog final : public CallLog {
 public:
  explicit OutcomeLog(Session& session);

  /// Without a journal (a home that cannot be written) only `--idempotency-key stable` fails, and what makes a key that
  /// the output leaves out.
  Result<Entry> begin(const Sent& sent) override;
  void end(const std::string& id, const Result<Reply>& result) override;

  bool has_made() const { return !made_.empty(); }
  /// The failure of an output or, any kind but `disk`, of its format, with what was made and how to see it: then one of
  /// `disk`. An answer that has a secret goes to a file of its own, which the failure names.
  Failure tell(Failure failure) const;
  /// The command itself has kept what that change answered; `where` tells where, and stands in place of a file.
  void keep_elsewhere(std::string_view operation, const std::string& where);
  /// A change that went past this log.
  void add(std::string_view operation, const std::string& object) {
    made_.push_back({.operation = operation, .object = object});
  }
  /// The answer was of no use to the command, and is none: what came of the change is not known.
  void disbelieve(std::string_view operation);
  /// What that change began has ended; it is not told any more.
  void forget(std::string_view operation);
  /// The outcomes have reached their reader.
  void told();

 private:
  struct Made {
    std::string id = {};  ///< of the row; empty: there is none
    std::string_view operation = {};
    std::string object = {};  ///< the id of what was made
    std::string body = {};
    bool has_secret = false;
    std::string kept = {};  ///< where the command itself has kept the answer
  };
  Result<IdempotencyJournal*> journal();
  /// What an earlier run left; with `--again` it is forgotten.
  Result<std::optional<EarlierCreate>> find_left(const KeyedCreate& change);
  enum class Row { kept, none };
  struct UnderWay {
    const contract::Operation* operation = nullptr;
    std::string subject = {};  ///< the object that its path names
    std::string ends = {};     ///< what an earlier change of this command began
    Row row = Row::kept;
  };
  static UnderWay under_way(const Sent& sent, Row row);
  /// Fails with `disk` where a key would be made that is neither printed nor can be kept.
  Result<void> check_place_of_key(const Sent& sent) const;
  /// For what is only told.
  Entry without_row(const Sent& sent);
  void remember(const std::string& id, const UnderWay& call, const Reply& reply, const Json& answer);
  void check(const Result<void>& written) const;

  Session& session_;
  Time began_;
  std::optional<Result<IdempotencyJournal>> journal_ = {};
  std::map<std::string, UnderWay> under_way_ = {};
  std::set<std::string> again_ = {};  // rows that an earlier run has begun
  std::vector<Made> made_ = {};
  int without_rows_ = 0;  // numbers those calls
};

}  // namespace ws::cli
