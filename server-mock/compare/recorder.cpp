#include "server-mock/compare/recorder.hpp"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clock.hpp"
#include "api-client/base/descriptor.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/contract/secrets.hpp"
#include "api-client/http/curl.hpp"
#include "server-mock/compare/caller.hpp"
#include "server-mock/compare/grade.hpp"
#include "server-mock/compare/probes.hpp"
#include "server-mock/journal/redactor.hpp"
#include "server-mock/output/line_output.hpp"
#include "server-mock/output/print.hpp"
#include "server-mock/pipeline/error_response.hpp"

namespace ws::mock::compare {
namespace {

/// For each body. Larger ones are forwarded, and only their size is recorded.
constexpr std::size_t max_kept_bytes = std::size_t{4} << 20U;
/// For exchanges that were forwarded and are not yet written.
constexpr std::size_t max_waiting_bytes = std::size_t{8} << 20U;
/// A body that is on its way lies in memory up to this size, if all of them together are below the other one; what is
/// behind that lies in a temporary file.
constexpr std::size_t max_in_memory_bytes = std::size_t{256} << 10U;
constexpr std::size_t max_held_bytes = std::size_t{64} << 20U;
/// Above what an upload may have (100 MiB).
constexpr std::uint64_t max_request_bytes = std::uint64_t{128} << 20U;
constexpr std::uint64_t max_response_bytes = std::uint64_t{1} << 30U;
constexpr std::size_t max_calls = 512;
constexpr std::size_t max_uploads = 10'000;
constexpr std::string_view upload_prefix = "/_upload/";
constexpr std::string_view uploads_path = "/v1/files/uploads";
/// Longer than the longest long poll.
constexpr std::chrono::milliseconds exchange_timeout{600'000};
/// How often the calls under way are looked at, and how long those have that the server's end finds.
constexpr std::chrono::milliseconds look_every{1};
constexpr std::chrono::milliseconds last_patience{700};

/// Hop-by-hop headers (RFC 9110, 7.6.1), and those that this proxy sets itself.
bool is_hop_header(std::string_view name) {
  for (const std::string_view one : {"connection",
                                     "keep-alive",
                                     "proxy-connection",
                                     "proxy-authorization",
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

/// An answer of the proxy's own, with an id as the service's answers have one.
http::Response refusal(const ApiError& why) {
  SystemRandom random;
  const std::string id = fmt::format("req_{:016x}", random.next());
  return render(why, id, Assumptions()).header("X-Request-Id", id);
}

http::Response error(int status, std::string_view code, std::string_view message) {
  return refusal({.status = status, .code = std::string(code), .message = std::string(message)});
}

/// A body on its way: its beginning in memory, the rest in a file without a name.
class Spool {
 public:
  explicit Spool(std::size_t& held_bytes) : held_(held_bytes) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool() { held_ -= memory_.size(); }

  std::uint64_t size() const { return size_; }
  /// Returns false if the disk fails.
  bool append(std::string_view piece) {
    if (!file_ && memory_.size() + piece.size() <= max_in_memory_bytes && held_ + piece.size() <= max_held_bytes) {
      memory_ += piece;
      held_ += piece.size();
    } else if (!open() || !write_all_at(file_.get(), piece, static_cast<off_t>(size_ - memory_.size()))) {
      return false;
    }
    size_ += piece.size();
    return true;
  }
  /// 0 at the end, and if the disk fails.
  std::size_t read(std::uint64_t at, char* room, std::size_t capacity) const {
    if (at < memory_.size()) return memory_.copy(room, capacity, static_cast<std::size_t>(at));
    if (!file_) return 0;
    const ssize_t got = read_some_at(file_.get(), room, capacity, static_cast<off_t>(at - memory_.size()));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  /// Empty if it is larger than what is recorded.
  std::string kept() const {
    std::string text;
    if (size_ > max_kept_bytes) return text;
    text.resize(static_cast<std::size_t>(size_));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t got = read(at, text.data() + at, text.size() - at);
      if (got == 0) return {};
      at += got;
    }
    return text;
  }

 private:
  bool open() {
    if (file_) return true;
    std::error_code none;
    std::string name = (std::filesystem::temp_directory_path(none) / "ws-mock-XXXXXX").string();
    file_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file_) ::unlink(name.c_str());
    return static_cast<bool>(file_);
  }

  std::size_t& held_;
  std::string memory_ = {};
  Descriptor file_ = {};
  std::uint64_t size_ = 0;
};

class SpoolSink final : public http::BodySink {
 public:
  explicit SpoolSink(std::size_t& held_bytes) : spool_(std::make_shared<Spool>(held_bytes)) {}
  bool wants_more() const override { return !failed_; }
  void take(std::string_view piece) override {
    failed_ = failed_ || spool_->size() + piece.size() > max_request_bytes || !spool_->append(piece);
  }
  std::uint64_t taken_bytes() const override { return spool_->size(); }
  std::shared_ptr<Spool> finish() { return std::move(spool_); }

 private:
  std::shared_ptr<Spool> spool_;
  bool failed_ = false;
};

/// To the service, or to the client.
class SpoolReader final : public ws::http::BodySource, public http::BodySource {
 public:
  explicit SpoolReader(std::shared_ptr<const Spool> spool) : spool_(std::move(spool)) {}
  std::uint64_t size_bytes() const override { return spool_->size(); }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override { return read(std::span(buffer, capacity)); }
  std::size_t read(std::span<char> room) override {
    const std::size_t got = spool_->read(at_, room.data(), room.size());
    at_ += got;
    return got;
  }

 private:
  std::shared_ptr<const Spool> spool_;
  std::uint64_t at_ = 0;
};

/// The length that an answer to HEAD announces.
class AnnouncedLength final : public http::BodySource {
 public:
  explicit AnnouncedLength(std::uint64_t size) : size_(size) {}
  std::uint64_t size_bytes() const override { return size_; }
  std::size_t read(std::span<char> /*room*/) override { return 0; }

 private:
  std::uint64_t size_;
};

http::Response with_body(http::Response response, const std::string& type, std::unique_ptr<http::BodySource> source) {
  response.body(type, std::move(source));
  if (type.empty()) response.remove_header("Content-Type");
  return response;
}

std::string new_upload_code() {
  SystemRandom random;
  return fmt::format("{:016x}{:016x}", random.next(), random.next());
}

}  // namespace

/// A separate thread redacts and writes the exchanges, so that requests do not wait for it.
class RecordingProxy::Writer {
 public:
  Writer(const RecordOptions& options, LineOutput file)
      : shapes_only_(options.shapes_only),
        on_violation_(options.on_violation),
        file_(std::move(file)),
        grader_(binding_, findings_),
        thread_(start_without_signals([this] { write_all(); })) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { finish(); }

  /// Waits while too many bytes are not yet redacted.
  void take(WireExchange exchange) {
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
    if (thread_.joinable()) thread_.join();
    file_.finish();
  }

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
      waiting_bytes_ -= size_of(exchange);
      changed_.notify_all();
    }
  }

  void write(const WireExchange& exchange) {
    const Exchange redacted = redactor_.redact(exchange);
    file_.write((shapes_only_ ? shape_line(redacted) : dump(to_json(redacted))) + "\n");
    const std::size_t known = findings_.all().size();
    grader_.grade_alone(redacted);
    for (std::size_t i = known; i < findings_.all().size() && on_violation_; ++i) {
      const Finding& one = findings_.all()[i];
      on_violation_(fmt::format("{}: {}: {}", one.shown_by, one.where, one.what));
    }
  }

  bool shapes_only_;
  std::function<void(const std::string&)> on_violation_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WireExchange> waiting_ = {};
  std::size_t waiting_bytes_ = 0;
  bool ended_ = false;
  LineOutput file_;
  Redactor redactor_{Redactor::Undescribed::hidden};
  Binding binding_ = {};
  Findings findings_ = {};
  Grader grader_;
  std::thread thread_;  // last: it uses the others
};

/// A request on its way, and its answer.
struct RecordingProxy::Passing {
  explicit Passing(std::size_t& held_bytes) : answer_body(std::make_shared<Spool>(held_bytes)) {}

