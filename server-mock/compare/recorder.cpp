#include "server-mock/compare/recorder.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/http/curl.hpp"
#include "server-mock/compare/client_socket.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/compare/probes.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::compare {
namespace {

/// For each body. Larger ones are forwarded, and only their size is recorded.
constexpr std::size_t max_kept_bytes = std::size_t{4} << 20U;
constexpr std::size_t max_chunked_bytes = std::size_t{4} << 20U;
/// For exchanges that were forwarded and are not yet written.
constexpr std::size_t max_waiting_bytes = std::size_t{8} << 20U;
constexpr std::string_view upload_prefix = "/_upload/";
constexpr std::string_view uploads_path = "/v1/files/uploads";
/// Longer than the longest long poll.
constexpr std::chrono::milliseconds exchange_timeout{600'000};

/// Hop-by-hop headers (RFC 9110, 7.6.1), and those that this proxy sets itself.
bool is_hop_header(std::string_view name) {
  for (const std::string_view one : {"connection",
                                     "keep-alive",
                                     "proxy-connection",
                                     "te",
                                     "trailer",
                                     "upgrade",
                                     "transfer-encoding",
                                     "content-length",
                                     "host",
                                     "expect",
                                     "accept-encoding"}) {
    if (equal_ignoring_case(name, one)) return true;
  }
  return false;
}

/// The body of a request, forwarded while it is read from the client.
class ForwardedBody final : public ws::http::BodySource {
 public:
  ForwardedBody(ClientSocket& client, std::uint64_t size, std::string& kept)
      : client_(client), size_(size), left_(size), kept_(kept) {}
  std::uint64_t size_bytes() const override { return size_; }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left_));
    if (wanted == 0) return std::size_t{0};
    const std::size_t got = client_.read(buffer, wanted);
    if (got == 0) return fail(Failure::Kind::unreachable, "the client closed the connection");
    left_ -= got;
    if (size_ <= max_kept_bytes) kept_.append(buffer, got);
    return got;
  }
  bool is_whole() const { return left_ == 0; }

 private:
  ClientSocket& client_;
  std::uint64_t size_;
  std::uint64_t left_;
  std::string& kept_;
};

/// State shared by all connections: the file, the placeholders, the upload URLs. A separate thread redacts and writes
/// the exchanges, so that requests do not wait for it.
class RecordingWriter {
 public:
  RecordingWriter(const RecordOptions& options, std::ofstream file)
      : options_(options), file_(std::move(file)), grader_(binding_, findings_), writer_([this] { write_all(); }) {}
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;
  ~RecordingWriter() { finish(); }

  /// Blocks while too many bytes are not yet written.
  void take(WireExchange exchange) {
    const auto since = std::chrono::steady_clock::now() - begin_;
    exchange.at_ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_bytes_ < max_waiting_bytes; });
    waiting_bytes_ += size_of(exchange);
    waiting_.push_back(std::move(exchange));
    changed_.notify_all();
  }

  /// Writes everything that was added, and stops the thread. Nothing may be added afterwards.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    if (writer_.joinable()) writer_.join();
  }

  std::string hide(const std::string& upload_url) {
    const std::lock_guard lock(mutex_);
    uploads_.push_back(upload_url);
    return fmt::format("{}{}{}", base_url_, upload_prefix, uploads_.size() - 1);
  }
  /// Returns the service's URL for one of the proxy's upload URLs; empty if there is none.
  std::string upload_at(std::string_view target) {
    const std::lock_guard lock(mutex_);
    target.remove_prefix(upload_prefix.size());
    const auto number = parse_bounded(target);
    const bool is_known = number && number->is_number_unsigned() && number->get<std::size_t>() < uploads_.size();
    return is_known ? uploads_[number->get<std::size_t>()] : std::string();
  }
  void set_base_url(std::string url) { base_url_ = std::move(url); }
  const RecordOptions& options() const { return options_; }

 private:
  static std::size_t size_of(const WireExchange& exchange) {
    constexpr std::size_t of_the_rest = 1024;
    return exchange.request_body.size() + exchange.response_body.size() + of_the_rest;
  }

  void write_all() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const WireExchange exchange = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      write(exchange);
      lock.lock();
      if (waiting_.empty()) file_.flush();
      waiting_bytes_ -= size_of(exchange);
      changed_.notify_all();
    }
  }

  void write(const WireExchange& exchange) {
    const RedactedExchange redacted = redactor_.redact(exchange);
    file_ << (options_.shapes_only ? redacted.shape_line() : redacted.line()) << '\n';
    const std::size_t known = findings_.all().size();
    grader_.grade_alone(redacted);
    for (std::size_t i = known; i < findings_.all().size() && options_.on_violation; ++i) {
      const Finding& one = findings_.all()[i];
      options_.on_violation(fmt::format("{}: {}: {}", one.shown_by, one.where, one.what));
    }
  }

  const RecordOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WireExchange> waiting_ = {};
  std::size_t waiting_bytes_ = 0;
  bool ended_ = false;
  std::ofstream file_;
  ExchangeRedactor redactor_ = {};
  Binding binding_ = {};
  Findings findings_ = {};
  Grader grader_;
  std::vector<std::string> uploads_ = {};
  std::string base_url_ = {};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::thread writer_;  // last: it uses the others
};

