#include "server-mock/sandbox/pending_claims.hpp"

#include <catch2/catch.hpp>

namespace ws::mock::test {
namespace {

using Ready = WaitingRoom::Ready;
using ReadyList = std::vector<Ready>;

Waiting for_agent(std::string_view agent_id, std::optional<std::int64_t> look_again_at = {}) {
  return {.at_most = std::chrono::seconds(10),
          .agent_id = std::string(agent_id),
          .owner_user_id = "o",
          .look_again_at = look_again_at};
}

Waiting for_owner(std::string_view workspace_id = "") {
  return {.at_most = std::chrono::seconds(10), .owner_user_id = "o", .workspace_id = std::string(workspace_id)};
}

const Wake work_for_a = {.agent_id = "a", .owner_user_id = "o", .workspace_id = "w"};

}  // namespace

TEST_CASE("waiting room: who waits looks when the agent has work, and not before", "[server-mock]") {
  WaitingRoom room;
  const auto a = room.enter(for_agent("a"), 0);
  const auto b = room.enter(for_agent("b"), 0);
  CHECK(room.take_ready(1).empty());
  room.wake(work_for_a);
  CHECK(room.take_ready(2) == ReadyList{{a}});
  room.stay(a, std::nullopt);
  CHECK(room.take_ready(3).empty());
  room.wake({.agent_id = "b", .owner_user_id = "o", .workspace_id = "w"});
  CHECK(room.take_ready(4) == ReadyList{{b}});
}

TEST_CASE("waiting room: an owner hears of all agents, one bound to a Workspace of those in it", "[server-mock]") {
  WaitingRoom room;
  const auto agent = room.enter(for_agent("a"), 0);
  const auto owner = room.enter(for_owner(), 0);
  const auto bound = room.enter(for_owner("w"), 0);
  room.enter(for_owner("elsewhere"), 0);
  room.wake(work_for_a);
  CHECK(room.take_ready(1) == ReadyList{{agent}, {owner}, {bound}});
}

TEST_CASE("waiting room: of many the first looks; the next only where the first left with something", "[server-mock]") {
  WaitingRoom room;
  const auto first = room.enter(for_agent("a"), 0);
  const auto second = room.enter(for_agent("a"), 0);
  const auto third = room.enter(for_agent("a"), 0);
  room.wake(work_for_a);
  CHECK(room.take_ready(1) == ReadyList{{first}});
  room.leave(first);
  CHECK(room.take_ready(1) == ReadyList{{second}});
  room.stay(second, std::nullopt);
  CHECK(room.take_ready(1).empty());
  // A client that goes away takes nobody's turn.
  room.leave(second);
  CHECK(room.take_ready(1).empty());
  room.wake(work_for_a);
  CHECK(room.take_ready(2) == ReadyList{{third}});
  room.leave(third);
  CHECK(room.size() == 0);
  CHECK_FALSE(room.next_due());
  room.wake(work_for_a);
  CHECK(room.take_ready(3).empty());
}

TEST_CASE("waiting room: the end and what is due come by the clock", "[server-mock]") {
  WaitingRoom room;
  const auto first = room.enter(for_agent("a"), 1'000);
  CHECK(room.next_due() == 11'000);
  const auto second = room.enter(for_agent("a", 6'000), 2'000);
  CHECK(room.next_due() == 6'000);
  CHECK(room.take_ready(5'999).empty());
  CHECK(room.take_ready(6'000) == ReadyList{{first}});
  room.stay(first, 20'000);
  CHECK(room.next_due() == 11'000);
  CHECK(room.take_ready(11'000) == ReadyList{{.ticket = first, .is_over = true}});
  room.leave(first);
  CHECK(room.take_ready(11'000) == ReadyList{{second}});
  room.stay(second, std::nullopt);
  // A clock that leaps past everything.
  CHECK(room.take_ready(99'000) == ReadyList{{.ticket = second, .is_over = true}});
  room.leave(second);
  CHECK(room.size() == 0);
}

}  // namespace ws::mock::test
