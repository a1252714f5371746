#include "server-mock/trace/replay.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/trace/trace_file.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::size_t max_snapshot_bytes = std::size_t{256} << 20U;
constexpr std::uint64_t initial_secrets = 1000;
constexpr std::uint64_t secrets_per_request = 100;

Result<std::size_t> size_of(const sqlite::Database& rows) {
  WS_LET(sqlite::Statement size,
         rows.prepare("select page_count * page_size from pragma_page_count, pragma_page_size"));
  WS_TRY(size.step());
  return static_cast<std::size_t>(size.integer(0));
}

std::string host_of(const std::string& base_url) { return base_url.substr(base_url.find("//") + 2); }

}  // namespace

const std::pair<const std::size_t, Checkpoint>* Checkpoints::before(std::size_t moment) const {
  const auto next = kept_.lower_bound(moment);
  return next == kept_.begin() ? nullptr : &*std::prev(next);
}

void Checkpoints::keep(std::size_t moment, Checkpoint checkpoint) {
  bytes_ += checkpoint.bytes;
  kept_.insert_or_assign(moment, std::move(checkpoint));
  while (bytes_ > max_bytes && kept_.size() > 1) {
    for (auto one = kept_.begin(); one != kept_.end();) {
      bytes_ -= one->second.bytes;
      one = kept_.erase(one);
      if (one != kept_.end()) ++one;
    }
    max_gap_ *= 2;
  }
}

void Checkpoints::passed(std::size_t moment) {
  if (moment == complete_until_ + 1) complete_until_ = moment;
}

/// A request with the texts that it points into.
struct Replay::RestoredRequest {
  std::string head = {};
  std::string body = {};
  http::Request request = {};
  std::unique_ptr<http::BodySink> sink = {};
  std::uint64_t ticket = 0;
};

Replay::Replay(const Trace& trace, const ApplicationOptions& options, Checkpoints& checkpoints)
    : trace_(trace),
      options_(options),
      checkpoints_(checkpoints),
      secrets_(options.sandbox.world.seed, options.control.token) {
  options_.sandbox.clock.pin(pinned_);
  can_jump_ = std::ranges::none_of(
      trace.events, [](const Event& event) { return event.head.find("/_mock/sandboxes") != std::string::npos; });
}

Replay::~Replay() = default;

Result<std::unique_ptr<Replay>> Replay::open(const Trace& trace,
                                             const ApplicationOptions& options,
                                             Checkpoints& checkpoints) {
  std::unique_ptr<Replay> replay(new Replay(trace, options, checkpoints));
  // Each request issues a few secrets, and the fixtures as many as they have keys.
  replay->secrets_.set_limit(initial_secrets + secrets_per_request * trace.requests.size() + dump(*trace.start).size());
  for (const Event& event : trace.events) {
    WS_TRY(replay->secrets_.check(event.head));
    WS_TRY(replay->secrets_.check(event.body));
  }
  WS_TRY(replay->restart());
  return replay;
}

Result<void> Replay::restart() {
  waiting_.clear();
  changes_ = {};
  pinned_->at = Time{std::chrono::milliseconds(trace_.started_at)};
  application_.reset();
  WS_LET(application_, Application::open(options_));
  application_->set_base_url(trace_.base_url);
  application_->on_shutdown([] {});
  moment_ = 0;
  next_event_ = 0;
  played_ = {};
  WS_TRY(changes_.before(application_->sandbox()));
  played_.state = played_.recorded = changes_.hash("");
  return {};
}

/// The index of the first event after the moment.
std::size_t Replay::end_of(std::size_t moment) const {
  return moment < trace_.requests.size() ? trace_.requests[moment] : trace_.events.size();
}

Result<void> Replay::go_to(std::size_t moment) {
  if (moment > trace_.requests.size()) {
    return fail(Failure::Kind::usage,
                fmt::format("there is no request {} in the trace; its last is {}", moment, trace_.requests.size()));
  }
  if (moment == 0) return moment_ == 0 ? Result<void>() : restart();
  WS_TRY(jump_to_checkpoint(moment));
  destination_ = moment;
  while (moment_ < moment) {
    const auto begin = std::chrono::steady_clock::now();
    ++moment_;
    played_ = {};
    for (const std::size_t end = end_of(moment_); next_event_ < end; ++next_event_) {
      WS_TRY(play(trace_.events[next_event_]));
    }
    replay_time_ += std::chrono::steady_clock::now() - begin;
    checkpoints_.passed(moment_);
    if (replay_time_ >= checkpoints_.max_gap() || checkpoints_.contains(moment_)) WS_TRY(keep_checkpoint());
  }
  return {};
}

