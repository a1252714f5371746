/// Calls any operation of the table by its id.
///
/// The client builds the request from the table, adds the key (only for the key's own origin) and an `Idempotency-Key`
/// if the operation takes one, retries by the retry table, reads the response within limits and turns every error body
/// into a `Failure`. It neither adds to nor removes from what the service says.
///
/// A failure's `call` says what is known: whether the change took effect, whether and when the same call may be sent
/// again, and with which key. Failures, trace lines and notices never contain the key, or a device code or lease token
/// of the call, even if the service echoes them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"
#include "api-client/http/retry.hpp"
#include "api-client/http/transport.hpp"

namespace ws {

/// A key and the only origin that it is sent to.
struct Credential {
  std::string secret = {};
  std::string origin = {};  ///< `http::origin_of` the base URL that issued it
};

/// A key that stands in for the other one in the operations whose scope it has and the other lacks.
struct SecondCredential {
  Credential credential = {};
  std::vector<std::string> scopes = {};
};

/// The arguments of one call. Path and query values are text; the body is JSON.
struct Call {
  std::string_view operation = {};                                   ///< id in the table
  std::vector<std::pair<std::string, std::string>> parameters = {};  ///< path and query by name
  JsonBox body = {};                                                 ///< null: none
  http::Headers headers = {};        ///< in addition to those of the table: `Range`, `If-Range`
  std::string idempotency_key = {};  ///< empty: a new UUIDv7 for operations that take one
  http::Sink sink = {};  ///< receives the body of a success instead of collecting it; after its first piece the call is
                         ///< not retried. The sink limits the size; only the idle timeout limits the time
  std::function<void()> sink_afresh = {};  ///< called before each send: discard what the sink received; enables retries
  http::HeadSink head = {};                ///< with `sink`: gets status and headers of a success before the first piece
  std::optional<std::chrono::milliseconds> timeout = {};
  std::optional<std::chrono::milliseconds> lease_left = {};  ///< class L
  bool validate = true;                                      ///< reject locally what breaks a published limit
  bool repeat = true;                                        ///< false: send once, whatever the table allows
};

/// Bytes for a URL that the service returned and that is not part of the API (`upload_url`). The key is never sent
/// there. Retried as class D; failures name the operation `files.put`. The URL's query and the headers are secrets:
/// failures and trace lines do not contain their values.
struct BytesPut {
  std::string url = {};
  http::Headers headers = {};
  /// Called before each send, so that a retry begins at the first byte. Fails with `disk`.
  std::function<Result<std::unique_ptr<http::BodySource>>()> open = {};
};

/// Any request to the service, in the table or not: `ws api`. The key is sent only to its own origin. If method
/// and path are those of an operation, it is retried and its outcome is judged as for that operation; otherwise
/// GET is a read and everything else unsafe. Failures name the operation `api`; every 2xx is a success, whatever
/// its body.
struct AnyCall {
  std::string method = {};  ///< one of the table's
  std::string path = {};    ///< "/v1/documents?limit=5", appended to the base URL
  http::Headers headers = {};
  std::string body = {};          ///< sent unchanged
  std::string content_type = {};  ///< of the body
};

/// A successful response.
struct Reply {
  int status = 0;
  http::Headers headers = {};
  std::string body = {};  ///< the bytes as received
  JsonBox json = {};      ///< the body parsed; null if the operation does not return JSON
  int sends = 1;
  std::string idempotency_key = {};
  bool after_unanswered_send = false;  ///< an earlier send of this call got no response: it may have taken effect
  bool concluded = false;              ///< the success is inferred: an unanswered send must have done it. `status` is
                                       ///< then of the answer that shows it (the 404 of a second archive); `body` and
                                       ///< `json` are the object as it was read back, or what the operation's answer
                                       ///< is known to be: `{"id": ..., "object": "document", "status": "archived"}`
};

/// Remembers the calls that change something, from before they are sent, so that a later run continues where this one
/// was killed, got no answer, or could not tell what it was answered.
class CallLog {
 public:
  /// What is sent, in the words of the table where it is an operation.
  struct Sent {
    const contract::Operation& operation;
    const std::vector<std::pair<std::string, std::string>>& parameters;
    const Json& body;
    std::string idempotency_key = {};  ///< empty: the operation takes none
    bool key_is_given = false;         ///< the caller chose it, so that no other call is meant
  };
  struct Entry {
    std::string id = {};               ///< for `end`; empty: the call is not remembered
    std::string idempotency_key = {};  ///< that of an earlier run, to be used again; empty: its own
    std::optional<Reply> answer = {};  ///< what an earlier run was answered: nothing is sent
    std::optional<Time> sent_at = {};  ///< when an earlier run sent the same; it got no answer
  };
  virtual ~CallLog() = default;
  /// Before it is sent. Whatever it fails with ends the call.
  virtual Result<Entry> begin(const Sent& sent) = 0;
  virtual void end(const std::string& id, const Result<Reply>& result) = 0;
};

struct ClientOptions {
  std::string base_url = {};  ///< "https://host[:port][/prefix]", without a slash at the end
  std::optional<Credential> credential = {};
  std::optional<SecondCredential> second = {};
  std::vector<std::string> allowed_http_hosts = {};  ///< "host[:port]" that plain http is allowed for, besides loopback
  std::string user_agent = "ws";
  http::RetryBudget budget = {};
  bool retry = true;  ///< false: each call is sent once
  std::chrono::milliseconds timeout{120'000};
  std::function<void(const std::string& line)> trace = {};   ///< `--debug`: one line per event, secrets redacted
  std::function<void(const std::string& text)> notice = {};  ///< an assumed limit is broken: a note for stderr
  CallLog* log = nullptr;                                    ///< of calls that change something; null: none
  const std::atomic<bool>* cancelled = nullptr;  ///< set by a signal handler: all pending calls end with `cancelled`
};

class Client {
 public:
  /// All arguments must outlive the client.
  Client(http::Transport& transport, const Clock& clock, Random& random, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Makes one call with its retries. Fails with the kinds of `cli.md`'s table; with `usage` if the call is invalid and
  /// nothing was sent, with `auth` if there is no key for this origin.
  Result<Reply> call(Call call);
  /// Starts a call; `done` is called from `run`. Many calls may be pending.
  void start(Call call, std::function<void(Result<Reply>)> done);
  /// The same for bytes. Only the idle timeout limits the time.
  void start(BytesPut put, std::function<void(Result<Reply>)> done);
  /// Makes any request with its retries.
  Result<Reply> call(const AnyCall& call);
  /// Progresses all calls, waiting at most this long; returns false when none is pending any more.
  bool run(std::chrono::milliseconds at_most);

  /// Reads all pages of a list operation in order and calls `visit` for each item until it returns false. A cursor that
  /// repeats is a failure (`safety.md`, "Network").
  Result<void> each_item(Call call, const std::function<Result<bool>(const Json& item)>& visit);

  /// The request that `call` would send, validated but without the key: for `--dry-run`.
  Result<http::Request> prepare(const Call& call) const;
  Result<http::Request> prepare(const AnyCall& call) const;

  const ClientOptions& options() const;
  const http::RetryBudget& budget() const;  ///< what remains of it
  /// Restores the whole budget: for commands that run until stopped, at the beginning of each round.
  void start_afresh();
  /// For a caller that resumes an interrupted call: takes one retry from the budget and waits as the table says for the
  /// `attempt`-th cut. Returns false if none is left, the call was sent as often as one may be, or if cancelled.
  bool spend_retry(int attempt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The operation that method and path name; null: the table has none.
const contract::Operation* find_operation_of(const AnyCall& call);

/// The command that shows whether a call of unknown outcome took effect: "`ws docs list`".
std::string command_to_check(const contract::Operation& operation);

/// A success of that operation whose answer is of no use to the caller: `lack` says what it lacks. What came of a
/// change is then unknown, as after an answer that is no JSON.
Failure unusable_answer(std::string_view operation,
                        const Reply& reply,
                        std::string_view lack,
                        const std::vector<std::pair<std::string, std::string>>& parameters = {});

}  // namespace ws
