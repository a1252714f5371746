// Beast parses the head and the chunks; the checks before and after it are here.
#include "server-mock/http/server/connection.hpp"

#include <algorithm>
#include <cstring>

#include <boost/beast/http/error.hpp>

#include "server-mock/http/address.hpp"
#include "server-mock/http/server/delivery.hpp"
#include "server-mock/http/server/request_parser.hpp"

namespace ws::mock::http {
namespace {

// Limit for the unsent responses of a pipelining client.
constexpr std::size_t output_pause_bytes = std::size_t{256} << 10U;
// Reserved for each connection whatever the others hold: enough for most requests.
constexpr std::size_t granted_bytes = 4096;

constexpr MalformedRequest too_slow = {408, "request_timeout", "The request did not arrive in time"};
constexpr MalformedRequest overloaded = {503, "unavailable", "Too many requests are running: try again in a moment"};

namespace beast = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr std::size_t first_buffer_bytes = 512;  // of each connection
constexpr std::size_t kept_buffer_bytes = std::size_t{64} << 10U;
constexpr std::size_t pending_buffer_bytes =
    16;  // buffer of a connection with a pending request: clients rarely pipeline behind it
// Limit for what a client may pipeline behind a pending request.
constexpr std::size_t waiting_bytes = std::size_t{64} << 10U;
// Limit for a chunk's size line with its extensions, and for the trailer fields.
constexpr std::size_t chunk_line_bytes = 4096;
constexpr std::size_t stream_buffer_bytes = std::size_t{64} << 10U;  // while a sink takes a body

constexpr MalformedRequest malformed = {400, "invalid_request", "The request is malformed"};
constexpr MalformedRequest ambiguous = {400, "invalid_request", "The request's length is ambiguous"};
constexpr MalformedRequest no_host = {400, "invalid_request", "The request needs exactly one Host"};
constexpr MalformedRequest other_host = {
    400, "invalid_request", "The request's target and its Host name different servers"};
constexpr MalformedRequest head_too_large = {431, "headers_too_large", "The header fields are larger than 64 KiB"};
constexpr MalformedRequest body_too_large = {413, "payload_too_large", "The body is larger than this operation takes"};
constexpr MalformedRequest unknown_expectation = {417, "invalid_request", "The only expectation known is 100-continue"};

}  // namespace

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

/// How large the buffer has to be: twice its content when it is full; while a request is pending, one byte more.
std::size_t Connection::State::room_wanted() const {
  if (ticket && end < capacity) return capacity;
  const std::size_t least = sink ? stream_buffer_bytes : first_buffer_bytes;
  if (capacity >= least && capacity - end >= capacity / 2) return capacity;
  return std::max(least, (end - begin) * 2);
}

void Connection::State::make_room() {
  if (ticket && end < capacity) return;
  const std::size_t wanted = room_wanted();
  if (wanted == capacity && capacity - end >= capacity / 2) return;
  move_to(std::max(wanted, capacity));
}

/// Frees the memory that a pending request does not need: there may be thousands of them.
void Connection::State::tighten() {
  const std::size_t wanted = end - begin + pending_buffer_bytes;
  if (wanted < capacity && !sink) move_to(wanted);
  parser->request.headers.shrink_to_fit();
}

/// Moves the current message to the front of the buffer, and the views of its head with it.
void Connection::State::move_to(std::size_t wanted) {
  const std::size_t used = end - begin;
  const char* old_text = buffer.get() + begin;
  const bool anew = wanted != capacity;
  auto target = anew ? std::make_unique_for_overwrite<char[]>(wanted) : nullptr;
  char* new_text = anew ? target.get() : buffer.get();
  if (used > 0) std::memmove(new_text, old_text, used);
  if (phase == Phase::body) parser->rebase(old_text, new_text);
  if (anew) {
    buffer = std::move(target);
    capacity = wanted;
  }
  scanned -= std::min(scanned, begin);
  chunk_begin -= std::min(chunk_begin, begin);
  begin = 0;
  end = used;
}

/// Stops reading and drops the received bytes.
void Connection::State::drop_input() {
  buffer.reset();
  capacity = begin = end = scanned = chunk_begin = 0;
}

/// Reports the held bytes to the budget.
void Connection::State::account() {
  if (budget == nullptr) return;
  const std::size_t chunks = parser ? parser->chunks.capacity() : 0;
  const std::size_t now = capacity + output.capacity() + pending.capacity() + chunks;
  budget->replace(std::exchange(held, now), now);
}

void Connection::State::proceed() {
  if (ticket) {
    over = over || (end > message_end() && end - message_end() > waiting_bytes);
    if (sink && end < message_end()) end = begin + head_bytes;  // the rest of a body that is not read
    return;
  }
  while (!over && !delivery && output.size() + pending.size() < output_pause_bytes) {
    if (phase != Phase::body && !take_head()) break;
    if (over) break;
    if (!take_body()) break;
  }
  if (delivery) return;
  if (phase != Phase::idle || begin != end) return;
  begin = end = scanned = 0;
  if (capacity > kept_buffer_bytes) {
    buffer.reset();
    capacity = 0;
  }
  over = over || winding_up;
}

/// The offset behind the empty line that ends the head. A LF without CR is rejected at once: a client that sends it
/// would wait forever for a response.
std::optional<std::size_t> Connection::State::find_head_end() {
  while (true) {
    const auto* line_end = static_cast<const char*>(std::memchr(buffer.get() + scanned, '\n', end - scanned));
    if (line_end == nullptr) {
      scanned = end;
      return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(line_end - buffer.get());
    if (at == begin || buffer[at - 1] != '\r') {
      refuse(malformed);
      return std::nullopt;
    }
    scanned = at + 1;
    if (at >= begin + 3 && buffer[at - 2] == '\n') return at + 1;
  }
}

bool Connection::State::take_head() {
  // RFC 9112, 2.2: skip empty lines before a request.
  while (end - begin >= 2 && buffer[begin] == '\r' && buffer[begin + 1] == '\n') begin += 2;
  scanned = std::max(scanned, begin);
  phase = begin == end ? Phase::idle : Phase::head;
  if (phase == Phase::idle) return false;
  const std::optional<std::size_t> head_end = find_head_end();
  if (over) return false;
  const std::size_t size = head_end.value_or(end) - begin;
  if (size > head_limit) {
    refuse(head_too_large);
    return false;
  }
  if (!head_end) return false;
  head_bytes = size;
  return open_message();
}

/// The checks on a head that Beast has accepted.
std::optional<MalformedRequest> Connection::State::rejection() {
  const Parser& head = *parser;
  if (head.lengths + head.codings > 1) return ambiguous;
  if (!head.coding_is_chunked || (head.codings == 1 && head.version < 11)) return ambiguous;
  if (head.hosts > 1 || (head.hosts == 0 && head.version >= 11)) return no_host;
  // RFC 9110, 10.1.1: an expectation in HTTP/1.0 is ignored.
  if (head.expects_more && head.version >= 11) return unknown_expectation;
  // RFC 9112, 3.2.2: the authority of the target takes precedence; clients send the same in `Host`.
  const std::string_view authority = authority_of(head.request.target);
  if (!authority.empty() && !equal_ignoring_case(head.request.find("Host").value_or(authority), authority)) {
    return other_host;
  }
  const std::string_view target = head.request.target;
  const std::string_view scheme = target.substr(0, std::min(target.find("://"), target.size()));
  const bool is_absolute = equal_ignoring_case(scheme, "http") || equal_ignoring_case(scheme, "https");
  if (!target.starts_with('/') && target != "*" && !is_absolute) return malformed;
  return std::nullopt;
}

bool Connection::State::open_message() {
  const std::string_view head = unread().substr(0, head_bytes);
  std::vector<Header> headers = parser ? std::move(parser->request.headers) : std::vector<Header>();
  parser.emplace(head_limit, std::move(headers));
  ErrorCode error;
  if (is_plain_head(head)) {
    parser->put(boost::asio::const_buffer(head.data(), head.size()), error);
  } else {
    error = beast::error::bad_field;
  }
  if (error || !parser->is_header_done()) {
    refuse(malformed);
    return false;
  }
  if (const auto why = rejection()) {
    refuse(*why);
    return false;
  }
  parser->request.head = head;
  split_target(parser->request);
  phase = Phase::body;
  body_bytes = parser->content_length().value_or(0);
  chunk_begin = begin + head_bytes;
  const bool bodiless = body_bytes == 0 && !parser->chunked();
  if (bodiless && parser->request.method == "GET") return true;
  sink = handler.open_sink(parser->request);
  parser->request.sink = sink.get();
  if (bodiless) return true;
  if (!sink) {
    const std::size_t limit = handler.body_limit(parser->request);
    if (body_bytes > limit) {
      refuse(body_too_large);
      return false;
    }
    parser->body_limit(limit);
  }
  parser->eager(true);
  const bool nothing_came = end == chunk_begin;
  const bool goes_on = !sink || sink->wants_more();
  if (nothing_came && goes_on && parser->expects_continue && parser->version >= 11)
    pending += "HTTP/1.1 100 Continue\r\n\r\n";
  return true;
}

bool Connection::State::take_body() {
  if (sink) return take_stream();
  if (parser->chunked()) return take_chunks() && answer(parser->chunks);
  if (end - begin < head_bytes + body_bytes) return false;
  return answer(unread().substr(head_bytes, body_bytes));
}

/// Removes from the buffer what the sink has taken. The head stays for the response.
bool Connection::State::take_stream() {
  if (!sink->wants_more()) return answer({});
  if (parser->chunked()) {
    const bool whole = take_chunks();
    if (over) return false;
    return (whole || !sink->wants_more()) && answer({});
  }
  const std::string_view piece = come().substr(0, body_bytes);
  if (!piece.empty()) sink->take(piece);
  body_bytes -= piece.size();
  drop_taken(piece.size());
  return (body_bytes == 0 || !sink->wants_more()) && answer({});
}

void Connection::State::drop_taken(std::size_t count) {
  char* body = buffer.get() + begin + head_bytes;
  std::memmove(body, body + count, end - begin - head_bytes - count);
  end -= count;
  chunk_begin = begin + head_bytes;
}

/// Returns true if the body is complete.
bool Connection::State::take_chunks() {
  const bool is_whole = parse_chunks();
  // What was read is in the sink or in the parser: framing does not add up in the buffer.
  if (!over) drop_taken(chunk_begin - begin - head_bytes);
  return is_whole;
}

bool Connection::State::parse_chunks() {
  while (!parser->is_done()) {
    ErrorCode error;
    const std::string_view rest(buffer.get() + chunk_begin, end - chunk_begin);
    if (rest.empty()) return false;
    const std::size_t taken = parser->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    chunk_begin += taken;
    if (sink && !sink->wants_more()) return false;
    if (error == beast::error::need_more) {
      if (rest.size() - taken <= chunk_line_bytes) return false;
      refuse(malformed);
      return false;
    }
    if (error) {
      if (error == beast::error::header_limit) {
        refuse(head_too_large);
      } else {
        refuse(error == beast::error::body_limit ? body_too_large : malformed);
      }
      return false;
    }
  }
  return true;
}

bool Connection::State::answer(std::string_view body) {
  // Responses may be large, and the client may never read them.
  if (budget != nullptr && budget->is_exhausted()) {
    refuse(overloaded);
    return false;
  }
  parser->request.body = body;
  return answer_with(handler.handle(parser->request));
}

/// Queues the response and moves behind the message; false: the request is pending.
bool Connection::State::answer_with(Response&& response) {
  ticket = response.ticket();
  if (ticket) {
    tighten();
    return false;
  }
  pack_for(parser->request, response);
  if (parser->request.method == "HEAD") response.leave_body_out();
  const bool unread = sink && (parser->chunked() ? !parser->is_done() : body_bytes > 0);
  sink.reset();
  const bool closes = !parser->keep_alive() || winding_up || response.closes() || unread;
  if (!closes && parser->version < 11) response.header("Connection", "keep-alive");
  write(std::move(response), closes);
  phase = Phase::idle;
  begin = scanned = std::min(message_end(), end);
  return true;
}

void Connection::State::refuse(const MalformedRequest& why) {
  sink.reset();
  write(handler.refuse(why), true);
}

void Connection::State::write(Response&& response, bool closes) {
  ++answered;
  const bool has_body = !response.is_bodiless() && response.with_body() == WithBody::yes;
  if (response.source() == nullptr && !response.wire_fault()) {
    append_head(pending, response, closes ? Keep::no : Keep::yes);
    if (has_body) pending += response.text();
    over = over || closes;
    return;
  }
  std::string head;
  append_head(head, response, closes ? Keep::no : Keep::yes);
  delivery = std::make_unique<Delivery>(std::move(response), std::move(head), has_body ? WithBody::yes : WithBody::no);
  over_after_delivery = closes;
}

/// What to send next, if anything is due.
void Connection::State::advance() {
  while (delivery && output.empty() && pending.empty() && delivery->pause().count() == 0 && !delivery->hangs()) {
    if (!delivery->is_done()) {
      delivery->fill(pending);
      continue;
    }
    breaks_off = delivery->ends_connection();
    over = over || over_after_delivery || breaks_off;
    resets = delivery->resets();
    delivery.reset();
    proceed();
  }
}

// What the transport calls.

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
