#include "server-mock/sandbox/pending_claims.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>

namespace ws::mock {
namespace {

std::string topic_of_agent(std::string_view id) { return fmt::format("agent {}", id); }
/// With a Workspace only the person's agents in it.
std::string topic_of_owner(std::string_view id, std::string_view workspace_id) {
  return fmt::format("owner {} {}", id, workspace_id);
}

}  // namespace

PendingClaims::Ticket PendingClaims::add(const LongPoll& long_poll, const Now& now) {
  const Ticket ticket = next_++;
  const auto topic =
      topics_
          .try_emplace(long_poll.agent_id.empty() ? topic_of_owner(long_poll.owner_user_id, long_poll.workspace_id)
                                                  : topic_of_agent(long_poll.agent_id))
          .first;
  topic->second.tickets.insert(ticket);
  schedule(topic->first, long_poll.retry_at);
  const std::int64_t timeout = std::chrono::milliseconds(long_poll.timeout).count();
  const Waiter waiter = {.topic = &topic->first, .ends_at = now.world + timeout, .really_ends_at = now.real + timeout};
  by_end_.emplace(waiter.ends_at, ticket);
  by_real_end_.emplace(waiter.really_ends_at, ticket);
  waiters_.emplace(ticket, waiter);
  return ticket;
}

void PendingClaims::keep_waiting(Ticket ticket, std::optional<std::int64_t> retry_at) {
  const auto waiter = waiters_.find(ticket);
  if (waiter == waiters_.end()) return;
  waiter->second.is_retrying = false;
  schedule(*waiter->second.topic, retry_at);
}

void PendingClaims::remove(Ticket ticket) {
  const auto found = waiters_.find(ticket);
  if (found == waiters_.end()) return;
  const Waiter waiter = found->second;
  const std::string name = *waiter.topic;
  waiters_.erase(found);
  by_end_.erase({waiter.ends_at, ticket});
  by_real_end_.erase({waiter.really_ends_at, ticket});
  topics_.at(name).tickets.erase(ticket);
  if (topics_.at(name).tickets.empty()) {
    schedule(name, std::nullopt);
    ready_.erase(name);
    topics_.erase(name);
  } else if (waiter.is_retrying) {
    make_ready(name);  // it left with an event, or was cancelled; there may be more events for the next one
  }
}

void PendingClaims::end_all() {
  by_end_.clear();
  for (auto& [ticket, waiter] : waiters_) {
    waiter.ends_at = std::numeric_limits<std::int64_t>::min();
    by_end_.emplace(waiter.ends_at, ticket);
  }
}

void PendingClaims::wake(const QueueChange& wake) {
  make_ready(topic_of_agent(wake.agent_id));
  make_ready(topic_of_owner(wake.owner_user_id, ""));
  make_ready(topic_of_owner(wake.owner_user_id, wake.workspace_id));
}

std::vector<PendingClaims::Ready> PendingClaims::take_ready(const Now& now) {
  while (!by_due_.empty() && by_due_.begin()->first <= now.world) {
    const std::string name = by_due_.begin()->second;
    schedule(name, std::nullopt);
    make_ready(name);
  }
  std::set<Ticket> looking;
  for (const std::string& name : std::exchange(ready_, {})) looking.insert(*topics_.at(name).tickets.begin());
  const auto add_ended = [&looking](const auto& ends, std::int64_t time) {
    for (auto end = ends.begin(); end != ends.end() && end->first <= time; ++end) looking.insert(end->second);
  };
  add_ended(by_end_, now.world);
  add_ended(by_real_end_, now.real);

  std::vector<Ready> ready;
  ready.reserve(looking.size());
  for (const Ticket ticket : looking) {
    Waiter& waiter = waiters_.at(ticket);
    waiter.is_retrying = true;
    ready.push_back({.ticket = ticket, .timed_out = waiter.ends_at <= now.world || waiter.really_ends_at <= now.real});
  }
  return ready;
}

std::optional<std::int64_t> PendingClaims::next_due() const {
  if (by_end_.empty()) return std::nullopt;
  const std::int64_t end = by_end_.begin()->first;
  return by_due_.empty() ? end : std::min(end, by_due_.begin()->first);
}

std::optional<std::int64_t> PendingClaims::next_real_end() const {
  return by_real_end_.empty() ? std::nullopt : std::optional(by_real_end_.begin()->first);
}

std::optional<std::int64_t> PendingClaims::next_end(std::int64_t after) const {
  const auto end = by_end_.upper_bound({after, std::numeric_limits<Ticket>::max()});
  return end == by_end_.end() ? std::nullopt : std::optional(end->first);
}

std::vector<PendingClaims::Ticket> PendingClaims::ending_at(std::int64_t time) const {
  std::vector<Ticket> tickets;
  for (auto end = by_end_.lower_bound({time, 0}); end != by_end_.end() && end->first == time; ++end) {
    tickets.push_back(end->second);
  }
  return tickets;
}

void PendingClaims::schedule(const std::string& name, std::optional<std::int64_t> due_at) {
  Topic& topic = topics_.at(name);
  if (topic.due_at) by_due_.erase({*topic.due_at, name});
  topic.due_at = due_at;
  if (due_at) by_due_.emplace(*due_at, name);
}

void PendingClaims::make_ready(const std::string& name) {
  if (topics_.contains(name)) ready_.insert(name);
}

}  // namespace ws::mock