  WireExchange exchange = {};
  std::chrono::steady_clock::time_point sent_at = std::chrono::steady_clock::now();
  std::shared_ptr<Spool> body = {};  // of the request; null: none
  std::unique_ptr<SpoolReader> source = {};
  std::shared_ptr<Spool> answer_body;
  std::string own_url = {};  // of this proxy, as the client calls it
  bool is_done = false;
  bool is_unreached = false;  // no whole answer came
  std::string why = {};
};

RecordingProxy::RecordingProxy(RecordOptions options,
                               std::unique_ptr<ws::http::Transport> transport,
                               std::unique_ptr<Writer> writer)
    : options_(std::move(options)),
      guard_(options_.names, AuthMode::strict),
      transport_(std::move(transport)),
      writer_(std::move(writer)) {}

RecordingProxy::~RecordingProxy() = default;

Result<std::unique_ptr<RecordingProxy>> RecordingProxy::open(RecordOptions options) {
  while (options.to.ends_with('/')) options.to.pop_back();
  if (ws::http::origin_of(options.to).empty() || options.to.find_first_of("?#") != std::string::npos) {
    return fail(Failure::Kind::usage, fmt::format("--to \"{}\" is not an http or https address", options.to));
  }
  WS_TRY(check_key_way(options.to));
  WS_LET(auto transport, ws::http::make_curl_transport({.max_connections = max_calls}));
  WS_LET(LineOutput file,
         LineOutput::open(options.out,
                          LineOutput::Begin::append,
                          LineOutput::Gaps::allowed,
                          "recording",
                          [out = options.out](const std::string& reason) {
                            tell(fmt::format("ws-mock: {} misses exchanges from now on: {}", out, reason));
                          }));
  auto writer = std::make_unique<Writer>(options, std::move(file));
  return std::unique_ptr<RecordingProxy>(
      new RecordingProxy(std::move(options), std::move(transport), std::move(writer)));
}

void RecordingProxy::finish() {
  transport_->cancel_all();
  writer_->finish();
  if (const auto lost = lost_lines(); lost.contains("recording")) {
    tell(fmt::format("ws-mock: exchanges missing in {}: {}", options_.out, lost.at("recording")));
  }
}

std::size_t RecordingProxy::body_limit(const http::Request& /*head*/) { return 0; }

std::unique_ptr<http::BodySink> RecordingProxy::open_sink(const http::Request& head) {
  if (guard_.rejection(head, head.path) || !is_authorized(head)) return nullptr;
  return std::make_unique<SpoolSink>(held_bytes_);
}

bool RecordingProxy::is_authorized(const http::Request& request) const {
  // Comparing hashes hides how much of the token was right from timing attacks.
  return options_.token.empty() ||
         Sha256::of(request.find("Proxy-Authorization").value_or("")) == Sha256::of("Bearer " + options_.token);
}

http::Response RecordingProxy::refuse(const http::MalformedRequest& why) {
  return error(why.status, why.code, why.reason);
}

http::Response RecordingProxy::handle(const http::Request& request) {
  if (const auto rejection = guard_.rejection(request, request.path)) return refusal(*rejection);
  if (!is_authorized(request)) {
    return error(407, "proxy_authentication_required", "Send the control token as Proxy-Authorization: Bearer TOKEN")
        .header("Proxy-Authenticate", "Bearer");
  }
  if (request.path == "*") return http::Response(204).header("Allow", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
  if (!request.path.starts_with('/')) return error(400, "invalid_request", "The request's target has no path");
  if (passing_.size() >= max_calls) {
    return error(503, "overloaded", fmt::format("{} requests are in progress, which is the limit", max_calls));
  }
  const auto passing = std::make_shared<Passing>(held_bytes_);
  WireExchange& exchange = passing->exchange;
  exchange.method = request.method;
  exchange.time_ms = SystemClock().now().time_since_epoch().count();
  std::string url;
  if (request.path.starts_with(upload_prefix)) {
    const auto found = uploads_.find(request.path.substr(upload_prefix.size()));
    if (found == uploads_.end()) return error(404, "not_found", "There is no such upload");
    url = exchange.upload_url = found->second;
  } else {
    exchange.path = request.path;
    exchange.query = request.query;
    url = options_.to + exchange.path + (request.query.empty() ? "" : "?" + exchange.query);
  }
  const std::string_view named = request.find("Connection").value_or("");
  for (const http::Header& field : request.headers) {
    // An upload's address is a secret of its own: it gets no other.
    const bool is_left = is_hop_header(field.name) || to_lower(named).find(to_lower(field.name)) != std::string::npos ||
                         (!exchange.upload_url.empty() && contract::is_credential_header(field.name));
    if (!is_left) exchange.request_headers.emplace_back(field.name, field.value);
  }
  if (auto* sink = dynamic_cast<SpoolSink*>(request.sink); sink != nullptr) {
    if (!sink->wants_more())
      return error(413, "payload_too_large", "The body is larger than 128 MiB, or the disk is full");
    passing->body = sink->finish();
    passing->source = std::make_unique<SpoolReader>(passing->body);
    exchange.request_bytes = passing->body->size();
  }
  const std::string_view host = guard_.request_host(request);
  passing->own_url = host.empty() ? base_url_ : fmt::format("{}://{}", base_url_.substr(0, base_url_.find(':')), host);
  const std::uint64_t ticket = next_ticket_++;
  passing_.emplace(ticket, passing);
  ws::http::Request call = {
      .method = exchange.method, .url = url, .headers = exchange.request_headers, .timeout = exchange_timeout};
  // Ask for an uncompressed response: a compressed one could not be read, and decompressing it would change it.
  call.headers.emplace_back("Accept-Encoding", "identity");
  if (passing->source && passing->source->size_bytes() > 0) call.source = passing->source.get();
  call.max_body_bytes = max_response_bytes;
  call.sink = [passing](std::string_view piece) -> Result<void> {
    if (passing->answer_body->append(piece)) return {};
    return fail(Failure::Kind::disk, "the disk has no room for the answer");
  };
  transport_->start(std::move(call), [this, passing, ticket](ws::http::Outcome outcome) {
    end(*passing, std::move(outcome));
    ready_.push_back(ticket);
  });
  return http::Response::later(ticket);
}

/// The whole answer is here, or none will come.
void RecordingProxy::end(Passing& passing, ws::http::Outcome outcome) {
  passing.is_done = true;
  WireExchange& exchange = passing.exchange;
  const auto taken = std::chrono::steady_clock::now() - passing.sent_at;
  exchange.duration_us = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
  if (auto* failed = std::get_if<ws::http::TransportError>(&outcome)) {
    passing.is_unreached = true;
    passing.why = std::move(failed->reason.what);
    return;
  }
  auto& answer = std::get<ws::http::Response>(outcome);
  exchange.status = answer.status;
  exchange.response_headers = std::move(answer.headers);
  if (!answer.body.empty() && !passing.answer_body->append(answer.body)) {
    passing.is_unreached = true;
    passing.why = "the disk has no room for the answer";
    return;
  }
  exchange.response_bytes = passing.answer_body->size();
  exchange.response_body = passing.answer_body->kept();
  if (passing.body) exchange.request_body = passing.body->kept();
  passing.source.reset();
  passing.body.reset();
  writer_->take(exchange);
}

std::vector<std::uint64_t> RecordingProxy::take_ready() {
  transport_->run(std::chrono::milliseconds{0});
  return std::exchange(ready_, {});
}

std::optional<std::chrono::milliseconds> RecordingProxy::next_ready() {
  return transport_->under_way() > 0 ? std::optional(look_every) : std::nullopt;
}

void RecordingProxy::cancel(std::uint64_t ticket) { passing_.erase(ticket); }

http::Response RecordingProxy::resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) {
  const auto found = passing_.find(ticket);
  if (found == passing_.end()) return error(502, "bad_gateway", "No such request is in progress");
  const std::shared_ptr<Passing> passing = found->second;
  if (may_wait == http::MayWait::no && !last_moment_) last_moment_ = std::chrono::steady_clock::now() + last_patience;
  while (!passing->is_done && may_wait == http::MayWait::no && std::chrono::steady_clock::now() < *last_moment_) {
    transport_->run(std::chrono::milliseconds{20});
  }
  if (!passing->is_done && may_wait == http::MayWait::yes) return http::Response::later(ticket);
  passing_.erase(found);
  if (!passing->is_done) return error(503, "stopping", "ws-mock record stops before the service has answered");
  if (passing->is_unreached) return error(502, "bad_gateway", passing->why);
  return answer(*passing, request);
}

/// As it came, but for the address of an upload: that becomes one of this proxy.
http::Response RecordingProxy::answer(Passing& passing, const http::Request& request) {
  const WireExchange& exchange = passing.exchange;
  http::Response response(exchange.status);
  std::string type;
  for (const auto& [name, value] : exchange.response_headers) {
    if (equal_ignoring_case(name, "Content-Type")) {
      type = value;
    } else if (!is_hop_header(name)) {
      response.header(name, value);
    }
  }
  if (request.method == "HEAD") {
    const auto length = parse_bounded(ws::http::find_header(exchange.response_headers, "Content-Length").value_or("0"));
    const std::uint64_t size = length && length->is_number_unsigned() ? length->get<std::uint64_t>() : 0;
    return with_body(std::move(response), type, std::make_unique<AnnouncedLength>(size));
  }
  if (exchange.method == "POST" && exchange.path == uploads_path && exchange.status < 300) {
    auto json = parse_bounded(exchange.response_body);
    const auto url = json ? find_text(*json, "upload_url") : std::nullopt;
    if (url && (!ws::http::may_lead_to(*url, options_.to) || uploads_.size() >= max_uploads)) {
      return error(502, "bad_gateway", "The service names an address for the upload that may not be called");
    }
    if (url) {
      const std::string code = new_upload_code();
      uploads_.emplace(code, *url);
      (*json)["upload_url"] = fmt::format("{}{}{}", passing.own_url, upload_prefix, code);
      response.body(type, dump(*json));
      return response;
    }
  }
  if (response.is_bodiless()) return response;
  return with_body(std::move(response), type, std::make_unique<SpoolReader>(std::move(passing.answer_body)));
}

}  // namespace ws::mock::compare
