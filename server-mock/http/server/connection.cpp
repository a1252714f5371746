// Forwards the transport's calls to the connection's state.
#include "server-mock/http/server/connection.hpp"

#include <algorithm>

#include "server-mock/http/server/connection_state.hpp"

namespace ws::mock::http {

Connection::Connection(Handler& handler, const Limits& limits, Budget* budget)
    : state_(std::make_unique<State>(handler, limits, budget)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection::~Connection() = default;

std::span<char> Connection::room() {
  state_->make_room();
  state_->account();
  return {state_->buffer.get() + state_->end, state_->capacity - state_->end};
}
void Connection::received(std::size_t count) {
  State& state = *state_;
  state.end += count;
  state.proceed();
  const std::size_t wanted = state.room_wanted();
  const bool grows = wanted > std::max(state.capacity, granted_bytes) && state.phase != Phase::idle && !state.ticket;
  if (grows && !state.over && state.is_overdrawn(wanted - state.capacity)) state.refuse(overloaded);
  if (state.over && !state.ticket) state.drop_input();
  state.account();
}
const std::string& Connection::output() {
  if (state_->output.empty()) {
    state_->advance();
    state_->output.swap(state_->pending);
  }
  return state_->output;
}
Connection::Step Connection::step() {
  if (!output().empty()) return Step::send;
  if (state_->delivery) return state_->delivery->hangs() ? Step::hang : Step::pause;
  return state_->over ? Step::end : Step::read;
}
std::chrono::milliseconds Connection::pause() const {
  return state_->delivery ? state_->delivery->pause() : std::chrono::milliseconds{0};
}
void Connection::waited() {
  if (state_->delivery) state_->delivery->waited();
}
bool Connection::resets() const { return state_->resets; }
bool Connection::breaks_off() const { return state_->breaks_off; }
bool Connection::takes_its_time() const {
  return state_->ticket || (state_->delivery && state_->delivery->is_disturbed());
}
void Connection::sent() {
  state_->output.clear();
  if (state_->output.capacity() > output_pause_bytes * 2) state_->output.shrink_to_fit();
  state_->proceed();
  state_->account();
}
bool Connection::is_over() const { return state_->over; }
Connection::Phase Connection::phase() const { return state_->sink ? Phase::stream : state_->phase; }
std::uint64_t Connection::answered() const { return state_->answered; }
std::optional<std::uint64_t> Connection::ticket() const { return state_->ticket; }
bool Connection::resume(MayWait may_wait) {
  State& state = *state_;
  if (!state.ticket || !state.answer_with(state.handler.resume(*state.ticket, state.parser->request, may_wait))) {
    return false;
  }
  state.proceed();
  state.account();
  return true;
}
void Connection::timed_out() {
  if (!state_->over && state_->phase != Phase::idle) state_->refuse(too_slow);
  state_->over = true;
}
void Connection::wind_up() {
  state_->winding_up = true;
  if (state_->delivery) {
    state_->over_after_delivery = true;
    state_->delivery->hurry();
  } else if (state_->phase == Phase::idle) {
    state_->over = true;
  }
}

}  // namespace ws::mock::http
