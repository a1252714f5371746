/// The client's implementation: pending calls, their attempts, waits and results.
///
/// Private to `client*.cpp`.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api-client/client/answer_reader.hpp"
#include "api-client/client/client.hpp"
#include "api-client/client/redactor.hpp"
#include "api-client/client/request_builder.hpp"

namespace ws {

struct Client::Impl {
  using Milliseconds = std::chrono::milliseconds;
  using Done = std::function<void(Result<Reply>)>;

  /// One call from `start` to its end.
  struct Running {
    Call call = {};
    Prepared prepared = {};
    Redactor redactor = {};
    Done done = {};
    std::function<Result<std::unique_ptr<http::BodySource>>()> open = {};  ///< of `BytesPut`
    std::shared_ptr<http::BodySource> source = {};                         ///< of the current send
    Time began = {};
    int sends = 0;
    std::string log_id = {};     ///< of `ClientOptions::log`
    bool in_doubt = false;       ///< an earlier send may have taken effect
    bool unanswered = false;     ///< an earlier send got no response
    bool sink_has_some = false;  ///< the sink received a piece: a retry would repeat it
    /// When it is sent again, and since when it waits; empty while an exchange is pending.
    std::optional<Time> due = {};
    Time waiting_since = {};
  };
  using Id = std::uint64_t;

  Impl(http::Transport& wire, const Clock& time, Random& chance, ClientOptions settings);

  void start(Call call, Done done);
  void start(BytesPut put, Done done);
  void start(const AnyCall& call, Done done);
  void add_sink(const std::shared_ptr<Running>& running);
  /// Starts the call, unless an earlier run has already made it.
  void begin_logged(std::shared_ptr<Running> running, bool key_is_given);
  void begin(std::shared_ptr<Running> running);
  bool spend_retry(int attempt);
  bool run(Milliseconds at_most);
  bool is_cancelled() const;

  void send(Id id);
  void send_due();
  void on_outcome(Id id, http::Outcome outcome);
  void settle(Id id, Verdict verdict);
  /// The failure of a success whose response is about another object than the call, or damaged.
  std::optional<Failure> not_believed(const Running& running, const Reply& reply) const;
  /// Whether an earlier send without a response explains this error, so that the call has in fact succeeded.
  bool conclude(Id id, const Verdict& verdict);
  void compare_with_what_is_there(Id id, Failure refusal);
  void end_waiting_as_cancelled();
  void finish(Id id, Result<Reply> result);
  void finish_later(Done done, Result<Reply> result);
  void finish_later(Done done, Failure failure) {
    finish_later(std::move(done), Result<Reply>(fail(std::move(failure))));
  }
  void deliver();
  std::optional<Milliseconds> next_due() const;

  http::Decision decision_on(const Running& running, const Verdict& verdict);
  Failure final_failure(const Running& running, const Verdict& verdict, const http::Decision& decision) const;
  void trace(const Running& running, const std::string& line) const;

  http::Transport& transport;
  const Clock& clock;
  Random& random;
  ClientOptions options;
  http::RetryBudget budget;
  std::map<Id, std::shared_ptr<Running>> calls;  ///< shared only for the `weak_ptr` in the sink of a request
  std::deque<std::pair<Done, Result<Reply>>> ended_at_once;
  Id last_id = 0;
  bool http_warned = false;
  /// Shared, because an exchange may outlive the client: its outcome is then dropped.
  std::shared_ptr<Impl*> self;
};

}  // namespace ws
