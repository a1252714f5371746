#include "server-mock/sandbox/pending_claims.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>

namespace ws::mock {
namespace {

std::string topic_of_agent(std::string_view id) { return fmt::format("agent {}", id); }
/// With a Workspace: only the person's agents in it.
std::string topic_of_owner(std::string_view id, std::string_view workspace_id) {
  return fmt::format("owner {} {}", id, workspace_id);
}

}  // namespace

WaitingRoom::Ticket WaitingRoom::enter(const Waiting& waiting, std::int64_t now) {
  const Ticket ticket = next_++;
  const auto topic =
      topics_
          .try_emplace(waiting.agent_id.empty() ? topic_of_owner(waiting.owner_user_id, waiting.workspace_id)
                                                : topic_of_agent(waiting.agent_id))
          .first;
  topic->second.tickets.insert(ticket);
  schedule(topic->first, waiting.look_again_at);
  const std::int64_t ends_at = now + std::chrono::milliseconds(waiting.at_most).count();
  by_end_.emplace(ends_at, ticket);
  guests_.emplace(ticket, Guest{.topic = &topic->first, .ends_at = ends_at});
  return ticket;
}

void WaitingRoom::stay(Ticket ticket, std::optional<std::int64_t> look_again_at) {
  const auto guest = guests_.find(ticket);
  if (guest == guests_.end()) return;
  guest->second.is_looking = false;
  schedule(*guest->second.topic, look_again_at);
}

void WaitingRoom::leave(Ticket ticket) {
  const auto found = guests_.find(ticket);
  if (found == guests_.end()) return;
  const Guest guest = found->second;
  const std::string name = *guest.topic;
  guests_.erase(found);
  by_end_.erase({guest.ends_at, ticket});
  topics_.at(name).tickets.erase(ticket);
  if (topics_.at(name).tickets.empty()) {
    schedule(name, std::nullopt);
    ready_.erase(name);
    topics_.erase(name);
  } else if (guest.is_looking) {
    make_ready(name);  // it found something, and there may be more; or it never came to look
  }
}

void WaitingRoom::end_all() {
  by_end_.clear();
  for (auto& [ticket, guest] : guests_) {
    guest.ends_at = std::numeric_limits<std::int64_t>::min();
    by_end_.emplace(guest.ends_at, ticket);
  }
}

void WaitingRoom::wake(const Wake& wake) {
  make_ready(topic_of_agent(wake.agent_id));
  make_ready(topic_of_owner(wake.owner_user_id, ""));
  make_ready(topic_of_owner(wake.owner_user_id, wake.workspace_id));
}

std::vector<WaitingRoom::Ready> WaitingRoom::take_ready(std::int64_t now) {
  while (!by_due_.empty() && by_due_.begin()->first <= now) {
    const std::string name = by_due_.begin()->second;
    schedule(name, std::nullopt);
    make_ready(name);
  }
  std::set<Ticket> looking;
  for (const std::string& name : std::exchange(ready_, {})) looking.insert(*topics_.at(name).tickets.begin());
  for (auto end = by_end_.begin(); end != by_end_.end() && end->first <= now; ++end) looking.insert(end->second);

  std::vector<Ready> ready;
  ready.reserve(looking.size());
  for (const Ticket ticket : looking) {
    Guest& guest = guests_.at(ticket);
    guest.is_looking = true;
    ready.push_back({.ticket = ticket, .is_over = guest.ends_at <= now});
  }
  return ready;
}

std::optional<std::int64_t> WaitingRoom::next_due() const {
  if (by_end_.empty()) return std::nullopt;
  const std::int64_t end = by_end_.begin()->first;
  return by_due_.empty() ? end : std::min(end, by_due_.begin()->first);
}

std::optional<std::int64_t> WaitingRoom::next_end(std::int64_t after) const {
  const auto end = by_end_.upper_bound({after, std::numeric_limits<Ticket>::max()});
  return end == by_end_.end() ? std::nullopt : std::optional(end->first);
}

std::vector<WaitingRoom::Ticket> WaitingRoom::ending_at(std::int64_t time) const {
  std::vector<Ticket> tickets;
  for (auto end = by_end_.lower_bound({time, 0}); end != by_end_.end() && end->first == time; ++end) {
    tickets.push_back(end->second);
  }
  return tickets;
}

void WaitingRoom::schedule(const std::string& name, std::optional<std::int64_t> due_at) {
  Topic& topic = topics_.at(name);
  if (topic.due_at) by_due_.erase({*topic.due_at, name});
  topic.due_at = due_at;
  if (due_at) by_due_.emplace(*due_at, name);
}

void WaitingRoom::make_ready(const std::string& name) {
  if (topics_.contains(name)) ready_.insert(name);
}

}  // namespace ws::mock
