/// Long polls (`events.claim` with `wait_seconds`) and when to retry them. No timers or sockets: time is the world's
/// clock.
///
/// A call whose answer has a `LongPoll` is added and gets a ticket. For every ticket that `take_ready` returns, the
/// transport serves the call again from the start, including authentication, so that a key revoked meanwhile gets 401.
/// If the answer still has a `LongPoll` and the ticket has not timed out, it is kept; otherwise the answer is sent and
/// the ticket removed, as it is when the client disconnects.
///
/// Call `take_ready` after every served call, after every change of the clock, and at `next_due`, until it returns
/// nothing. Calls that wait for the same queue are retried one at a time in order of arrival: if the first finds no
/// event, the next would not either. So one event costs two retries, however many calls wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

class PendingClaims {
 public:
  using Ticket = std::uint64_t;
  struct Ready {
    Ticket ticket = 0;
    bool timed_out = false;  ///< retry a last time and answer whatever the result is
    bool operator==(const Ready&) const = default;
  };

  Ticket add(const LongPoll& long_poll, std::int64_t now);
  /// The retry found nothing; `retry_at` is from its answer. The timeout does not change.
  void keep_waiting(Ticket ticket, std::optional<std::int64_t> retry_at);
  void remove(Ticket ticket);
  /// Makes all calls time out now.
  void end_all();

  /// For `World::on_queue_change`. Only marks tickets as ready.
  void wake(const QueueChange& wake);
  /// Tickets to retry now. Each must be kept or removed before the next call of this.
  std::vector<Ready> take_ready(std::int64_t now);
  /// The next time at which a ticket becomes ready if no queue changes; empty if no call waits.
  std::optional<std::int64_t> next_due() const;
  std::size_t size() const { return waiters_.size(); }
  /// The first timeout after `after`, and the tickets that time out exactly then.
  std::optional<std::int64_t> next_end(std::int64_t after) const;
  std::vector<Ticket> ending_at(std::int64_t time) const;

 private:
  struct Waiter {
    const std::string* topic = nullptr;  // key in `topics_`; valid as long as this waiter exists
    std::int64_t ends_at = 0;
    bool is_retrying = false;
  };
  /// Calls that wait for the same queue.
  struct Topic {
    std::set<Ticket> tickets = {};
    std::optional<std::int64_t> due_at = {};
  };
  void schedule(const std::string& name, std::optional<std::int64_t> due_at);
  void make_ready(const std::string& name);

  Ticket next_ = 1;
  std::map<Ticket, Waiter> waiters_ = {};
  std::map<std::string, Topic> topics_ = {};
  std::set<std::string> ready_ = {};
  std::set<std::pair<std::int64_t, std::string>> by_due_ = {};
  std::set<std::pair<std::int64_t, Ticket>> by_end_ = {};
};

}  // namespace ws::mock
