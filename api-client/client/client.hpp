/// Calls any operation of the table by its id.
///
/// The client builds the request from the table, adds the key (only towards its own origin), an `Idempotency-Key` where
/// the operation takes one, repeats by the retry table, reads the answer within bounds and turns every error body into
/// one `Failure`. It adds nothing to what the service says and drops nothing of it.
///
/// A failure's `call` says what is known: whether the change happened, whether the same call may be sent again, when,
/// and under which key. No text of a failure, a trace line or a notice holds the key or a device code or lease token of
/// the call, even where the service echoes them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
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

/// A key and the one origin that it goes to.
struct Credential {
  std::string secret = {};
  std::string origin = {};  ///< `http::origin_of` the base URL that issued it
};

/// What one call needs. Path and query values are text; the body is JSON.
struct Call {
  std::string_view operation = {};                                   ///< id in the table
  std::vector<std::pair<std::string, std::string>> parameters = {};  ///< path and query by name
  JsonBox body = {};                                                 ///< null: none
  http::Headers headers = {};        ///< beside those that the table asks for: `Range`, `If-Range`
  std::string idempotency_key = {};  ///< empty: a fresh UUIDv7 for operations that take one
  http::Sink sink = {};  ///< the body of a success streams here instead of being collected; once it got a piece, the
                         ///< call is not repeated. The sink bounds the size, silence alone the time
  std::function<void()> sink_afresh = {};  ///< before each send: what the sink got is void, and it may be repeated
  http::HeadSink head = {};                ///< with `sink`: status and headers of the success, before its first piece
  std::optional<std::chrono::milliseconds> timeout = {};
  std::optional<std::chrono::milliseconds> lease_left = {};  ///< class L
  bool validate = true;                                      ///< refuse locally what breaks a published limit
  bool repeat = true;                                        ///< false: one send, whatever the table allows
};

/// Bytes for an address that the service named and that is not of the API (`upload_url`). The key never goes there.
/// Repeated like class D; the id of the operation in failures is `files.put`. The address' query and the headers are
/// as secret as the key: neither failures nor trace lines hold their values.
struct BytesPut {
  std::string url = {};
  http::Headers headers = {};
  /// Called before each send: a repeat begins at the first byte. Fails with `disk`.
  std::function<Result<std::unique_ptr<http::BodySource>>()> open = {};
};

/// Any request to the service, in the table or not: `ws api`. The key goes with it, to its own origin alone. It is
/// repeated as the operation of the table is that its method and path name, and the same is concluded and advised;
/// unknown ones are: GET a read, all else unsafe. The id of the operation in failures is `api`; every 2xx is a success,
/// whatever its body is.
struct AnyCall {
  std::string method = {};  ///< one of the table's
  std::string path = {};    ///< "/v1/documents?limit=5", appended to the base URL
  http::Headers headers = {};
  std::string body = {};          ///< as it is sent
  std::string content_type = {};  ///< of the body
};

/// A success as it came.
struct Reply {
  int status = 0;
  http::Headers headers = {};
  std::string body = {};  ///< the bytes as received
  JsonBox json = {};      ///< the same, parsed; null where the operation answers no JSON
  int sends = 1;
  std::string idempotency_key = {};
  bool after_unanswered_send = false;  ///< an earlier send of this call got no answer: it may have taken effect
  bool concluded = false;              ///< the success is inferred: an unanswered send must have done it. `status` is
                                       ///< then of the answer that shows it (the 404 of a second archive); `body` and
                                       ///< `json` are the object as it was read back, or what the operation's answer
                                       ///< is known to be: `{"id": ..., "object": "document", "status": "archived"}`
};

struct ClientOptions {
  std::string base_url = {};  ///< "https://host[:port][/prefix]", no slash at the end
  std::optional<Credential> credential = {};
  std::vector<std::string> allowed_http_hosts = {};  ///< "host[:port]" that plain http may go to besides loopback
  std::string user_agent = "ws";
  http::RetryBudget budget = {};
  bool retry = true;  ///< false: one send a call
  std::chrono::milliseconds timeout{120'000};
  std::function<void(const std::string& line)> trace = {};   ///< `--debug`: one line an event, secrets redacted
  std::function<void(const std::string& text)> notice = {};  ///< an assumed limit is broken: a note for stderr
  const std::atomic<bool>* cancelled = nullptr;  ///< set by a signal handler: all under way ends with `cancelled`
};

class Client {
 public:
  /// Lends all four; they outlive the client.
  Client(http::Transport& transport, const Clock& clock, Random& random, ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// One call from beginning to end, with its repeats. Fails with the kinds of `cli.md`'s table; with `usage` where
  /// nothing was sent because the call itself is wrong, with `auth` where there is no key for this origin.
  Result<Reply> call(Call call);
  /// Begins a call; `done` comes from `run`. Many may be under way.
  void start(Call call, std::function<void(Result<Reply>)> done);
  /// The same for bytes. Silence alone limits the time.
  void start(BytesPut put, std::function<void(Result<Reply>)> done);
  /// Any request, from beginning to end.
  Result<Reply> call(AnyCall call);
  /// Moves all calls, waiting at most so long; false when nothing is under way any more.
  bool run(std::chrono::milliseconds at_most);

  /// Every page of a list operation, in order, `visit` for each item; ends early when it answers false. A cursor that
  /// repeats is a failure (`safety.md`, "Network").
  Result<void> each_item(Call call, const std::function<Result<bool>(const Json& item)>& visit);

  /// The request that `call` would send, without the key: for `--dry-run`. Checked as if it were sent.
  Result<http::Request> prepare(const Call& call) const;
  Result<http::Request> prepare(const AnyCall& call) const;

  const ClientOptions& options() const;
  const http::RetryBudget& budget() const;  ///< what is left of it
  /// The whole budget again: for commands that go on for ever, at the beginning of each round.
  void start_afresh();
  /// For a caller that goes on where a call was cut: takes one repeat from the budget and waits as the table says for
  /// the `attempt`-th failure in a row. False: none is left, or it was cancelled.
  bool spend_retry(int attempt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The command that shows whether a call of unknown outcome happened: "`ws docs list`".
std::string command_to_check(const contract::Operation& operation);

}  // namespace ws
