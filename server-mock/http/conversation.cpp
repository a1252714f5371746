// Beast's only home: its parser reads the head and the chunks; the checks before it and after it are ours.
#include "server-mock/http/conversation.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace ws::mock::http {
namespace {

namespace beast = boost::beast::http;
using ErrorCode = boost::system::error_code;

constexpr std::size_t first_buffer_bytes = 2048;  // of each connection, waiting ones too
constexpr std::size_t kept_buffer_bytes = std::size_t{64} << 10U;
// Answers of a pipelining client pile up no further than this before they are sent.
constexpr std::size_t output_pause_bytes = std::size_t{256} << 10U;
// Behind a request that waits, so much may come in and no more.
constexpr std::size_t waiting_bytes = std::size_t{64} << 10U;
// A chunk's size line with its extensions, and the trailer fields.
constexpr std::size_t chunk_line_bytes = 4096;

constexpr Unreadable malformed = {400, "bad_request", "The request is malformed"};
constexpr Unreadable ambiguous = {400, "bad_request", "The request's length is ambiguous"};
constexpr Unreadable no_host = {400, "bad_request", "The request needs exactly one Host"};
constexpr Unreadable head_too_large = {431, "headers_too_large", "The header fields are larger than 64 KiB"};
constexpr Unreadable body_too_large = {413, "payload_too_large", "The body is larger than this operation takes"};
constexpr Unreadable unknown_expectation = {417, "bad_request", "The only expectation known is 100-continue"};
constexpr Unreadable too_slow = {408, "request_timeout", "The request did not arrive in time"};

/// Tells what Beast's parser finds; points into the buffer that the parser was given.
class Parser final : public beast::basic_parser<true> {
 public:
  /// `headers` only lends its memory.
  Parser(const Limits& limits, std::vector<Header>&& headers) {
    request.headers = std::move(headers);
    request.headers.clear();
    request.headers.reserve(16);
    header_limit(static_cast<std::uint32_t>(limits.head_bytes));
    body_limit(boost::none);
  }

  Request request;
  std::string chunks;
  int version = 11;
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
  bool coding_is_chunked = true;
  bool expects_continue = false;
  bool expects_more = false;  // something nobody knows

  /// The buffer lies elsewhere now.
  void rebase(const char* from, const char* to) {
    const auto move = [&](std::string_view& text) {
      if (text.data() != nullptr) text = {to + (text.data() - from), text.size()};
    };
    for (std::string_view* text : {&request.method, &request.target, &request.path, &request.query, &request.head}) {
      move(*text);
    }
    if (!chunked()) move(request.body);
    for (Header& field : request.headers) {
      move(field.name);
      move(field.value);
    }
  }

 private:
  static std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

  void on_request_impl(
      beast::verb, boost::beast::string_view method, boost::beast::string_view target, int http, ErrorCode&) override {
    request.method = view(method);
    request.target = view(target);
    version = http;
  }
  void on_response_impl(int, boost::beast::string_view, int, ErrorCode&) override {}
  void on_field_impl(beast::field field,
                     boost::beast::string_view name,
                     boost::beast::string_view value,
                     ErrorCode&) override {
    if (in_trailer_) return;  // nobody asks for what comes after the body
    request.headers.push_back({view(name), view(value)});
    switch (field) {
      case beast::field::host: ++hosts; break;
      case beast::field::content_length: ++lengths; break;
      case beast::field::transfer_encoding:
        ++codings;
        coding_is_chunked = equal_without_case(view(value), "chunked");
        break;
      case beast::field::expect:
        expects_continue = equal_without_case(view(value), "100-continue");
        expects_more = !expects_continue;
        break;
      default: break;  // the enum is Beast's, and names 350 fields
    }
  }
  void on_header_impl(ErrorCode&) override { in_trailer_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(boost::beast::string_view text, ErrorCode&) override { return text.size(); }
  void on_chunk_header_impl(std::uint64_t, boost::beast::string_view, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, boost::beast::string_view text, ErrorCode&) override {
    chunks.append(text.data(), text.size());
    return text.size();
  }
  void on_finish_impl(ErrorCode&) override {}

  bool in_trailer_ = false;
};

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  out.append(digits, end);
}

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
  std::size_t body_bytes = 0;   // as declared
  std::size_t chunk_begin = 0;  // of the chunks not parsed yet
  std::size_t limit = 0;
  Phase phase = Phase::idle;
  std::optional<std::uint64_t> ticket = {};
  std::string output = {};   // being sent
  std::string pending = {};  // to be sent after it
  std::uint64_t answered = 0;
  bool over = false;
  bool winding_up = false;