/// Jumps to the nearest checkpoint if that is cheaper than going on, or if the moment is in the past.
Result<void> Replay::jump_to_checkpoint(std::size_t moment) {
  const auto* checkpoint = checkpoints_.before(moment);
  std::size_t kept = checkpoint == nullptr ? 0 : checkpoint->first;
  const Snapshot* snapshot = nullptr;
  for (const Snapshot& one : trace_.snapshots) {
    const bool usable = can_jump_ && options_.control.is_on && one.after < moment &&
                        one.after > std::max(kept, checkpoints_.complete_until());
    if (!usable) continue;
    snapshot = &one;
    kept = one.after;
  }
  if (moment_ < moment && moment_ >= kept) return {};
  if (kept == 0) return restart();
  if (snapshot == nullptr) {
    WS_TRY(restore(checkpoint->second));
  } else {
    WS_TRY(restore(*snapshot));
  }
  moment_ = kept;
  replay_time_ = {};
  next_event_ = end_of(kept);
  return snapshot == nullptr ? Result<void>() : keep_checkpoint();
}

void Replay::forget_calls() {
  Sandbox& sandbox = application_->sandbox();
  waiting_.clear();
  sandbox.pending_claims.end_all();
  sandbox.faults = FaultRules(options_.sandbox.world.seed);
  sandbox.rate_limit.clear();
  sandbox.in_flight.clear();
  sandbox.world->real_polls.clear();
  sandbox.snapshots.clear(*sandbox.world);
  sandbox.journal.clear();
}

Result<void> Replay::restore(const Checkpoint& checkpoint) {
  Sandbox& sandbox = application_->sandbox();
  forget_calls();
  WS_TRY(sandbox.world->restore(checkpoint.rows));
  sandbox.clock = checkpoint.clock;
  sandbox.world->assumptions = checkpoint.assumptions;
  sandbox.built_in = checkpoint.built_in;
  sandbox.requests = checkpoint.requests;
  return changes_.set_hash(sandbox, checkpoint.state);
}

Result<void> Replay::restore(const Snapshot& snapshot) {
  const auto text = unpack(snapshot.packed, max_snapshot_bytes);
  if (!text) {
    return fail(Failure::Kind::invalid, fmt::format("the snapshot after request {} is damaged", snapshot.after));
  }
  forget_calls();
  WS_LET(const std::string body, secrets_.reveal(*text));
  const std::string host = host_of(trace_.base_url);
  const std::string token = "Bearer " + options_.control.token;
  const http::Response response =
      application_->handle({.method = "PUT",
                            .target = "/_mock/state",
                            .path = "/_mock/state",
                            .head = "PUT /_mock/state HTTP/1.1\r\n",
                            .headers = {{"Host", host}, {"Content-Type", "application/json"}, {"Authorization", token}},
                            .body = body});
  if (response.status() != 200) {
    return fail(Failure::Kind::invalid,
                fmt::format("this ws-mock cannot load the snapshot after request {}: {}",
                            snapshot.after,
                            response.text().substr(0, 200)));
  }
  application_->sandbox().requests = snapshot.requests;
  return changes_.set_hash(application_->sandbox(), snapshot.state);
}

Result<void> Replay::keep_checkpoint() {
  Sandbox& sandbox = application_->sandbox();
  if (!can_jump_ || !waiting_.empty() || !sandbox.is_rows_only()) return {};
  replay_time_ = {};
  if (checkpoints_.contains(moment_)) return {};
  WS_LET(sqlite::Database rows, sqlite::Database::open(":memory:"));
  WS_TRY(sandbox.world->database.copy_to(rows));
  WS_LET(const std::size_t bytes, size_of(rows));
  checkpoints_.keep(moment_,
                    {.rows = std::move(rows),
                     .bytes = bytes,
                     .clock = sandbox.clock,
                     .assumptions = sandbox.world->assumptions,
                     .built_in = sandbox.built_in,
                     .requests = sandbox.requests,
                     .state = changes_.hash("")});
  return {};
}

