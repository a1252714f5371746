#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/comments/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {
namespace {

std::vector<Flag> text_flags() {
  return {
      {.name = "message",
       .letter = 'm',
       .takes = Takes::one,
       .placeholder = "TEXT",
       .help = "the comment; @handle mentions an agent or a person",
       .limits = "1-12000 characters",
       .fills = "body"},
      {.name = "file", .letter = 'f', .takes = Takes::one, .placeholder = "FILE|-", .help = "the same, from a file"}};
}

Result<void> add_text(Session& session, Json& body) {
  if (!body.is_object()) return {};
  if (session.has("message") && session.has("file")) return fail(Failure::Kind::usage, "give -m or -f, not both");
  if (const auto text = session.arguments().value("message")) body["body"] = *text;
  if (const auto file = session.arguments().value("file")) {
    WS_LET(std::string text, read_markdown(*file));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    body["body"] = std::move(text);
  }
  if (body.contains("body")) return {};
  return fail(Failure::Kind::usage, "-m TEXT or -f FILE is required");
}

/// `source_event_lease_token` is the one that a worker's command has in its environment, if it cites that event.
Result<void> add_source_event(Session& session, Json& body) {
  const Environment& environment = session.world().environment;
  if (!body.is_object() || !body.contains("source_event_id") || body.contains("source_event_lease_token")) return {};
  if (body["source_event_id"] != environment.get("WS_EVENT_ID").value_or("")) return {};
  if (const auto token = environment.text("WS_LEASE_TOKEN")) body["source_event_lease_token"] = *token;
  return {};
}

Command comment_command(std::string_view id) {
  const contract::Operation& operation = operation_of(id);
  Command command = operation_command(operation);
  std::vector<Flag> flags = text_flags();
  for (Flag& flag : command.flags) flags.push_back(std::move(flag));
  command.flags = std::move(flags);
  command.examples = {command.examples.front() + " -m 'Looks right to me'"};
  command.run = [&operation](Session& session) -> Result<ExitCode> {
    WS_LET(Call call, build_call(session, operation));
    WS_TRY(add_text(session, *call.body));
    WS_TRY(add_source_event(session, *call.body));
    return run_call(session, operation, std::move(call));
  };
  return command;
}

Command thread_status_command(std::string words, std::string summary, std::string_view status) {
  const contract::Operation& operation = operation_of("comments.set_status");
  Command command = operation_command(operation);
  command.words = std::move(words);
  command.summary = std::move(summary);
  command.flags = flags_without(command.flags, {"status"});
  command.examples = {"ws " + command.words +
                      " 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c"};
  command.run = [&operation, status](Session& session) -> Result<ExitCode> {
    WS_LET(Call call, build_call(session, operation));
    if (call.body->is_object() && !call.body->contains("status")) (*call.body)["status"] = status;
    return run_call(session, operation, std::move(call));
  };
  return command;
}

}  // namespace

Command comments_add_command() { return comment_command("comments.add"); }
Command comments_reply_command() { return comment_command("comments.reply"); }
Command comments_resolve_command() {
  return thread_status_command("comments resolve", "Mark a thread as resolved", "resolved");
}
Command comments_reopen_command() { return thread_status_command("comments reopen", "Open a thread again", "open"); }
Command comments_reanchor_command() {
  return thread_status_command("comments reanchor", "Mark a thread whose text no longer exists", "needs_reanchor");
}

}  // namespace ws::cli
