#include "api-client/http/curl_exchange.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "api-client/base/ascii.hpp"

namespace ws::http {
namespace {

// Bodies that are not for the sink (errors) are collected, and only so far.
constexpr std::uint64_t max_collected_beside_sink_bytes = std::uint64_t{32} << 20U;

// A peer that is slower than this over the whole idle timeout counts as silent: it would never end.
constexpr std::uint64_t min_bytes_per_second = 16;

bool is_success(int status) { return status >= 200 && status < 300; }

bool is_tls_failure(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT: return true;
    default: return false;  // an open set: libcurl adds codes
  }
}

/// Whether an answer came that is no HTTP, as opposed to one that was cut.
bool is_protocol_failure(CURLcode code, std::string_view text) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9, or a version nobody knows
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:        // no callback of ours failed: the decoder did
    case CURLE_FILESIZE_EXCEEDED:  // a Content-Length beyond 2^63
    case CURLE_OUT_OF_MEMORY:      // a header line longer than libcurl's 100 kB
    case CURLE_TOO_MANY_REDIRECTS: return true;
    // libcurl has one code for a lost connection and for bad chunks; only its words tell them apart.
    case CURLE_RECV_ERROR: return text.find("chunked-encoding") != std::string_view::npos;
    default: return false;
  }
}

/// In words that need no knowledge of OpenSSL where the usual reasons are; else with what it says.
std::string tls_reason_of(CURLcode code, std::string_view text) {
  const auto holds = [text](std::string_view words) { return text.find(words) != std::string_view::npos; };
  if (holds("wrong version number")) return "the server does not speak TLS on this port";
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    if (holds("subject name")) return "the certificate of the server is for another name";
    constexpr std::string_view beginning = "SSL certificate problem: ";
    if (text.starts_with(beginning)) text.remove_prefix(beginning.size());
    return fmt::format("the certificate of the server is not trusted: {}", text);
  }
  return fmt::format("no TLS connection: {}", text);
}

/// Why there was no answer, in words that need no knowledge of libcurl.
std::string reason_of(CURLcode code, std::string_view text) {
  if (is_tls_failure(code)) return tls_reason_of(code, text);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return "the name of the server cannot be resolved";
    case CURLE_COULDNT_RESOLVE_PROXY: return "the name of the proxy cannot be resolved";
    case CURLE_COULDNT_CONNECT: return "cannot connect to the server";
    case CURLE_OPERATION_TIMEDOUT: return "the server did not answer in time";
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:  // lost on a reused connection, and the body is not sent twice
    case CURLE_PARTIAL_FILE: return "the connection was lost";
    default: return std::string(text);  // an open set: libcurl adds codes
  }
}

}  // namespace

CurlExchange::CurlExchange(const CurlLibrary& curl,
                           const CurlOptions& options,
                           Request request,
                           std::function<void(Outcome)> done)
    : curl_(curl),
      options_(options),
      request_(std::move(request)),
      done_(std::move(done)),
      easy_(nullptr, curl.easy_cleanup),
      headers_(curl.make_list()),
      last_activity_(Steady::now()) {}

template <class Value>
void CurlExchange::set(CURLoption option, Value value) {
  static_assert(std::is_same_v<Value, long> || std::is_same_v<Value, curl_off_t> || std::is_pointer_v<Value>,
                "libcurl reads its variadic argument as exactly one of these");
  const CURLcode code = curl_.easy_setopt(easy_.get(), option, value);
  if (first_failure_ == CURLE_OK) first_failure_ = code;
}

Result<void> CurlExchange::prepare(CurlLibrary::Easy easy) {
  easy_ = std::move(easy);
  if (easy_ == nullptr) return fail(Failure::Kind::internal, "libcurl returned no handle");
  last_activity_ = Steady::now();
  set_common();
  set_method();
  WS_TRY(set_headers());
  if (first_failure_ != CURLE_OK) {
    return fail(Failure::Kind::internal,
                fmt::format("libcurl refuses an option: {}", curl_.easy_strerror(first_failure_)));
  }
  return {};
}

void CurlExchange::set_common() {
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP09_ALLOWED, 0L);
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_PATH_AS_IS, 1L);
  // HTTP/2 may refuse a stream that libcurl then sends again by itself, and one lost connection would put many calls in
  // doubt at once: one request a connection at a time is what the retry table rests on.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  // In whole seconds, rounded down: an idle time of less than 2 s.
  if (request_.connection == Connection::recent) set(CURLOPT_MAXAGE_CONN, 1L);
  // An encoding that the caller asked for comes as it is: ranges count encoded bytes.
  if (!find_header(request_.headers, "Accept-Encoding")) set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  // Plain HTTP is allowed where the way is known: a proxy would get the key in clear, and carry loopback off this
  // machine. What is no https URL is no other either.
  const bool is_https = origin_of(request_.url).starts_with("https:");
  if (!is_https || is_loopback(request_.url)) set(CURLOPT_PROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());

  set(CURLOPT_SOCKOPTFUNCTION, &CurlExchange::on_socket);
  set(CURLOPT_PREREQFUNCTION, &CurlExchange::on_send);
  set(CURLOPT_PREREQDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, &CurlExchange::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &CurlExchange::on_write);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
}

