#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"

namespace ws::cli {
namespace {

std::vector<Flag> text_flags() {
  return {{.name = "message",
           .letter = 'm',
           .placeholder = "TEXT",
           .help = "the comment; @handle mentions an agent or a person",
           .limits = "1-12000 characters",
           .fills = "body"},
          {.name = "file", .letter = 'f', .placeholder = "FILE|-", .help = "read the comment from a file"}};
}

Result<void> add_text_of_file(const Session& session, Json& body) {
  if (session.has("message") && session.has("file")) return fail(Failure::Kind::usage, "give -m or -f, not both");
  if (const auto file = session.arguments().value("file")) {
    WS_LET(std::string text, read_markdown(*file));
    trim_end(text, "\n");
    body["body"] = std::move(text);
  }
  return {};
}

/// `source_event_lease_token` is the one that a worker's command has in its environment, if it cites that event.
Result<void> add_source_event(Session& session, Json& body) {
  const Environment& environment = session.world().environment;
  if (!body.is_object() || !body.contains("source_event_id") || body.contains("source_event_lease_token")) return {};
  if (body["source_event_id"] != environment.get("WS_EVENT_ID").value_or("")) return {};
  if (const auto token = environment.text("WS_LEASE_TOKEN")) body["source_event_lease_token"] = *token;
  return {};
}

/// "keeper" of "@keeper, look": words that somebody wrote as a mention. Code and addresses have no blank before the @.
std::vector<std::string> written_mentions(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  std::vector<std::string> handles;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    if (at > 0 && std::string_view(" \t\r\n(").find(text[at - 1]) == std::string_view::npos) continue;
    std::string_view handle = text.substr(at + 1);
    handle = handle.substr(0, handle.find_first_not_of(letters));
    while (!handle.empty() && (handle.back() == '.' || handle.back() == '-')) handle.remove_suffix(1);
    if (!handle.empty()) handles.emplace_back(handle);
  }
  return handles;
}

/// A misspelt handle mentions nobody, and nothing else would tell: the answer lists whom the service took for
/// mentioned.
void note_unknown_mentions(Session& session, std::string_view text, const Json& thread) {
  const Json* const entries = find(thread, "entries");
  if (entries == nullptr || !entries->is_array()) return;
  std::vector<std::string> known;
  bool is_told = false;
  for (const Json& entry : *entries) {
    const Json* const mentions = find(entry, "mentions");
    if (mentions == nullptr || !mentions->is_array()) continue;
    is_told = true;
    for (const Json& one : *mentions) {
      if (one.is_string()) known.push_back(to_lower(one.get_ref<const std::string&>()));
    }
  }
  for (const std::string& handle : written_mentions(text)) {
    const bool is_known = !is_told || std::ranges::find(known, to_lower(handle)) != known.end();
    if (is_known) continue;
    session.note("note: no agent or person has the handle @" + handle + ", so nobody is notified; " +
                 ShellCommand{"ws", "agents", "list"}.in_backticks() + " shows the agents");
  }
}

Result<ExitCode> send_comment(Session& session, const contract::Operation& operation, Call call) {
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  const std::string text = find_text(*call.body, "body").value_or("");
  WS_LET(const Reply reply, client->call(std::move(call)));
  print_reply(session, operation, reply);
  note_unknown_mentions(session, text, *reply.json);
  return ExitCode::done;
}

Command comment_command(std::string_view id) {
  const contract::Operation& operation = operation_of(id);
  Command command =
      operation_command(id, {.flags = text_flags(), .run = [&operation](Session& session) -> Result<ExitCode> {
                               const auto fill = [&](Json& body) { return add_text_of_file(session, body); };
                               WS_LET(Call call, build_call(session, operation, fill));
                               if (call.body->is_object() && !call.body->contains("body")) {
                                 return fail(Failure::Kind::usage, "-m TEXT or -f FILE is required");
                               }
                               WS_TRY(add_source_event(session, *call.body));
                               return send_comment(session, operation, std::move(call));
                             }});
  command.examples.front() += " -m 'Looks right to me'";
  return command;
}

Command thread_status_command(const std::string& words, std::string summary, std::string_view status) {
  const contract::Operation& operation = operation_of("comments.set_status");
  return operation_command(
      operation.id,
      {.words = words,
       .summary = std::move(summary),
       .examples = {"ws " + words + " 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0c"},
       .run = [&operation, status](Session& session) -> Result<ExitCode> {
         WS_LET(Call call, build_call(session, operation));
         if (call.body->is_object() && !call.body->contains("status")) (*call.body)["status"] = status;
         return run_call(session, operation, std::move(call));
       }},
      {"status"});
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
