/// One operation on several things.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// The things that words and `--stdin` name, and the call for each.
struct Batch {
  std::vector<std::string> ids = {};
  std::vector<Result<Call>> calls = {};  ///< the failure of one that cannot be sent says which line it came from
  bool is_one = false;                   ///< a single word: its answer is printed as it came, not as a row
};

/// One call for each, which fills the operation's only argument; checked before anything is sent. One that cannot be
/// sent is a row that failed; a single word is refused. Fails with `usage`.
Result<Batch> batch_of(Session& session, const contract::Operation& operation);
/// The same with calls of another making.
Result<Batch> batch_of(Session& session,
                       const contract::Operation& operation,
                       const std::function<Call(const std::string& id)>& make);

/// What became of one of several.
struct BatchItem {
  std::string id = {};
  Result<Reply> reply;
};

/// Rows `{ok, id, result | error}` of a batch: `{"data": [...]}`, a table in the columns of `shape`
/// (`output/format.cpp`), or with NDJSON each one as soon as it is there. With `--fields`, `--template` or `--jq` only
/// the results, each shaped by itself.
class BatchRows {
 public:
  BatchRows(Session& session, const contract::Operation& operation, std::string_view shape = "ws.batch");

  /// Whether a row is printed when it is added.
  bool streams() const;
  void add(const BatchItem& item);
  /// Prints what has to wait for the last row, whose answer is `last` from now on. `partial` where one failed.
  ExitCode finish();

 private:
  Result<void> check_row(const Result<Reply>& reply) const;
  void add_failure(const Failure& failure, const std::string& id);

  Session& session_;
  const contract::Operation& operation_;
  std::string_view shape_;
  JsonBox rows_;
  JsonBox last_ = {};  ///< the latest answer; null: none yet
  bool has_failed_ = false;
};

ExitCode print_batch(Session& session,
                     const contract::Operation& operation,
                     const std::vector<BatchItem>& items,
                     std::string_view shape = "ws.batch");

/// One call after another. What one refuses does not stop the others (then it ends with `partial`). What concerns them
/// all - the key, the network, a signal - ends it: as itself where nothing was done yet, else the rest is shown as not
/// sent.
Result<ExitCode> run_batch(Session& session, Client& client, const contract::Operation& operation, Batch batch);

/// With --dry-run: the requests of those that can be sent.
Result<ExitCode> print_requests(Session& session, const Batch& batch);

}  // namespace ws::cli