void CurlExchange::set_method() {
  const std::uint64_t size = request_.source != nullptr ? request_.source->size_bytes() : request_.body.size();
  const std::string& method = request_.method;
  if (size > 0 || method == "POST" || method == "PUT" || method == "PATCH") {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(size));
    // No seek function and no CURLOPT_POSTFIELDS: libcurl cannot wind back and send it a second time.
    set(CURLOPT_READFUNCTION, &CurlExchange::on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    if (method != "POST") set(CURLOPT_CUSTOMREQUEST, method.c_str());
  } else if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else {
    set(CURLOPT_HTTPGET, 1L);
    if (method != "GET") set(CURLOPT_CUSTOMREQUEST, method.c_str());
  }
}

Result<void> CurlExchange::set_headers() {
  std::vector<std::string> lines;
  for (const auto& [name, value] : request_.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return fail(Failure::Kind::usage, "a header's name must be a token, its value one line without NUL");
    }
    lines.push_back(value.empty() ? fmt::format("{};", name)
                                  : fmt::format("{}: {}", name, value));  // "name;" is libcurl's form of an empty value
  }
  // A line without value removes what libcurl adds by itself.
  lines.emplace_back("Expect:");
  if (!find_header(request_.headers, "Content-Type")) lines.emplace_back("Content-Type:");
  if (!find_header(request_.headers, "Accept")) lines.emplace_back("Accept:");
  // On one machine packing costs more than sending: half of the time of a large pull. What comes packed is still read.
  const bool names_encoding = find_header(request_.headers, "Accept-Encoding").has_value();
  if (!names_encoding && is_loopback(request_.url)) lines.emplace_back("Accept-Encoding: identity");
  for (const std::string& line : lines) {
    curl_slist* const longer = curl_.slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) return fail(Failure::Kind::internal, "out of memory for headers");
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  }
  set(CURLOPT_HTTPHEADER, headers_.get());
  return {};
}

// Editor, pager and the commands that a worker runs must not hold a connection open, or write into it.
int CurlExchange::on_socket(void*, curl_socket_t socket, curlsocktype) noexcept {
  const int flags = ::fcntl(socket, F_GETFD);
  if (flags >= 0) static_cast<void>(::fcntl(socket, F_SETFD, flags | FD_CLOEXEC));
  return CURL_SOCKOPT_OK;
}

// Called before each request is put on a connection, and so also when libcurl silently repeats one whose reused
// connection died: the second time ends it.
int CurlExchange::on_send(void* self, char*, char*, int, int) noexcept {
  auto& exchange = *static_cast<CurlExchange*>(self);
  exchange.last_activity_ = Steady::now();
  return ++exchange.times_sent_ > 1 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t CurlExchange::on_read(char* buffer, std::size_t size, std::size_t count, void* self) noexcept {
  auto& exchange = *static_cast<CurlExchange*>(self);
  exchange.last_activity_ = Steady::now();
  const std::size_t capacity = size * count;
  Request& request = exchange.request_;
  try {
    if (request.source != nullptr) {
      auto got = request.source->read(buffer, capacity);
      if (got) return std::min(*got, capacity);
      exchange.own_ = TransportError{TransportError::Stage::sink, std::move(got).error()};
      return CURL_READFUNC_ABORT;
    }
    const std::size_t piece = request.body.copy(buffer, capacity, exchange.body_offset_);
    exchange.body_offset_ += piece;
    return piece;
  } catch (const std::exception& bug) {
    exchange.own_ =
        TransportError{TransportError::Stage::sink, Failure{.kind = Failure::Kind::internal, .what = bug.what()}};
    return CURL_READFUNC_ABORT;
  }
}

std::size_t CurlExchange::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::string_view line(data, size * count);
  exchange.note_progress(line.size());
  try {
    return exchange.take_header(line) ? line.size() : 0;
  } catch (const std::exception& bug) {
    exchange.own_ =
        TransportError{TransportError::Stage::unusable, Failure{.kind = Failure::Kind::internal, .what = bug.what()}};
    return 0;
  }
}

std::size_t CurlExchange::on_write(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& exchange = *static_cast<CurlExchange*>(self);
  const std::string_view piece(data, size * count);
  exchange.note_progress(piece.size());
  try {
    if (exchange.take_body(piece)) return piece.size();
  } catch (const std::exception& bug) {
    exchange.own_ =
        TransportError{TransportError::Stage::sink, Failure{.kind = Failure::Kind::internal, .what = bug.what()}};
  }
  // Anything but the size stops the transfer; 0 would not for an empty piece.
  return piece.size() + 1;
}

void CurlExchange::note_progress(std::size_t bytes) {
  bytes_since_ += bytes;
  const auto timeout_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(request_.idle_timeout.count(), 0));
  if (bytes_since_ * 1000 < min_bytes_per_second * timeout_ms) return;
  last_activity_ = Steady::now();
  bytes_since_ = 0;
}

