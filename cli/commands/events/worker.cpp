#include "cli/commands/events/worker.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "api-client/base/files.hpp"
#include "api-client/base/utf8.hpp"
#include "cli/output/members.hpp"

namespace ws::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds tick{20};
constexpr milliseconds idle_tick{200};
constexpr milliseconds first_backoff{1'000};
constexpr milliseconds longest_backoff{60'000};
/// The least pause between two renewals, for services that grant very short leases.
constexpr milliseconds shortest_renewal{200};
/// How long a command may take to end by itself when the worker stops; then to end on SIGTERM.
constexpr milliseconds grace{10'000};
constexpr milliseconds last_grace{2'000};
constexpr std::size_t max_error_characters = 4000;  // API document, "Limits"
// More does not fit into one request of the API (16 MiB with its escapes).
constexpr std::size_t max_output_bytes = std::size_t{8} << 20U;
constexpr std::size_t error_tail_bytes = std::size_t{64} << 10U;

/// At most `most` bytes, from the front or from the end.
enum class Part { front, end };
std::string text_of(int file, std::size_t most, Part part) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  std::string text(std::min(size, most), '\0');
  std::size_t got = 0;
  const std::size_t begin = part == Part::end ? size - text.size() : 0;
  while (got < text.size()) {
    const ssize_t count = read_some_at(file, text.data() + got, text.size() - got, static_cast<off_t>(begin + got));
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

/// U+FFFD for each byte that is none of UTF-8: JSON cannot carry it.
std::string valid_utf8(std::string_view text) {
  if (utf8::is_valid(text)) return std::string(text);
  std::string valid;
  utf8::for_each(text, [&valid](char32_t code_point) { utf8::append(valid, code_point); });
  return valid;
}

/// The end of a text: trimmed, valid UTF-8, at most so many characters.
std::string tail_of(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  std::string valid = valid_utf8(text);
  std::size_t count = 0;
  std::size_t begin = valid.size();
  while (begin > 0 && count < max_error_characters) {
    --begin;
    if ((static_cast<unsigned char>(valid[begin]) & 0xC0U) != 0x80U) ++count;
  }
  return valid.substr(begin);
}

Json result_of(const ChildEnd& end) {
  auto json = parse_bounded(end.out);
  if (json && json->is_object() && check_numbers(*json, Numbers::of_64_bits)) return std::move(*json);
  return Json{{"output", valid_utf8(end.out)}};
}

/// An empty queue says nothing where an earlier send of the claim failed: that one may have leased the event.
Failure claim_in_doubt() {
  return {.kind = Failure::Kind::unknown_outcome,
          .what = "no event is waiting, but an earlier attempt to claim one got no answer and may have claimed it",
          .hint = "run it again later: the event returns to the queue when its lease expires"};
}

Failure lease_expired() {
  return {.kind = Failure::Kind::conflict,
          .what = "its lease expired",
          .hint = "the event returns to the queue",
          .code = "lease_lost"};
}

/// Errors that a repeat of the same call cannot cure.
bool is_final(const Failure& failure) {
  using Kind = Failure::Kind;
  return failure.kind == Kind::auth || failure.kind == Kind::forbidden || failure.kind == Kind::usage ||
         failure.kind == Kind::invalid || failure.kind == Kind::not_found;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::string& input,
                                         const std::vector<std::pair<std::string, std::string>>& environment) {
  WS_LET(const Descriptor in, open_nameless_file());
  WS_LET(Descriptor out, open_nameless_file());
  WS_LET(Descriptor err, open_nameless_file());
  if (!write_all(in.get(), input) || ::lseek(in.get(), 0, SEEK_SET) != 0) {
    return fail(Failure::Kind::disk, "cannot write a temporary file");
  }
  // No other file: locks and connections of ours are among them.
  WS_LET(const Process process,
         Process::start(command,
                        {.in = in.get(),
                         .out = out.get(),
                         .err = err.get(),
                         .environment = environment,
                         .own_group = true,
                         .streams_only = true}));
  return ChildProcess(process, std::move(out), std::move(err));
}

ChildProcess::~ChildProcess() {
  // A moved-from object owns no files.
  if (has_ended_ || !out_) return;
  kill();
  process_.wait();
}

std::optional<ChildEnd> ChildProcess::poll() {
  const auto exit = process_.poll();
  if (!exit) return std::nullopt;
  has_ended_ = true;
  return ChildEnd{.exit = *exit,
                  .out = text_of(out_.get(), max_output_bytes + 1, Part::front),
                  .err = text_of(err_.get(), error_tail_bytes, Part::end)};
}

void ChildProcess::ask_to_end() const {
  if (!has_ended_) process_.signal(SIGTERM);
}

void ChildProcess::kill() const {
  if (!has_ended_) process_.signal(SIGKILL);
}

std::string_view name(WorkDone::Outcome outcome) {
  switch (outcome) {
    case WorkDone::Outcome::completed: return "completed";
    case WorkDone::Outcome::failed: return "failed";
    case WorkDone::Outcome::handed_back: return "handed_back";
    case WorkDone::Outcome::lost: return "lost";
  }
  return "lost";
}

EventWorker::EventWorker(Client& client, WorkerOptions options, Callbacks callbacks)
    : client_(client), options_(std::move(options)), callbacks_(std::move(callbacks)) {}

std::optional<EventWorker::Claiming> EventWorker::next_claim(Steady::time_point now) const {
  if (stopping_since_ || ended_by_ || now < claim_at_) return std::nullopt;
  const std::size_t under_way = takes_ + (waits_ ? 1 : 0);
  if (options_.once && (has_claimed_ || under_way > 0)) return std::nullopt;
  if (jobs_.size() + under_way >= options_.jobs) return std::nullopt;
  if (!waits_) return Claiming::waits;
  return under_way < claims_at_once_ && now >= take_at_ ? std::optional(Claiming::takes) : std::nullopt;
}

Result<void> EventWorker::run() {
  while (true) {
    const auto now = Steady::now();
    if (!stopping_since_ && callbacks_.must_stop()) stop(now);
    while (const auto how = next_claim(now)) claim(*how, now);
    client_.run(jobs_.empty() && is_claiming() ? idle_tick : tick);
    for (const auto& job : jobs_) look_after(*job, Steady::now());
    std::erase_if(jobs_, [](const auto& job) { return job->is_over && !job->is_renewing; });
    if (!jobs_.empty()) continue;
    // Wait a moment for claims in flight: their answers may hold events that must be handed back, or worked on.
    if (ended_by_ && !ending_since_) ending_since_ = Steady::now();
    const auto since = stopping_since_ ? stopping_since_ : ending_since_;
    const bool is_over = !is_claiming() || (since && Steady::now() > *since + idle_tick);
    if (stopping_since_ && is_over) return {};
    if (ended_by_ && is_over) return fail(*ended_by_);
    if (options_.once && has_claimed_ && !is_claiming()) return {};
  }
}

void EventWorker::claim(Claiming how, Steady::time_point now) {
  const bool waits = how == Claiming::waits;
  if (waits) {
    waits_ = true;
  } else {
    ++takes_;
  }
  client_.start_afresh();
  Call call{.operation = "events.claim",
            .body = Json{{"worker_id", options_.worker_id},
                         {"lease_seconds", options_.lease.count()},
                         {"wait_seconds", waits ? options_.wait.count() : 0}},
            .validate = false};
  client_.start(std::move(call), [this, how, now](Result<Reply> reply) { on_claim(how, now, std::move(reply)); });
}

void EventWorker::on_claim(Claiming how, Steady::time_point sent_at, Result<Reply> reply) {
  if (how == Claiming::waits) {
    waits_ = false;
  } else {
    --takes_;
  }
  if (!reply) {
    const Failure& failure = reply.error();
    if (is_final(failure) || options_.once) {
      ended_by_ = failure;
      return;
    }
    return back_off(failure, sent_at);
  }
  auto claim = read_claim(*reply->json);
  if (!claim && has_event(*reply->json)) {
    if (!options_.once) return back_off(unusable_claim(), sent_at);
    ended_by_ = unusable_claim();
    return;
  }
  if (!claim && options_.once && reply->sends > 1) {
    ended_by_ = claim_in_doubt();
    return;
  }
  backoff_ = milliseconds{0};
  if (!claim) return found_none(how, *reply);
  claims_at_once_ = std::min(claims_at_once_ + 1, options_.jobs);
  begin(std::move(*claim), granted_lease(*reply, options_.lease, SystemClock().now()));
}

void EventWorker::found_none(Claiming how, const Reply& reply) {
  claims_at_once_ = 1;
  // The longer of the two: claiming too early costs a lease slot.
  const auto header = http::find_header(reply.headers, "Retry-After");
  const auto asked = header ? http::parse_retry_after(*header, {}) : std::nullopt;
  // One that took nothing leaves the one that waits its turn: an event that comes is begun at once.
  (how == Claiming::waits ? claim_at_ : take_at_) =
      Steady::now() + std::max(pause_after_none(*reply.json), asked.value_or(milliseconds{0}));
  has_claimed_ = has_claimed_ || options_.once;
}

void EventWorker::back_off(const Failure& failure, Steady::time_point sent_at) {
  claims_at_once_ = 1;
  if (sent_at < backed_off_at_) return;
  backed_off_at_ = Steady::now();
  backoff_ = std::clamp(backoff_ * 2, first_backoff, longest_backoff);
  const milliseconds pause = std::max(backoff_, failure.call.retry_after.value_or(milliseconds{0}));
  claim_at_ = Steady::now() + pause;
  callbacks_.note(fmt::format("{}; asking again in {} s", failure.what, pause.count() / 1000));
}

void EventWorker::set_lease(Job& job, milliseconds length) {
  const auto now = Steady::now();
  job.lease_ends = now + length;
  // When half is left, so that never more than one and a half leases lie ahead: what is left when the worker is stopped
  // is how long the event waits.
  const milliseconds half = std::chrono::duration_cast<milliseconds>(options_.lease) / 2;
  job.renew_at = now + std::max(length - std::min(half, length / 2), shortest_renewal);
}

void EventWorker::begin(Claim claim, milliseconds lease) {
  has_claimed_ = true;
  if (const auto lapsed = lapsed_.find(claim.event_id); lapsed != lapsed_.end() && claim.attempt > lapsed->second) {
    callbacks_.note(fmt::format(
        "the service counts an expired lease as an attempt: event {} is at attempt {}", claim.event_id, claim.attempt));
  }
  auto job = std::make_unique<Job>(Job{.claim = std::move(claim)});
  set_lease(*job, lease);
  auto environment = options_.environment;
  environment.emplace_back("WS_EVENT_ID", job->claim.event_id);
  environment.emplace_back("WS_LEASE_TOKEN", job->claim.lease_token);
  jobs_.push_back(std::move(job));
  Job& held = *jobs_.back();
  WorkDone back{.event_id = held.claim.event_id, .kind = held.claim.kind, .outcome = WorkDone::Outcome::handed_back};
  if (stopping_since_) return leave(held, std::move(back));
  if (const auto checked = check_numbers(*held.claim.event, Numbers::of_64_bits); !checked) {
    // The command would work on another event; nor would a repeat read this one as it came.
    has_failed_ = true;
    back.outcome = WorkDone::Outcome::failed;
    back.error = checked.error().what;
    return give_up(held, std::move(back), false);
  }
  auto child = ChildProcess::start(options_.command, dump(*held.claim.event) + "\n", environment);
  if (child) {
    held.child.emplace(std::move(*child));
    return;
  }
  back.error = child.error().what;
  give_up(held, std::move(back), true);
}

void EventWorker::look_after(Job& job, Steady::time_point now) {
  if (job.is_over || job.is_closing) return;
  if (job.child) {
    if (auto end = job.child->poll()) {
      job.child.reset();
      return finish(job, std::move(*end));
    }
    const bool is_late = stopping_since_ && (now > *stopping_since_ + grace || callbacks_.must_hurry());
    if (is_late && !job.asked_to_end_at) {
      job.asked_to_end_at = now;
      job.child->ask_to_end();
    } else if (is_late && now > *job.asked_to_end_at + last_grace) {
      job.child->kill();
    }
  }
  if (job.is_lost) return;
  if (now >= job.lease_ends) return lose(job, lease_expired());
  if (!job.is_renewing && now >= job.renew_at) renew(job);
}

Call EventWorker::lease_call(const Job& job, std::string_view operation, Json body) const {
  body["lease_token"] = job.claim.lease_token;
  const auto left = std::chrono::duration_cast<milliseconds>(job.lease_ends - Steady::now());
  return {.operation = operation,
          .parameters = {{"event_id", job.claim.event_id}},
          .body = std::move(body),
          .lease_left = std::max(left, milliseconds{0}),
          .validate = false};
}

void EventWorker::renew(Job& job) {
  job.is_renewing = true;
  client_.start(lease_call(job, "events.renew", {{"lease_seconds", options_.lease.count()}}),
                [this, &job](Result<Reply> reply) { on_renewed(job, std::move(reply)); });
}

void EventWorker::on_renewed(Job& job, Result<Reply> reply) {
  job.is_renewing = false;
  if (job.is_closing || job.is_over) return;
  const auto now = Steady::now();
  if (reply) {
    const auto left = std::max(std::chrono::duration_cast<milliseconds>(job.lease_ends - now), milliseconds{0});
    return set_lease(job, granted_lease(*reply, options_.lease, SystemClock().now(), left));
  }
  using Kind = Failure::Kind;
  const Kind kind = reply.error().kind;
  const bool is_gone = kind == Kind::conflict || kind == Kind::not_found || kind == Kind::forbidden ||
                       kind == Kind::auth || now >= job.lease_ends;
  if (is_gone) return lose(job, reply.error());
  job.renew_at = now + first_backoff;
}

void EventWorker::lose(Job& job, Failure why) {
  if (std::exchange(job.is_lost, true)) return;
  callbacks_.note(fmt::format("the lease of event {} was lost: {}", job.claim.event_id, why.what));
  if (options_.once) ended_by_ = std::move(why);  // nothing comes after it: its failure is that of the command
  lapsed_[job.claim.event_id] = job.claim.attempt;
  if (job.child) {
    job.asked_to_end_at = Steady::now();
    job.child->ask_to_end();
  } else {
    job.is_over = !job.is_closing;
  }
}

void EventWorker::finish(Job& job, ChildEnd end) {
  WorkDone done{.event_id = job.claim.event_id, .kind = job.claim.kind, .exit = end.exit};
  if (!end.err.empty()) callbacks_.note(fmt::format("{}: {}", job.claim.event_id, tail_of(end.err)));
  if (job.is_lost) {
    done.outcome = WorkDone::Outcome::lost;
    callbacks_.done(done);
    job.is_over = true;
    return;
  }
  if (end.exit == 0 && end.out.size() > max_output_bytes) {
    done.outcome = WorkDone::Outcome::failed;
    done.error =
        fmt::format("the command printed more than the {} MiB that a result can hold", max_output_bytes >> 20U);
    has_failed_ = true;
    return give_up(job, std::move(done), false);
  }
  if (end.exit == 0) return complete(job, end);
  const bool is_final_exit = options_.no_retry_exits.contains(end.exit);
  if (stopping_since_ && !is_final_exit) return leave(job, std::move(done));
  done.outcome = WorkDone::Outcome::failed;
  done.error = tail_of(end.err);
  if (done.error.empty()) done.error = fmt::format("exit status {}", end.exit);
  has_failed_ = true;
  const int attempt = job.claim.attempt > 0 ? job.claim.attempt : ++attempts_[job.claim.event_id];
  give_up(job, std::move(done), attempt < options_.max_attempts && !is_final_exit);
}

void EventWorker::leave(Job& job, WorkDone done) {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(job.lease_ends - Steady::now());
  done.outcome = WorkDone::Outcome::handed_back;
  done.error = fmt::format("the worker was stopped; the event returns to the queue when its lease expires, in {} s",
                           std::max<std::int64_t>(left.count(), 0));
  job.is_over = true;
  callbacks_.done(done);
}

void EventWorker::complete(Job& job, const ChildEnd& end) {
  if (!utf8::is_valid(end.out)) {
    callbacks_.note(
        fmt::format("note: what the command printed for event {} is not UTF-8; its result has U+FFFD for "
                    "each byte that is not",
                    job.claim.event_id));
  }
  close(job,
        "events.complete",
        {{"result", result_of(end)}},
        {.event_id = job.claim.event_id, .kind = job.claim.kind, .outcome = WorkDone::Outcome::completed});
}

void EventWorker::give_up(Job& job, WorkDone done, bool retryable) {
  Json body = {{"error", done.error}, {"retryable", retryable}};
  close(job, "events.fail", std::move(body), std::move(done));
}

void EventWorker::close(Job& job, std::string_view operation, Json body, WorkDone done) {
  job.is_closing = true;
  client_.start(lease_call(job, operation, std::move(body)),
                [this, &job, operation, done](Result<Reply> reply) mutable {
                  job.is_over = true;
                  const bool was_refused = !reply && reply.error().kind == Failure::Kind::invalid;
                  if (was_refused && operation == "events.complete") {
                    // The service refuses the result itself; a repeat would fail again.
                    job.is_over = false;
                    done.outcome = WorkDone::Outcome::failed;
                    done.error = tail_of("the result was refused: " + reply.error().what);
                    has_failed_ = true;
                    return give_up(job, std::move(done), false);
                  }
                  if (!reply) {
                    done.outcome = WorkDone::Outcome::lost;
                    if (options_.once) {
                      ended_by_ = reply.error();  // nothing comes after it: its failure is that of the command
                    } else {
                      callbacks_.note(fmt::format("event {}: {}", done.event_id, reply.error().what));
                    }
                  }
                  callbacks_.done(done);
                });
}

void EventWorker::stop(Steady::time_point now) {
  stopping_since_ = now;
  if (!jobs_.empty())
    callbacks_.note(fmt::format(
        "stopping; {} under way: up to {} s to end; once more ends them now", jobs_.size(), grace.count() / 1000));
}

}  // namespace ws::cli
