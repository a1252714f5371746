/// Long polls (`events.claim` with `wait_seconds`) and when to retry them. No timers or sockets. A call times out by
/// the world's clock or by the real one, whichever is first: the client counts its seconds in real time, also while the
/// world's clock is frozen.
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
  /// Milliseconds by the world's clock, and by the real one.
  struct Now {
    std::int64_t world = 0;
    std::int64_t real = 0;
  };
  struct Ready {
    Ticket ticket = 0;
    bool timed_out = false;  ///< retry a last time and answer whatever the result is
    bool operator==(const Ready&) const = default;
  };

  Ticket add(const LongPoll& long_poll, const Now& now);
  /// The retry found nothing; `retry_at` is from its answer. The timeout does not change.
  void keep_waiting(Ticket ticket, std::optional<std::int64_t> retry_at);
  void remove(Ticket ticket);
  /// Makes all calls time out now.
  void end_all();

  /// For `World::on_queue_change`. Only marks tickets as ready.
  void wake(const QueueChange& wake);
  /// Tickets to retry now. Each must be kept or removed before the next call of this.
  std::vector<Ready> take_ready(const Now& now);
  /// The next time of the world's clock at which a ticket becomes ready if no queue changes; empty if no call waits.
  std::optional<std::int64_t> next_due() const;
  /// The same by the real clock.
  std::optional<std::int64_t> next_real_end() const;
  std::size_t size() const { return waiters_.size(); }
  /// The first timeout after `after`, and the tickets that time out exactly then.
  std::optional<std::int64_t> next_end(std::int64_t after) const;
  std::vector<Ticket> ending_at(std::int64_t time) const;

 private:
  struct Waiter {
    const std::string* topic = nullptr;  // key in `topics_`; valid as long as this waiter exists
    std::int64_t ends_at = 0;
    std::int64_t really_ends_at = 0;
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
  std::set<std::pair<std::int64_t, Ticket>> by_real_end_ = {};
};

}  // namespace ws::mock
