// `ws events claim`, `renew`, `complete` and `fail`. The lease token is saved between them.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/base/uuid.hpp"
#include "cli/commands/events/lease.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/output/human.hpp"
#include "sync-engine/model/file_name.hpp"

namespace ws::cli {
namespace {

struct HeldEvent {
  std::string event_id = {};
  std::string lease_token = {};
  Time lease_ends_at = {};
};

/// Events that `ws events claim` leased and that are still open: `$XDG_STATE_HOME/ws/events/ID.json`, mode 0600.
///
/// The files contain the lease token, a secret needed by renew, complete and fail that cannot be given as a flag.
class HeldEvents {
 public:
  /// `state_folder` is `$XDG_STATE_HOME/ws`.
  explicit HeldEvents(const std::filesystem::path& state_folder) : folder_(state_folder / "events") {}

  /// Fails with `disk`; with `internal` if the event's id is not a UUID.
  Result<void> save(const HeldEvent& event) const;
  /// Empty if the event was not claimed on this machine.
  std::optional<HeldEvent> find(std::string_view event_id) const;
  void forget(std::string_view event_id) const;

 private:
  std::filesystem::path file_of(std::string_view event_id) const {
    return folder_ / sync::file_name(sync::NamedBy::id, event_id, ".json");
  }

  std::filesystem::path folder_;
};

Result<void> HeldEvents::save(const HeldEvent& event) const {
  // The id was chosen by the server and is used as a file name.
  if (!is_uuid(event.event_id)) return fail(Failure::Kind::internal, "the event id of the service is not a UUID");
  WS_TRY(make_folders(folder_, 0700));
  const Json value = {{"v", 1},
                      {"event_id", event.event_id},
                      {"lease_token", event.lease_token},
                      {"lease_ends_at", to_rfc3339(event.lease_ends_at)}};
  return write_file(file_of(event.event_id), dump(value) + "\n", 0600);
}

std::optional<HeldEvent> HeldEvents::find(std::string_view event_id) const {
  if (!is_uuid(event_id)) return std::nullopt;
  const auto text = read_file(file_of(event_id), 4096);
  if (!text) return std::nullopt;
  const auto value = parse_bounded(*text);
  if (!value) return std::nullopt;
  HeldEvent event{.event_id = std::string(event_id), .lease_token = find_text(*value, "lease_token").value_or("")};
  const auto end = parse_rfc3339(find_text(*value, "lease_ends_at").value_or(""));
  if (end) event.lease_ends_at = *end;
  if (event.lease_token.empty()) return std::nullopt;
  return event;
}

void HeldEvents::forget(std::string_view event_id) const {
  std::error_code ignored;
  if (is_uuid(event_id)) std::filesystem::remove(file_of(event_id), ignored);
}

Result<ExitCode> claim(Session& session) {
  const contract::Operation& operation = operation_of("events.claim");
  WS_LET(Call call, build_call(session, operation));
  if (call.body->is_object() && !call.body->contains("worker_id")) (*call.body)["worker_id"] = usual_worker_id();
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  const auto lease = lease_length(*call.body);
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call(std::move(call)));
  const Time now = session.world().clock.now();
  std::string held_event;
  if (const auto claimed = read_claim(*reply.json)) {
    held_event = claimed->event_id;
    const HeldEvent held{.event_id = claimed->event_id,
                         .lease_token = claimed->lease_token,
                         .lease_ends_at = now + granted_lease(reply, lease, now)};
    if (auto kept = HeldEvents(session.paths().state).save(held); !kept) session.note("note: " + kept.error().what);
  } else if (has_event(*reply.json)) {
    session.note(unusable_claim().what);
  } else if (is_for_people(session)) {
    const auto seconds = find_integer(*reply.json, "retry_after_seconds");
    session.note(seconds ? fmt::format("no event is waiting; ask again in {} s", *seconds) : "no event is waiting");
    const bool is_whole = !session.printer().is_shaped() && session.printer().fields().empty();
    if (session.format() == Format::table && is_whole) return ExitCode::done;
  }
  const auto printed = print_reply(session, operation, reply);
  if (session.format() == Format::table && !held_event.empty()) {
    const std::string shown = ws::cli::short_id(held_event);
    session.note(fmt::format("when it is done: {}; to give it up: {}; its lease token is kept here",
                             ShellCommand{"ws", "events", "complete", shown, "--result", "JSON"}.in_backticks(),
                             ShellCommand{"ws", "events", "fail", shown, "--error", "TEXT"}.in_backticks()));
  }
  return printed;
}

/// The token from flag, environment or the claim that was made from here.
Result<void> add_lease(Session& session, Call& call, const std::optional<HeldEvent>& held) {
  if (!call.body->is_object() || call.body->contains("lease_token")) return {};
  WS_LET(std::string token, secret_of(session, "lease-token", "WS_LEASE_TOKEN"));
  if (token.empty() && held) token = held->lease_token;
  if (token.empty()) {
    return fail(Failure::Kind::usage,
                "the lease token of the event is not known here",
                "give it as --lease-token @FILE, or in WS_LEASE_TOKEN");
  }
  (*call.body)["lease_token"] = std::move(token);
  return {};
}

/// Renew, complete, fail: the rest is the operation's own.
Result<ExitCode> run_on_lease(Session& session, const contract::Operation& operation) {
  WS_LET(Call call, build_call(session, operation));
  const HeldEvents events(session.paths().state);
  const std::string& id = session.arguments().words.front();
  std::optional<HeldEvent> held = events.find(id);
  WS_TRY(add_lease(session, call, held));
  WS_TRY(make_ready(session, operation, call));
  const Time now = session.world().clock.now();
  if (held && held->lease_ends_at > now) call.lease_left = held->lease_ends_at - now;
  if (session.has("dry-run")) return print_request(session, call);
  const auto lease = lease_length(*call.body);
  session.printer().know("event", id);
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call(std::move(call)));
  if (operation.id != "events.renew") {
    events.forget(id);
  } else if (held) {
    const Time renewed = session.world().clock.now();
    const auto left = std::max(held->lease_ends_at - renewed, std::chrono::milliseconds{0});
    held->lease_ends_at = renewed + granted_lease(reply, lease, renewed, left);
    static_cast<void>(events.save(*held));
  }
  return print_reply(session, operation, reply);
}

Command lease_command(std::string_view id) {
  return operation_command(
      id,
      {.details = "The lease token of an event that was claimed on this machine is remembered; else --lease-token or "
                  "WS_LEASE_TOKEN names it.",
       .run = [&operation = operation_of(id)](Session& session) { return run_on_lease(session, operation); }});
}

}  // namespace

Command events_claim_command() {
  return operation_command("events.claim",
                           {.details = "Without an event the exit code is 0 and `event` is null.",
                            .flags = {worker_flags().begin(), worker_flags().end()},
                            .examples = {"ws events claim --wait-seconds 30 --json"},
                            .run = claim},
                           {"worker"});
}

Command events_renew_command() { return lease_command("events.renew"); }

Command events_complete_command() {
  Command command = lease_command("events.complete");
  command.examples = {"ws events complete 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --result '{\"done\": true}'"};
  return command;
}

Command events_fail_command() {
  Command command = lease_command("events.fail");
  command.examples = {"ws events fail 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --error 'no such page' --retryable false"};
  return command;
}

}  // namespace ws::cli
