// Beast's only home: its parser reads the head and the chunks; the checks before it and after it are ours.
#include "server-mock/http/conversation.hpp"

#include <algorithm>
#include <cstring>

#include <boost/beast/http/error.hpp>

#include "server-mock/http/delivery.hpp"
#include "server-mock/http/gzip.hpp"
#include "server-mock/http/request_parser.hpp"

namespace ws::mock::http {
namespace {

namespace beast = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr std::size_t first_buffer_bytes = 512;  // of each connection, waiting ones too
constexpr std::size_t kept_buffer_bytes = std::size_t{64} << 10U;
// Answers of a pipelining client pile up no further than this before they are sent.
constexpr std::size_t output_pause_bytes = std::size_t{256} << 10U;
// Behind a request that waits, so much may come in and no more.
constexpr std::size_t waiting_bytes = std::size_t{64} << 10U;
// A chunk's size line with its extensions, and the trailer fields.
constexpr std::size_t chunk_line_bytes = 4096;
constexpr std::size_t stream_buffer_bytes = std::size_t{64} << 10U;  // while a sink takes a body

constexpr Unreadable malformed = {400, "bad_request", "The request is malformed"};
constexpr Unreadable ambiguous = {400, "bad_request", "The request's length is ambiguous"};
constexpr Unreadable no_host = {400, "bad_request", "The request needs exactly one Host"};
constexpr Unreadable head_too_large = {431, "headers_too_large", "The header fields are larger than 64 KiB"};
constexpr Unreadable body_too_large = {413, "payload_too_large", "The body is larger than this operation takes"};
constexpr Unreadable unknown_expectation = {417, "bad_request", "The only expectation known is 100-continue"};
constexpr Unreadable too_slow = {408, "request_timeout", "The request did not arrive in time"};

}  // namespace

struct Conversation::State {
  State(Handler& handler_, const Limits& limits_) : handler(handler_), limits(limits_) {}

  Handler& handler;
  Limits limits;
  std::unique_ptr<char[]> buffer = {};
  std::size_t capacity = 0;
  std::size_t begin = 0;    // of the message under way
  std::size_t end = 0;      // of what has come
  std::size_t scanned = 0;  // up to here there is no end of the head
  std::optional<Parser> parser = {};
  std::size_t head_bytes = 0;
  std::size_t body_bytes = 0;   // as declared, less what a sink took
  std::size_t chunk_begin = 0;  // of the chunks not parsed yet
  Phase phase = Phase::idle;
  std::unique_ptr<BodySink> sink = {};  // of the message under way
  std::optional<std::uint64_t> ticket = {};
  std::unique_ptr<Delivery> delivery = {};  // goes out after `pending`; nothing is read until it is done
  std::string output = {};                  // being sent
  std::string pending = {};                 // to be sent after it
  std::uint64_t answered = 0;
  bool over = false;
  bool over_after_delivery = false;
  bool resets = false;
  bool breaks_off = false;
  bool winding_up = false;

  std::string_view unread() const { return {buffer.get() + begin, end - begin}; }
  std::string_view come() const { return unread().substr(head_bytes); }
  std::size_t message_end() const { return parser->chunked() ? chunk_begin : begin + head_bytes + body_bytes; }