/// One client connection with its own connection to the service.
class ProxyConnection {
 public:
  ProxyConnection(int socket, RecordingWriter& writer, ws::http::Transport& transport)
      : client_(socket), writer_(writer), transport_(transport) {}

  void run() {
    while (auto head = client_.read_head()) {
      if (!pass(*head) || head->closes) return;
    }
  }

 private:
  /// Returns false if the connection cannot be reused.
  bool pass(const RequestHead& head) {
    exchange_ = {.method = head.method};
    head_sent_ = false;
    is_chunked_ = false;
    const std::string url = url_of(head);
    if (url.empty()) return refuse(404, "there is no such upload");
    for (const auto& [name, value] : head.headers) {
      if (equal_ignoring_case(name, "Expect") && !client_.write("HTTP/1.1 100 Continue\r\n\r\n")) return false;
      if (!is_hop_header(name)) exchange_.request_headers.emplace_back(name, value);
    }
    ws::http::Request request = {
        .method = head.method, .url = url, .headers = exchange_.request_headers, .timeout = exchange_timeout};
    // Ask for an uncompressed response: a compressed one could not be read, and decompressing it would change it.
    request.headers.emplace_back("Accept-Encoding", "identity");
    ForwardedBody passing(client_, head.length.value_or(0), exchange_.request_body);
    if (!head.length) {
      auto body = client_.read_chunks(max_chunked_bytes);
      if (!body) return refuse(413, "a chunked body is larger than 4 MiB or malformed");
      exchange_.request_body = *body;
      exchange_.request_bytes = body->size();
      request.body = std::move(*body);
    } else if (*head.length > 0) {
      request.source = &passing;
      exchange_.request_bytes = *head.length;
    }
    if (!is_upload_start()) {
      request.head = [this](int status, const ws::http::Headers& headers) { return send_head(status, headers); };
      request.sink = [this](std::string_view piece) { return send_piece(piece); };
    }
    request.max_body_bytes = std::uint64_t{1} << 40U;
    return end(transport_.send(std::move(request)), head.method == "HEAD") && passing.is_whole();
  }

  std::string url_of(const RequestHead& head) {
    if (head.target.starts_with(upload_prefix)) {
      exchange_.upload_url = writer_.upload_at(head.target);
      return exchange_.upload_url;
    }
    const std::size_t question = head.target.find('?');
    exchange_.path = head.target.substr(0, question);
    if (question != std::string::npos) exchange_.query = head.target.substr(question + 1);
    return writer_.options().to + head.target;
  }

  bool is_upload_start() const { return exchange_.method == "POST" && exchange_.path == uploads_path; }

