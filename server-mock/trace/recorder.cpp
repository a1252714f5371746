#include "server-mock/trace/recorder.hpp"

#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "server-mock/output/print.hpp"
#include "server-mock/trace/trace_file.hpp"

namespace ws::mock::trace {
namespace {

/// A jump replays about this many requests at most, unless a snapshot is larger than what was recorded since the last
/// one.
constexpr std::size_t requests_between_snapshots = 250;

/// The status that the client sees: 0 if a wire fault replaces the response.
int status_of(const http::Response& response) {
  const bool unanswered = response.wire_fault() && response.wire_fault()->end != http::WireFault::End::as_usual;
  return unanswered ? 0 : response.status();
}

}  // namespace

/// Forwards a body and keeps its beginning.
class Recorder::RecordingSink final : public http::BodySink {
 public:
  explicit RecordingSink(std::unique_ptr<http::BodySink> inner) : inner_(std::move(inner)) {}
  bool wants_more() const override { return inner_->wants_more(); }
  void take(std::string_view piece) override {
    kept_.append(piece.substr(0, kept_body_bytes - kept_.size()));
    inner_->take(piece);
  }
  std::uint64_t taken_bytes() const override { return inner_->taken_bytes(); }
  http::BodySink* inner() const { return inner_.get(); }
  const std::string& kept() const { return kept_; }

 private:
  std::unique_ptr<http::BodySink> inner_;
  std::string kept_ = {};
};

Recorder::Recorder(LineOutput file,
                   const SecretNames& secrets,
                   Application& application,
                   std::shared_ptr<PinnedTime> pinned)
    : file_(std::move(file)), secrets_(secrets), application_(application), pinned_(std::move(pinned)) {}

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path,
                                                 const Json& start,
                                                 const SecretNames& secrets,
                                                 Application& application,
                                                 std::shared_ptr<PinnedTime> pinned) {
  WS_LET(
      LineOutput file,
      LineOutput::open(path, LineOutput::Begin::anew, LineOutput::Gaps::none, "trace", [](const std::string& reason) {
        tell(fmt::format("ws-mock: stopped writing the trace: {}", reason));
      }));
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(file), secrets, application, std::move(pinned)));
  const Time opened = recorder->pinned_->at.value_or(Time());
  Json line = {{"ws_trace", 1}, {"started_at", opened.time_since_epoch().count()}};
  line.update(start);
  recorder->secrets_.hide_fixed(line);
  recorder->start_ = std::move(line);
  WS_TRY(recorder->changes_.before(application.sandbox()));
  WS_TRY(recorder->secrets_.learn(*application.sandbox().world));
  recorder->pinned_->at.reset();
  return recorder;
}

void Recorder::end(int exit_code) {
  write_start();
  write(dump(Json{{"end", exit_code}}));
}

/// Written with the first request, since the base URL is known only once the server listens.
void Recorder::write_start() {
  if (start_.is_null()) return;
  (*start_)["base_url"] = base_url_;
  write(secrets_.hide(dump(*start_)));
  start_ = Json(nullptr);
}

void Recorder::learn_base_url() {
  if (!start_.is_null()) base_url_ = application_.sandbox().base_url;
}

void Recorder::write(const std::string& line) {
  unsnapped_bytes_ += line.size() + 1;
  file_.write(line + "\n");
}

/// All clocks stand still until `pinned_` is reset.
std::int64_t Recorder::pin_time() {
  learn_base_url();
  pinned_->at = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return pinned_->at->time_since_epoch().count();
}

/// `response`: null if there is none.
void Recorder::finish(Event event, Sandbox& sandbox, const http::Response* response) {
  write_start();
  const auto found = changes_.after(sandbox);
  pinned_->at.reset();
  event.state = found ? found->hash : std::string();
  if (!found) tell(fmt::format("ws-mock: the trace lacks a state: {}", found.error().what));
  if (response != nullptr && response->ticket()) {
    waiting_[*response->ticket()] = event.n;
  } else if (response != nullptr) {
    event.status = status_of(*response);
    event.operation = response->find("X-Mock-Operation");
  }
  if (const auto learnt = secrets_.learn(*sandbox.world); !learnt) {
    file_.stop(learnt.error().what);
  }
  write(line_of(event));
  const bool is_due = requests_ >= last_snapshot_ + requests_between_snapshots && unsnapped_bytes_ >= snapshot_bytes_;
  if (is_due && can_snapshot(sandbox)) take_snapshot(sandbox, event.state);
}

