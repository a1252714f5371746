#include "cli/commands/shared/waiting.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/login/device_login.hpp"
#include "cli/terminal/progress.hpp"

namespace ws::cli {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds first_pause{250};
constexpr milliseconds longest_pause{2'000};

constexpr std::string_view good_ends[] = {
    "completed", "complete", "succeeded", "success", "passed", "done", "finished"};
constexpr std::string_view beginnings[] = {
    "pending", "queued", "waiting", "scheduled", "accepted", "started", "running", "processing", "in_progress"};
constexpr std::string_view bad_ends[] = {
    "failed", "cancelled", "canceled", "error", "errored", "aborted", "rejected", "timed_out", "expired"};

bool holds(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::uint64_t seconds_since(Steady::time_point began) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(Steady::now() - began).count());
}

bool has_result(const Json& value) {
  if (const auto answer = find_text(value, "answer"); answer && !answer->empty()) return true;
  const Json* const artifacts = find(value, "artifacts");
  return artifacts != nullptr && artifacts->is_array() && !artifacts->empty();
}

std::string status_of(const Json& value) {
  const std::string status = find_text(value, "status").value_or("pending");
  const std::string phase = find_text(value, "phase").value_or("");
  return phase.empty() || phase == status ? status : status + " (" + phase + ")";
}

void note_status(Session& session, const Json& value, const std::string& shown) {
  if (session.has("verbose")) session.note(shown);
  const auto status = find_text(value, "status");
  if (!status || holds(beginnings, *status)) return;
  session.note("note: the status `" + *status + "` is unknown, so the wait continues; --timeout S limits it");
}

}  // namespace

Phase phase_of_status(std::string_view status) {
  if (holds(good_ends, status)) return Phase::done;
  return holds(bad_ends, status) ? Phase::failed : Phase::pending;
}

Phase phase_of(const Json& value) {
  const auto status = find_text(value, "status");
  if (status && phase_of_status(*status) != Phase::pending) return phase_of_status(*status);
  // What is there of a result while the work still runs is not the last word.
  if (status && holds(beginnings, *status)) return Phase::pending;
  return has_result(value) ? Phase::done : Phase::pending;
}

std::string unknown_end_of(const Json& value) {
  const auto status = find_text(value, "status");
  if (!status || phase_of_status(*status) != Phase::pending || phase_of(value) != Phase::done) return {};
  return "note: the status `" + *status + "` is unknown; the question has an answer, so it is taken as answered";
}

Failure after_acceptance(Failure failure, const Accepted& accepted) {
  failure.what =
      fmt::format("the {} {} was accepted, but its outcome is not known: {}", accepted.noun, accepted.id, failure.what);
  failure.hint = "continue with " + accepted.again.in_backticks() + "; do not send it again";
  failure.call.applied = Applied::yes;
  failure.call.retryable = false;
  return failure;
}

bool waits(const Session& session) { return session.has("wait"); }

Flag wait_flag(std::string help) { return {.name = "wait", .help = std::move(help)}; }

Result<Awaited> await_accepted(
    Session& session, Client& client, const Call& read, const Accepted& accepted, std::optional<milliseconds> longest) {
  auto ended = await_end(session, client, read, accepted.again, longest);
  if (!ended) return fail(after_acceptance(std::move(ended).error(), accepted));
  return ended;
}

Result<Awaited> await_end(Session& session,
                          Client& client,
                          const Call& read,
                          const ShellCommand& again,
                          std::optional<milliseconds> longest) {
  WS_LET(const ProgressStyle style, parse_progress(session.arguments().value("progress"), session.terminal()));
  ProgressLine progress(session.terminal(), session.has("quiet") ? ProgressStyle::none : style);
  const auto began = Steady::now();
  std::optional<Steady::time_point> deadline;
  if (longest) deadline = began + *longest;
  if (session.has("timeout")) deadline = began + client.options().timeout;
  std::string shown;
  milliseconds wait = first_pause;
  while (true) {
    WS_LET(Reply reply, client.call(read));
    const Phase phase = phase_of(*reply.json);
    if (phase != Phase::pending) return Awaited{std::move(reply), phase};
    const std::string status = status_of(*reply.json);
    progress.update(status, seconds_since(began), 0, Counted::seconds);
    if (std::exchange(shown, status) != status) note_status(session, *reply.json, status);
    if (deadline && Steady::now() + wait > *deadline) {
      return fail(Failure{.kind = Failure::Kind::pending,
                          .what = fmt::format("still {} after {} s", status, seconds_since(began)),
                          .hint = "continue with " + again.in_backticks(),
                          .code = "still_pending",
                          .call = {.operation = std::string(read.operation), .retryable = true}});
    }
    WS_TRY(make_sleeper(&session.world().cancelled)(wait));
    wait = std::min(wait * 3 / 2, longest_pause);
  }
}

ExitCode exit_of(Phase phase) { return phase == Phase::failed ? ExitCode::partial : ExitCode::done; }

}  // namespace ws::cli