  bool refuse(int status, std::string_view why) {
    const std::string body = dump({{"detail", why}});
    client_.write(fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        status,
        http::reason_phrase(status),
        body.size(),
        body));
    return false;
  }

  Result<void> send_head(int status, const ws::http::Headers& headers) {
    exchange_.status = status;
    exchange_.response_headers = headers;
    std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, http::reason_phrase(status));
    for (const auto& [name, value] : headers) {
      if (!is_hop_header(name)) text += fmt::format("{}: {}\r\n", name, value);
    }
    const auto length = ws::http::find_header(headers, "Content-Length");
    is_chunked_ = !length;
    text += length ? fmt::format("Content-Length: {}\r\n\r\n", *length) : "Transfer-Encoding: chunked\r\n\r\n";
    head_sent_ = true;
    return send(text);
  }

  Result<void> send_piece(std::string_view piece) {
    exchange_.response_bytes += piece.size();
    if (exchange_.response_bytes <= max_kept_bytes) {
      exchange_.response_body += piece;
    } else {
      exchange_.response_body = std::string();
    }
    if (!is_chunked_) return send(piece);
    if (piece.empty()) return {};
    return send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
  }

  Result<void> send(std::string_view bytes) {
    if (client_.write(bytes)) return {};
    return fail(Failure::Kind::unreachable, "the client closed the connection");
  }

  bool end(ws::http::Outcome outcome, bool is_head) {
    if (auto* error = std::get_if<ws::http::TransportError>(&outcome)) {
      if (head_sent_) return false;
      return refuse(502, error->reason.what);
    }
    if (head_sent_) {
      if (is_chunked_ && !client_.write("0\r\n\r\n")) return false;
      writer_.take(std::move(exchange_));
      return true;
    }
    auto& answer = std::get<ws::http::Response>(outcome);
    exchange_.status = answer.status;
    exchange_.response_headers = answer.headers;
    exchange_.response_bytes = answer.body.size();
    exchange_.response_body = answer.body.size() <= max_kept_bytes ? answer.body : std::string();
    if (is_upload_start() && answer.status < 300) answer.body = with_own_address(answer.body);
    std::string text = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, http::reason_phrase(answer.status));
    for (const auto& [name, value] : answer.headers) {
      const bool is_length = is_head && equal_ignoring_case(name, "Content-Length");
      if (!is_hop_header(name) || is_length) text += fmt::format("{}: {}\r\n", name, value);
    }
    const bool has_body = !is_head && answer.status != 204 && answer.status != 304;
    if (has_body) text += fmt::format("Content-Length: {}\r\n", answer.body.size());
    text += "\r\n";
    if (has_body) text += answer.body;
    const bool is_sent = client_.write(text);
    writer_.take(std::move(exchange_));
    return is_sent;
  }

  std::string with_own_address(const std::string& body) {
    auto json = parse_bounded(body);
    const auto url = json ? find_text(*json, "upload_url") : std::nullopt;
    if (!url) return body;
    (*json)["upload_url"] = writer_.hide(*url);
    return dump(*json);
  }

  ClientSocket client_;
  RecordingWriter& writer_;
  ws::http::Transport& transport_;
  WireExchange exchange_ = {};
  bool head_sent_ = false;
  bool is_chunked_ = false;
};

struct Bound {
  int socket = -1;
  std::string base_url = {};
};

Result<Bound> listen_on(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  const auto port =
      parse_bounded(colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1));
  const std::string host = text.substr(0, colon);
  if (!port || !port->is_number_unsigned() || *port > 65535 ||
      ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    return fail(Failure::Kind::usage, fmt::format("--listen \"{}\" is not ADDRESS:PORT", text));
  }
  address.sin_port = htons(port->get<std::uint16_t>());
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  socklen_t size = sizeof address;
  if (::bind(socket, generic, size) != 0 || ::listen(socket, SOMAXCONN) != 0 ||
      ::getsockname(socket, generic, &size) != 0) {
    ::close(socket);
    return fail(Failure::Kind::unreachable, fmt::format("cannot listen on {}", text));
  }
  return Bound{socket, fmt::format("http://{}:{}", host, ntohs(address.sin_port))};
}

/// Runs in one thread for each connection and ends with it.
void serve_client(int socket, RecordingWriter& writer, std::atomic<int>& open) {
  auto transport = ws::http::make_curl_transport({.max_connections = 1});
  if (transport) {
    ProxyConnection(socket, writer, **transport).run();
  } else {
    ::close(socket);
  }
  --open;
}

}  // namespace

Result<void> record(const RecordOptions& given) {
  RecordOptions options = given;
  while (options.to.ends_with('/')) options.to.pop_back();
  if (ws::http::origin_of(options.to).empty()) {
    return fail(Failure::Kind::usage, fmt::format("--to \"{}\" is not an http or https address", options.to));
  }
  // Open the file before the first request is served: requests that cannot be recorded must not be forwarded.
  const int made = ::open(options.out.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (made < 0) return fail(Failure::Kind::disk, fmt::format("cannot write {}", options.out));
  ::close(made);
  RecordingWriter writer(options, std::ofstream(options.out, std::ios::app | std::ios::binary));
  WS_LET(const Bound bound, listen_on(options.listen));
  writer.set_base_url(bound.base_url);
  if (options.ready) options.ready(bound.base_url);
  std::atomic<int> open = 0;
  while (options.stop == nullptr || !*options.stop) {
    pollfd wanted = {.fd = bound.socket, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, 200) <= 0) continue;
    const int socket = ::accept4(bound.socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ++open;
    std::thread([socket, &writer, &open] { serve_client(socket, writer, open); }).detach();
  }
  ::close(bound.socket);
  // The process exits next and closes open connections. Wait a moment, so that complete exchanges are written.
  for (int tries = 0; open > 0 && tries < 20; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  writer.finish();
  if (open > 0) {
    std::fflush(nullptr);
    ::_exit(0);
  }
  return {};
}

}  // namespace ws::mock::compare