/// Whether the rows are the whole state: no pending request, no counting fault rule, no file outside the database.
bool Recorder::can_snapshot(Sandbox& sandbox) const {
  return &sandbox == &application_.sandbox() && waiting_.empty() && !application_.has_sandboxes() &&
         sandbox.is_rows_only();
}

void Recorder::take_snapshot(Sandbox& sandbox, const std::string& state) {
  auto rows = sandbox.read_state();
  if (rows) secrets_.hide_hashes((*rows)["tables"]["keys"]);
  const auto packed = rows ? pack(secrets_.hide(dump(*rows))) : std::nullopt;
  if (!packed) return;
  last_snapshot_ = requests_;
  // If a snapshot costs more than everything recorded since the last one, wait until it does not.
  snapshot_bytes_ = packed->size();
  if (snapshot_bytes_ > unsnapped_bytes_) return;
  write(line_of(Snapshot{.after = requests_, .requests = sandbox.requests, .state = state, .packed = *packed}));
  unsnapped_bytes_ = 0;
}

std::unique_ptr<http::BodySink> Recorder::open_sink(const http::Request& head) {
  auto inner = application_.open_sink(head);
  if (!inner) return nullptr;
  return std::make_unique<RecordingSink>(std::move(inner));
}

http::Response Recorder::handle(const http::Request& request) {
  Event event = {.n = ++requests_, .time = pin_time()};
  http::Request passed = request;
  std::string_view body = request.body;
  std::uint64_t size = body.size();
  if (auto* sink = dynamic_cast<RecordingSink*>(request.sink); sink != nullptr) {
    passed.sink = sink->inner();
    body = sink->kept();
    size = sink->taken_bytes();
  }
  Sandbox& before = application_.sandbox_of(request);
  // What another sandbox was opened with; its calls follow.
  if (const auto learnt = secrets_.learn(*before.world); !learnt) file_.stop(learnt.error().what);
  event.head = secrets_.hide_head(request.head);
  // Uploaded bytes are checked by their hash, and a control call makes the world that is replayed.
  const std::string_view kept = body.substr(0, kept_body_bytes);
  const bool is_raw = request.sink != nullptr || request.path.find("/_mock/") != std::string_view::npos;
  const bool is_form = request.find("Content-Type").value_or("").starts_with("application/x-www-form-urlencoded");
  event.body = is_raw ? secrets_.hide(kept) : secrets_.hide_body(kept, is_form);
  if (size > kept_body_bytes) event.cut = size;
  if (const auto watched = changes_.before(before); !watched) {
    tell(fmt::format("ws-mock: the trace lacks a state: {}", watched.error().what));
  }
  http::Response response = application_.handle(passed);
  finish(std::move(event), application_.sandbox_of(request), &response);
  return response;
}

http::Response Recorder::resume(std::uint64_t ticket, const http::Request& request, http::MayWait may_wait) {
  const auto waiting = waiting_.extract(ticket);
  Event event = {.kind = Event::Kind::resume,
                 .n = waiting.empty() ? requests_ : waiting.mapped(),
                 .time = pin_time(),
                 .may_wait = may_wait == http::MayWait::yes};
  http::Request passed = request;
  if (auto* sink = dynamic_cast<RecordingSink*>(request.sink); sink != nullptr) passed.sink = sink->inner();
  http::Response response = application_.resume(ticket, passed, may_wait);
  finish(std::move(event), application_.sandbox_of(request), &response);
  return response;
}

void Recorder::cancel(std::uint64_t ticket) {
  const auto waiting = waiting_.extract(ticket);
  Event event = {.kind = Event::Kind::cancel, .n = waiting.empty() ? 0 : waiting.mapped(), .time = pin_time()};
  application_.cancel(ticket);
  if (event.n == 0) {
    pinned_->at.reset();
    return;
  }
  finish(std::move(event), application_.sandbox(), nullptr);
}

http::Response Recorder::refuse(const http::MalformedRequest& why) {
  const std::int64_t time = pin_time();
  http::Response response = application_.refuse(why);
  pinned_->at.reset();
  write_start();
  write(line_of(Event{.kind = Event::Kind::refused,
                      .time = time,
                      .body = std::string(why.reason),
                      .status = why.status,
                      .code = std::string(why.code)}));
  return response;
}

std::vector<std::uint64_t> Recorder::take_ready() {
  const std::int64_t time = pin_time();
  std::vector<std::uint64_t> tickets = application_.take_ready();
  pinned_->at.reset();
  if (!tickets.empty()) write(line_of(Event{.kind = Event::Kind::ready, .time = time}));
  return tickets;
}

}  // namespace ws::mock::trace
