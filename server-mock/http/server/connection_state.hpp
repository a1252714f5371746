/// The state of a `Connection`. Only for `connection*.cpp`: including this compiles Beast.
#pragma once

#include "server-mock/http/server/connection.hpp"
#include "server-mock/http/server/delivery.hpp"
#include "server-mock/http/server/request_parser.hpp"

namespace ws::mock::http {

// Limit for the unsent responses of a pipelining client.
inline constexpr std::size_t output_pause_bytes = std::size_t{256} << 10U;
// Reserved for each connection whatever the others hold: enough for most requests.
inline constexpr std::size_t granted_bytes = 4096;

inline constexpr MalformedRequest too_slow = {408, "request_timeout", "The request did not arrive in time"};
inline constexpr MalformedRequest overloaded = {
    503, "unavailable", "Too many requests are running: try again in a moment"};

struct Connection::State {
  State(Handler& of_requests, const Limits& limits, Budget* of_server)
      : handler(of_requests), head_limit(limits.head_bytes), budget(of_server) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (budget != nullptr) budget->replace(held, 0);
  }

  Handler& handler;
  std::size_t head_limit;
  Budget* budget;
  std::size_t held = 0;  // bytes counted in the budget
  std::unique_ptr<char[]> buffer = {};
  std::size_t capacity = 0;
  std::size_t begin = 0;    // of the current message
  std::size_t end = 0;      // of the received bytes
  std::size_t scanned = 0;  // no end of the head was found before this
  std::optional<Parser> parser = {};
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;   // as announced, without what the sink took
  std::size_t chunk_begin = 0;  // of the chunks that are not parsed yet
  Phase phase = Phase::idle;
  std::unique_ptr<BodySink> sink = {};  // of the current message
  std::optional<std::uint64_t> ticket = {};
  std::unique_ptr<Delivery> delivery = {};  // sent after `pending`; nothing is read until it is complete
  std::string output = {};                  // being sent
  std::string pending = {};                 // sent after it
  std::uint64_t answered = 0;
  bool over = false;
  bool over_after_delivery = false;
  bool resets = false;
  bool breaks_off = false;
  bool winding_up = false;

  std::string_view unread() const { return {buffer.get() + begin, end - begin}; }
  std::string_view come() const { return unread().substr(head_bytes); }
  std::size_t message_end() const { return parser->chunked() ? chunk_begin : begin + head_bytes + body_bytes; }

  std::size_t room_wanted() const;
  void make_room();
  void tighten();
  void move_to(std::size_t wanted);
  void drop_input();
  void account();
  bool is_overdrawn(std::size_t more) const { return budget != nullptr && !budget->allows(more); }
  void proceed();
  bool take_head();
  std::optional<std::size_t> find_head_end();
  bool open_message();
  std::optional<MalformedRequest> rejection();
  bool take_body();
  bool take_stream();
  bool take_chunks();
  bool parse_chunks();
  void drop_taken(std::size_t count);
  bool answer(std::string_view body);
  bool answer_with(Response&& response);
  void refuse(const MalformedRequest& why);
  void write(Response&& response, bool closes);
  void advance();
};

}  // namespace ws::mock::http
