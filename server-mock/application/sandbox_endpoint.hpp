/// One sandbox at its address: API, control calls and pages. Numbers, journals and logs each exchange.
///
/// Order: control call, rate limit, fault rules, then a page or the pipeline. A request that has to wait (long poll,
/// delay of a fault rule, clock advance, journal watch) stays pending under a ticket and is resumed. Paths come here
/// without the prefix of sandboxes (`/_s/ID`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server-mock/control/control.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/journal/journal.hpp"
#include "server-mock/pages/pages.hpp"
#include "server-mock/pipeline/pipeline.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock {

enum class LogStyle { text, json, off };

/// Shared by all sandboxes of the process.
struct SharedState {
  Control control;
  LineOutput journal_file = {};
  std::function<void(const Exchange&)> observer = {};  ///< gets each entry of the journals; empty: none
  LogStyle log = LogStyle::off;                        ///< one line for each request on standard error
  pages::Approval approval;                            ///< of device logins
  Pipeline pipeline = {};
};

class SandboxEndpoint {
 public:
  /// `shared` and `sandboxes` outlive it; `sandboxes` is null inside a sandbox. Tickets count from `first_ticket`.
  SandboxEndpoint(SharedState& shared,
                  Sandboxes* sandboxes,
                  std::unique_ptr<Sandbox> sandbox,
                  std::uint64_t first_ticket);
  SandboxEndpoint(const SandboxEndpoint&) = delete;
  SandboxEndpoint& operator=(const SandboxEndpoint&) = delete;

  Sandbox& sandbox() { return *sandbox_; }
  const Sandbox& sandbox() const { return *sandbox_; }
  bool has_waiting() const { return !waiting_.empty(); }
  /// Makes all pending requests ready, so that they are answered now; uploads in progress fail.
  void end();

  // The functions of `http::Handler`.
  std::unique_ptr<http::BodySink> open_sink(const http::Request& head);
  http::Response handle(const http::Request& request);
  http::Response refuse(const http::MalformedRequest& why);
  /// The response to a request that the web guard rejected; journalled, except for control calls.
  http::Response reject(const http::Request& request, const ApiError& api_error);
  http::Response resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait);
  void cancel(std::uint64_t ticket);
  void take_ready(std::vector<std::uint64_t>& tickets);
  std::optional<std::chrono::milliseconds> next_ready();

 private:
  using Steady = std::chrono::steady_clock;
  /// A request that is being served, or pending.
  struct ActiveRequest {
    std::string request_id = {};
    std::int64_t time = 0;
    Steady::time_point start = {};
    bool timed_out = false;  // of a long poll or a journal watch
    std::shared_ptr<const FaultRule> fault = {};
    std::optional<PendingClaims::Ticket> claim = {};                      // its place in the pending claims
    std::unique_ptr<std::pair<std::string, std::string>> in_flight = {};  // idempotency key in use (owner, key)
    bool watches_journal = false;
  };

  http::Response handle_control(std::uint64_t ticket,
                                const http::Request& request,
                                ActiveRequest&& active,
                                http::MayWait may_wait);
  http::Response finish_control(http::Response&& response, const std::string& request_id);
  http::Response continue_advance(std::uint64_t ticket, http::MayWait may_wait);
  http::Response process(std::uint64_t ticket,
                         const http::Request& request,
                         ActiveRequest&& active,
                         http::MayWait may_wait);
  http::Response delay(const http::Request& request, ActiveRequest&& active);
  void release(ActiveRequest& active);
  void take_watchers(std::vector<std::uint64_t>& tickets);
  PendingClaims::Now both_times() const;

  std::optional<ApiError> rate_limit_error(const http::Request& request);
  std::shared_ptr<const FaultRule> find_fault(const http::Request& request);
  std::string_view operation_of(const http::Request& request, http::Pairs& values) const;
  Reply answer(const http::Request& request, const ActiveRequest& active);
  Reply answer_with_fault(const http::Request& request, const ActiveRequest& active);
  Reply answer_without_fault(const http::Request& request, std::string_view request_id);
  Reply answer_rolled_back(const http::Request& request, std::string_view request_id);
  http::Response finish(const http::Request& request, Reply&& reply, const ActiveRequest& active);
  void write_down(const http::Request& request, const http::Response& response, const ExchangeFacts& facts);
  enum class Kind { usual, control };
  std::string next_request_id(const http::Request* request, Kind kind);
  void log(const http::Request& request, const Reply& reply, std::int64_t duration_us) const;

  SharedState& shared_;
  Sandboxes* sandboxes_;
  std::unique_ptr<Sandbox> sandbox_;
  std::uint64_t next_ticket_;
  std::uint64_t control_requests_ = 0;
  std::map<std::uint64_t, ActiveRequest> waiting_ = {};  // by ticket
  std::multimap<Steady::time_point, std::uint64_t> delayed_ =
      {};  // by the time at which the delay of a fault rule ends
  std::multimap<Steady::time_point, std::uint64_t> watchers_ = {};  // by the time at which the journal watch ends
  std::uint64_t watched_seq_ = 0;                                   // last journal entry that the watchers have seen
  std::optional<std::uint64_t> advancing_ = {};                     // ticket of the request that advances the clock
  std::shared_ptr<const bool> accepts_uploads_ =
      std::make_shared<const bool>(true);  // uploads in progress hold a weak reference
};

}  // namespace ws::mock