  std::string_view unread() const { return {buffer.get() + begin, end - begin}; }
  std::size_t message_end() const { return parser->chunked() ? chunk_begin : begin + head_bytes + body_bytes; }

  void make_room();
  void proceed();
  bool take_head();
  std::optional<std::size_t> find_head_end();
  bool open_message();
  std::optional<Unreadable> objection();
  bool take_body();
  bool take_chunks();
  bool answer(std::string_view body);
  bool answer_with(Response&& response);
  void refuse(const Unreadable& why);
  void write(const Response& response, bool closes);
};

/// At least as much again as there is; a message begun moves to the front first, and with it the views of its head.
void Conversation::State::make_room() {
  if (capacity - end >= capacity / 2 && capacity > 0) return;
  const std::size_t used = end - begin;
  const std::size_t wanted = std::max(first_buffer_bytes, used * 2);
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
    over = over || end - message_end() > waiting_bytes;
    return;
  }
  while (!over && output.size() + pending.size() < output_pause_bytes) {
    if (phase != Phase::body && !take_head()) break;
    if (over) break;
    if (!take_body()) break;
  }
  if (phase != Phase::idle || begin != end) return;
  begin = end = scanned = 0;
  if (capacity > kept_buffer_bytes) {
    buffer.reset();
    capacity = 0;
  }
  if (winding_up) over = true;
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
  parser.emplace(limits, std::move(headers));
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
  if (body_bytes == 0 && !parser->chunked()) return true;
  limit = handler.body_limit(parser->request);
  if (body_bytes > limit) {
    refuse(body_too_large);
    return false;
  }
  parser->body_limit(limit);
  parser->eager(true);
  const bool nothing_came = end == chunk_begin;
  if (nothing_came && parser->expects_continue) pending += "HTTP/1.1 100 Continue\r\n\r\n";
  return true;
}

bool Conversation::State::take_body() {
  if (parser->chunked()) return take_chunks();
  if (end - begin < head_bytes + body_bytes) return false;
  return answer(unread().substr(head_bytes, body_bytes));
}

bool Conversation::State::take_chunks() {
  while (!parser->is_done()) {
    ErrorCode error;
    const std::string_view rest(buffer.get() + chunk_begin, end - chunk_begin);
    if (rest.empty()) return false;
    const std::size_t taken = parser->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    chunk_begin += taken;
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
  return answer(parser->chunks);
}

bool Conversation::State::answer(std::string_view body) {
  parser->request.body = body;
  return answer_with(handler.handle(parser->request));
}

/// Sends the answer and moves behind the message; false: it waits.
bool Conversation::State::answer_with(Response&& response) {
  ticket = response.ticket();
  if (ticket) return false;
  if (parser->request.method == "HEAD") response.leave_body_out();
  write(response, !parser->keep_alive() || winding_up || response.closes());
  phase = Phase::idle;
  begin = scanned = message_end();
  return true;
}

void Conversation::State::refuse(const Unreadable& why) { write(handler.refuse(why), true); }

void Conversation::State::write(const Response& response, bool closes) {
  pending += "HTTP/1.1 ";
  append_number(pending, static_cast<std::size_t>(response.status()));
  pending += ' ';
  pending += reason_phrase(response.status());
  pending += "\r\n";
  pending += response.headers();
  const bool bodiless = response.status() == 204 || response.status() == 304;
  if (!bodiless) {
    pending += "Content-Length: ";
    append_number(pending, response.text().size());
    pending += "\r\n";
  }
  if (closes) pending += "Connection: close\r\n";
  pending += "\r\n";
  if (!bodiless && response.with_body() == WithBody::yes) pending += response.text();
  ++answered;
  over = over || closes;
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
  if (state_->output.empty()) state_->output.swap(state_->pending);
  return state_->output;
}
void Conversation::sent() {
  state_->output.clear();
  if (state_->output.capacity() > output_pause_bytes * 2) state_->output.shrink_to_fit();
  state_->proceed();
}
bool Conversation::is_over() const { return state_->over; }
Conversation::Phase Conversation::phase() const { return state_->phase; }
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
  if (state_->phase == Phase::idle) state_->over = true;
}

}  // namespace ws::mock::http
