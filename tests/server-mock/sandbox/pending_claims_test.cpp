#include "server-mock/sandbox/pending_claims.hpp"

#include <catch2/catch.hpp>

namespace ws::mock::test {
namespace {

using Ready = PendingClaims::Ready;
using ReadyList = std::vector<Ready>;

/// The clock of the world is the real one.
PendingClaims::Now at(std::int64_t time) { return {.world = time, .real = time}; }

LongPoll for_agent(std::string_view agent_id, std::optional<std::int64_t> retry_at = {}) {
  return {.timeout = std::chrono::seconds(10),
          .agent_id = std::string(agent_id),
          .owner_user_id = "o",
          .retry_at = retry_at};
}

LongPoll for_owner(std::string_view workspace_id = "") {
  return {.timeout = std::chrono::seconds(10), .owner_user_id = "o", .workspace_id = std::string(workspace_id)};
}

const QueueChange work_for_a = {.agent_id = "a", .owner_user_id = "o", .workspace_id = "w"};

}  // namespace

TEST_CASE("pending claims: a claim is retried when the agent's queue changes, and not before", "[server-mock]") {
  PendingClaims room;
  const auto a = room.add(for_agent("a"), at(0));
  const auto b = room.add(for_agent("b"), at(0));
  CHECK(room.take_ready(at(1)).empty());
  room.wake(work_for_a);
  CHECK(room.take_ready(at(2)) == ReadyList{{a}});
  room.keep_waiting(a, std::nullopt);
  CHECK(room.take_ready(at(3)).empty());
  room.wake({.agent_id = "b", .owner_user_id = "o", .workspace_id = "w"});
  CHECK(room.take_ready(at(4)) == ReadyList{{b}});
}

TEST_CASE("pending claims: an owner's claim waits for all agents, a Workspace key's for those in the Workspace",
          "[server-mock]") {
  PendingClaims room;
  const auto agent = room.add(for_agent("a"), at(0));
  const auto owner = room.add(for_owner(), at(0));
  const auto bound = room.add(for_owner("w"), at(0));
  room.add(for_owner("elsewhere"), at(0));
  room.wake(work_for_a);
  CHECK(room.take_ready(at(1)) == ReadyList{{agent}, {owner}, {bound}});
}

TEST_CASE("pending claims: one claim is retried at a time, the next only if the first found an event",
          "[server-mock]") {
  PendingClaims room;
  const auto first = room.add(for_agent("a"), at(0));
  const auto second = room.add(for_agent("a"), at(0));
  const auto third = room.add(for_agent("a"), at(0));
  room.wake(work_for_a);
  CHECK(room.take_ready(at(1)) == ReadyList{{first}});
  room.remove(first);
  CHECK(room.take_ready(at(1)) == ReadyList{{second}});
  room.keep_waiting(second, std::nullopt);
  CHECK(room.take_ready(at(1)).empty());
  // A disconnected client does not use up a retry.
  room.remove(second);
  CHECK(room.take_ready(at(1)).empty());
  room.wake(work_for_a);
  CHECK(room.take_ready(at(2)) == ReadyList{{third}});
  room.remove(third);
  CHECK(room.size() == 0);
  CHECK_FALSE(room.next_due());
  room.wake(work_for_a);
  CHECK(room.take_ready(at(3)).empty());
}

TEST_CASE("pending claims: timeouts and due times follow the clock", "[server-mock]") {
  PendingClaims room;
  const auto first = room.add(for_agent("a"), at(1'000));
  CHECK(room.next_due() == 11'000);
  const auto second = room.add(for_agent("a", 6'000), at(2'000));
  CHECK(room.next_due() == 6'000);
  CHECK(room.take_ready(at(5'999)).empty());
  CHECK(room.take_ready(at(6'000)) == ReadyList{{first}});
  room.keep_waiting(first, 20'000);
  CHECK(room.next_due() == 11'000);
  CHECK(room.take_ready(at(11'000)) == ReadyList{{.ticket = first, .timed_out = true}});
  room.remove(first);
  CHECK(room.take_ready(at(11'000)) == ReadyList{{second}});
  room.keep_waiting(second, std::nullopt);
  // The clock jumps past all timeouts.
  CHECK(room.take_ready(at(99'000)) == ReadyList{{.ticket = second, .timed_out = true}});
  room.remove(second);
  CHECK(room.size() == 0);
}

TEST_CASE("pending claims: a claim ends by the real clock, too, while the world's is frozen", "[server-mock]") {
  PendingClaims room;
  const auto first = room.add(for_agent("a"), {.world = 500'000, .real = 1'000});
  CHECK(room.next_real_end() == 11'000);
  CHECK(room.take_ready({.world = 500'000, .real = 10'999}).empty());
  CHECK(room.take_ready({.world = 500'000, .real = 11'000}) == ReadyList{{.ticket = first, .timed_out = true}});
  room.remove(first);
  CHECK_FALSE(room.next_real_end());
}

}  // namespace ws::mock::test