  void make_room();
  void proceed();
  bool take_head();
  std::optional<std::size_t> find_head_end();
  bool open_message();
  std::optional<Unreadable> objection();
  bool take_body();
  bool take_stream();
  bool take_chunks();
  void drop_taken(std::size_t count);
  bool answer(std::string_view body);
  bool answer_with(Response&& response);
  void refuse(const Unreadable& why);
  void write(Response&& response, bool closes);
  void advance();
};

/// At least as much again as there is; a message begun moves to the front first, and with it the views of its head.
void Conversation::State::make_room() {
  const std::size_t least = sink ? stream_buffer_bytes : first_buffer_bytes;
  if (capacity >= least && capacity - end >= capacity / 2) return;
  const std::size_t used = end - begin;
  const std::size_t wanted = std::max(least, used * 2);
  const char* old_text = buffer.get() + begin;
  const bool larger = wanted > capacity;
  auto target = larger ? std::make_unique_for_overwrite<char[]>(wanted) : nullptr;
  char* new_text = larger ? target.get() : buffer.get();
  if (used > 0) std::memmove(new_text, old_text, used);
  if (phase == Phase::body) parser->rebase(old_text, new_text);
  if (larger) {
    buffer = std::move(target);
    capacity = wanted;
  }
  scanned -= std::min(scanned, begin);
  chunk_begin -= std::min(chunk_begin, begin);
  begin = 0;
  end = used;
}

void Conversation::State::proceed() {
  if (ticket) {
    over = over || (end > message_end() && end - message_end() > waiting_bytes);
    if (sink && end < message_end()) end = begin + head_bytes;  // of a body that nobody wants
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

/// Where the empty line ends, as an offset of the buffer. A LF without its CR is refused at once: its sender would wait
/// for ever for an end that never comes.
std::optional<std::size_t> Conversation::State::find_head_end() {
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

bool Conversation::State::take_head() {
  // RFC 9112, 2.2: empty lines before a request are passed over.
  while (end - begin >= 2 && buffer[begin] == '\r' && buffer[begin + 1] == '\n') begin += 2;
  scanned = std::max(scanned, begin);
  phase = begin == end ? Phase::idle : Phase::head;
  if (phase == Phase::idle) return false;
  const std::optional<std::size_t> head_end = find_head_end();
  if (over) return false;
  const std::size_t size = head_end.value_or(end) - begin;
  if (size > limits.head_bytes) {
    refuse(head_too_large);
    return false;
  }
  if (!head_end) return false;
  head_bytes = size;
  return open_message();
}

/// What is wrong with a head that Beast has accepted.
std::optional<Unreadable> Conversation::State::objection() {
  const Parser& head = *parser;
  if (head.lengths + head.codings > 1) return ambiguous;
  if (!head.coding_is_chunked || (head.codings == 1 && head.version < 11)) return ambiguous;
  if (head.hosts > 1 || (head.hosts == 0 && head.version >= 11)) return no_host;
  if (head.expects_more) return unknown_expectation;
  if (!head.request.target.starts_with('/') && head.request.target != "*" &&
      head.request.target.find("://") == std::string_view::npos) {
    return malformed;
  }
  return std::nullopt;
}

bool Conversation::State::open_message() {
  const std::string_view head = unread().substr(0, head_bytes);
  std::vector<Header> headers = parser ? std::move(parser->request.headers) : std::vector<Header>();
  parser.emplace(limits.head_bytes, std::move(headers));
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
  if (const auto why = objection()) {
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
  if (nothing_came && goes_on && parser->expects_continue) pending += "HTTP/1.1 100 Continue\r\n\r\n";
  return true;
}

bool Conversation::State::take_body() {
  if (sink) return take_stream();
  if (parser->chunked()) return take_chunks() && answer(parser->chunks);
  if (end - begin < head_bytes + body_bytes) return false;
  return answer(unread().substr(head_bytes, body_bytes));
}

/// What the sink has taken leaves the buffer; the head stays, for the answer.
bool Conversation::State::take_stream() {
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

void Conversation::State::drop_taken(std::size_t count) {
  char* body = buffer.get() + begin + head_bytes;
  std::memmove(body, body + count, end - begin - head_bytes - count);
  end -= count;
  chunk_begin = begin + head_bytes;
}

/// True: the body is whole.
bool Conversation::State::take_chunks() {
  while (!parser->is_done()) {
    ErrorCode error;
    const std::string_view rest(buffer.get() + chunk_begin, end - chunk_begin);
    if (rest.empty()) return false;
    const std::size_t taken = parser->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    chunk_begin += taken;
    if (sink) {
      drop_taken(taken);
      if (!sink->wants_more()) return false;
    }
    if (error == beast::error::need_more) {
      if (rest.size() - taken <= chunk_line_bytes) return false;
      refuse(malformed);
      return false;
    }
    if (error) {
      refuse(error == beast::error::body_limit ? body_too_large : malformed);
      return false;
    }
  }
  return true;
}

bool Conversation::State::answer(std::string_view body) {
  parser->request.body = body;
  return answer_with(handler.handle(parser->request));
}

/// Sends the answer and moves behind the message; false: it waits.
bool Conversation::State::answer_with(Response&& response) {
  ticket = response.ticket();
  if (ticket) return false;
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

void Conversation::State::refuse(const Unreadable& why) {
  sink.reset();
  write(handler.refuse(why), true);
}

void Conversation::State::write(Response&& response, bool closes) {
  ++answered;
  const bool has_body = !response.is_bodiless() && response.with_body() == WithBody::yes;
  if (response.source() == nullptr && !response.disturbance()) {
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

/// What is to be sent next, if it is time for it.
void Conversation::State::advance() {
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

Conversation::Conversation(Handler& handler, const Limits& limits) : state_(std::make_unique<State>(handler, limits)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

std::span<char> Conversation::room() {
  state_->make_room();
  return {state_->buffer.get() + state_->end, state_->capacity - state_->end};
}
void Conversation::received(std::size_t count) {
  state_->end += count;
  state_->proceed();
}
const std::string& Conversation::output() {
  if (state_->output.empty()) {
    state_->advance();
    state_->output.swap(state_->pending);
  }
  return state_->output;
}
Conversation::Step Conversation::step() {
  if (!output().empty()) return Step::send;
  if (state_->delivery) return state_->delivery->hangs() ? Step::hang : Step::pause;
  return state_->over ? Step::end : Step::read;
}
std::chrono::milliseconds Conversation::pause() const {
  return state_->delivery ? state_->delivery->pause() : std::chrono::milliseconds{0};
}
void Conversation::waited() {
  if (state_->delivery) state_->delivery->waited();
}
bool Conversation::resets() const { return state_->resets; }
bool Conversation::breaks_off() const { return state_->breaks_off; }
bool Conversation::takes_its_time() const {
  return state_->ticket || (state_->delivery && state_->delivery->is_disturbed());
}
void Conversation::sent() {
  state_->output.clear();
  if (state_->output.capacity() > output_pause_bytes * 2) state_->output.shrink_to_fit();
  state_->proceed();
}
bool Conversation::is_over() const { return state_->over; }
Conversation::Phase Conversation::phase() const { return state_->sink ? Phase::stream : state_->phase; }
std::uint64_t Conversation::answered() const { return state_->answered; }
std::optional<std::uint64_t> Conversation::ticket() const { return state_->ticket; }
bool Conversation::ask_again(Patience patience) {
  State& state = *state_;
  if (!state.ticket || !state.answer_with(state.handler.again(*state.ticket, state.parser->request, patience))) {
    return false;
  }
  state.proceed();
  return true;
}
void Conversation::timed_out() {
  if (!state_->over && state_->phase != Phase::idle) state_->refuse(too_slow);
  state_->over = true;
}
void Conversation::wind_up() {
  state_->winding_up = true;
  if (state_->delivery) {
    state_->over_after_delivery = true;
    state_->delivery->hurry();
  } else if (state_->phase == Phase::idle) {
    state_->over = true;
  }
}

}  // namespace ws::mock::http