bool CurlExchange::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > options_.max_header_bytes) {
    own_ = too_many_headers();
    return false;
  }
  if (head_complete_) return true;  // trailers
  if (line.substr(0, 5) == "HTTP/") {
    // Each block starts anew: those of 1xx answers are forgotten.
    response_.headers.clear();
    long status = 0;
    curl_.easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    if (status != 101) return true;
    // What follows is no HTTP, and libcurl would wait for it.
    own_ = transport_error(TransportError::Stage::unusable,
                           Failure::Kind::internal,
                           "the answer switches to a protocol that ws did not ask for");
    return false;
  }
  const std::string_view text = trimmed(line);
  if (text.empty()) {
    head_complete_ = response_.status >= 200;
    return true;
  }
  if ((line.front() == ' ' || line.front() == '\t') && !response_.headers.empty()) {
    response_.headers.back().second += fmt::format(" {}", text);  // folded (RFC 9112, 5.2)
    return true;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return true;  // no header; libcurl lets it pass and so do we
  response_.headers.emplace_back(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));
  return true;
}

bool CurlExchange::take_body(std::string_view piece) {
  const bool to_sink = request_.sink && is_success(response_.status);
  const std::uint64_t limit = request_.sink && !to_sink
                                  ? std::min(request_.max_body_bytes, max_collected_beside_sink_bytes)
                                  : request_.max_body_bytes;
  if (piece.size() > limit - body_bytes_) {
    own_ = transport_error(TransportError::Stage::too_large,
                           Failure::Kind::internal,
                           fmt::format("the answer has more than {} bytes", limit));
    return false;
  }
  body_bytes_ += piece.size();
  if (!to_sink) {
    response_.body += piece;
    return true;
  }
  Result<void> taken;
  if (request_.head && !std::exchange(head_shown_, true)) taken = request_.head(response_.status, response_.headers);
  if (taken) taken = request_.sink(piece);
  if (taken) return true;
  own_ = TransportError{TransportError::Stage::sink, std::move(taken).error()};
  return false;
}

std::optional<CurlExchange::Steady::time_point> CurlExchange::idle_deadline() const {
  if (request_.idle_timeout.count() <= 0) return std::nullopt;
  return last_activity_ + request_.idle_timeout;
}

TransportError CurlExchange::transport_error(TransportError::Stage stage,
                                             Failure::Kind kind,
                                             std::string_view reason) const {
  return {stage,
          Failure{.kind = kind, .what = fmt::format("{} {}: {}", request_.method, origin_of(request_.url), reason)}};
}

TransportError CurlExchange::too_many_headers() const {
  return transport_error(TransportError::Stage::unusable,
                         Failure::Kind::internal,
                         fmt::format("the answer has more than {} bytes of headers", options_.max_header_bytes));
}

Outcome CurlExchange::outcome(CURLcode code) {
  if (own_) return std::move(*own_);
  if (code == CURLE_OK && head_complete_) return std::move(response_);
  using Stage = TransportError::Stage;
  const std::string_view text = error_[0] != '\0' ? error_.data() : curl_.easy_strerror(code);
  if (times_sent_ == 0) {
    const auto stage = is_tls_failure(code) ? Stage::tls : Stage::nothing_sent;
    return transport_error(stage, Failure::Kind::unreachable, reason_of(code, text));
  }
  if (times_sent_ > 1) {
    return transport_error(Stage::no_answer, Failure::Kind::unreachable, "the connection was closed without an answer");
  }
  if (code == CURLE_OK && header_bytes_ > 0) {
    return transport_error(Stage::no_answer, Failure::Kind::unreachable, "the answer was cut off in its headers");
  }
  // One line beyond libcurl's own bound.
  if (code == CURLE_OUT_OF_MEMORY && !head_complete_) return too_many_headers();
  const std::string encoding = encoding_of(response_.headers);
  if ((code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_WRITE_ERROR) && !encoding.empty()) {
    return transport_error(Stage::unusable,
                           Failure::Kind::internal,
                           fmt::format("the answer is encoded as `{}`, which cannot be decoded", encoding));
  }
  if (code == CURLE_OK || is_protocol_failure(code, text)) {
    return transport_error(
        Stage::unusable, Failure::Kind::internal, code == CURLE_OK ? "the answer has no headers" : text);
  }
  return transport_error(Stage::no_answer, Failure::Kind::unreachable, reason_of(code, text));
}

Outcome CurlExchange::ended_idle() const {
  const auto stage = times_sent_ == 0 ? TransportError::Stage::nothing_sent : TransportError::Stage::no_answer;
  const auto timeout = request_.idle_timeout.count();
  return transport_error(stage,
                         Failure::Kind::unreachable,
                         bytes_since_ == 0
                             ? fmt::format("no data for {} ms", timeout)
                             : fmt::format("slower than {} bytes a second for {} ms", min_bytes_per_second, timeout));
}

Outcome CurlExchange::ended_early() const {
  return transport_error(TransportError::Stage::cancelled, Failure::Kind::cancelled, "cancelled");
}

}  // namespace ws::http