Result<std::unique_ptr<Replay::RestoredRequest>> Replay::reveal(const Event& event) {
  auto revealed = std::make_unique<RestoredRequest>();
  WS_LET(revealed->head, secrets_.reveal(event.head));
  WS_LET(revealed->body, secrets_.reveal(event.body));
  if (!http::is_plain_head(revealed->head)) {
    return fail(Failure::Kind::invalid, fmt::format("the head of request {} is damaged", event.n));
  }
  revealed->request = http::read_head(revealed->head);
  revealed->request.body = revealed->body;
  return revealed;
}

Result<void> Replay::play(const Event& event) {
  pinned_->at = Time{std::chrono::milliseconds(event.time)};
  switch (event.kind) {
    case Event::Kind::ready: static_cast<void>(application_->take_ready()); return {};
    case Event::Kind::refused:
      static_cast<void>(application_->refuse({.status = event.status, .code = event.code, .reason = event.body}));
      return {};
    case Event::Kind::request: {
      WS_LET(std::unique_ptr<RestoredRequest> revealed, reveal(event));
      WS_TRY(play_request(event, *revealed));
      if (revealed->ticket != 0) waiting_.insert_or_assign(event.n, std::move(revealed));
      return {};
    }
    case Event::Kind::resume:
    case Event::Kind::cancel: break;
  }
  const auto waiting = waiting_.find(event.n);
  if (waiting == waiting_.end()) return {};
  RestoredRequest& revealed = *waiting->second;
  WS_TRY(changes_.before(application_->sandbox_of(revealed.request)));
  if (event.kind == Event::Kind::cancel) {
    application_->cancel(revealed.ticket);
  } else {
    const auto may_wait = event.may_wait ? http::MayWait::yes : http::MayWait::no;
    const http::Response response = application_->resume(revealed.ticket, revealed.request, may_wait);
    if (event.n == moment_) played_.status = response.status();
    if (response.ticket()) return compare(event, application_->sandbox_of(revealed.request));
  }
  WS_TRY(compare(event, application_->sandbox_of(revealed.request)));
  waiting_.erase(event.n);
  return {};
}

Result<void> Replay::play_request(const Event& event, RestoredRequest& revealed) {
  http::Request& request = revealed.request;
  revealed.sink = application_->open_sink(request);
  if (revealed.sink) {
    if (revealed.sink->wants_more()) revealed.sink->take(revealed.body);
    request.sink = revealed.sink.get();
    request.body = {};
  }
  WS_TRY(changes_.before(application_->sandbox_of(request)));
  const http::Response response = application_->handle(request);
  if (response.ticket()) {
    revealed.ticket = *response.ticket();
  } else {
    const bool lost = response.wire_fault() && response.wire_fault()->end != http::WireFault::End::as_usual;
    played_.status = lost ? 0 : response.status();
  }
  return compare(event, application_->sandbox_of(request));
}

Result<void> Replay::compare(const Event& event, Sandbox& sandbox) {
  WS_LET(Changes::Found found, changes_.after(sandbox));
  if (played_.changes.is_null()) played_.changes = Json::array();
  if (found.rows.is_null()) {
    played_.changes->push_back({{"table", "*"}, {"before", nullptr}, {"after", nullptr}});
  } else {
    for (Json& row : *found.rows) played_.changes->push_back(std::move(row));
  }
  played_.state = found.hash;
  played_.recorded = event.state;
  if (found.hash != event.state && !first_difference_) first_difference_ = moment_;
  if (event.n != destination_ || event.head.find(" /_mock") != std::string::npos) return {};
  const Json newest = sandbox.journal.read({.limit = 1});
  if (!newest.at("data").empty()) played_.journal = newest.at("data").front();
  return {};
}

void Replay::resume_clock() {
  Sandbox& sandbox = application_->sandbox();
  const std::optional<Time> moment = std::exchange(pinned_->at, std::nullopt);
  const Time now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  if (moment && !sandbox.clock.is_frozen()) sandbox.clock.advance(*moment - now);
}

}  // namespace ws::mock::trace
