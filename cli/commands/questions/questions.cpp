// `ws ask` and `ws questions get`: asks, waits, and shows the answer with its sources.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/clean.hpp"
#include "api-client/base/files.hpp"
#include "api-client/base/sha256.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/commands/shared/waiting.hpp"
#include "cli/output/markdown_page.hpp"

namespace ws::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes longest_wait{10};  // for the answer, without --timeout

/// Words, `-` or `--file`; with both, the file's text follows the words.
Result<std::string> prompt_of(Session& session) {
  std::string prompt = fmt::format("{}", fmt::join(session.arguments().words, " "));
  if (prompt == "-") {
    WS_LET(prompt, read_markdown("-"));
  }
  if (const auto file = session.arguments().value("file")) {
    WS_LET(const std::string text, read_markdown(*file));
    prompt += (prompt.empty() ? "" : "\n\n") + text;
  }
  trim_end(prompt, "\r\n");
  return prompt;
}

/// The conversation that somebody with this key last asked in, from here.
Result<fs::path> conversation_note(Session& session) {
  WS_LET(const BaseUrl url, session.base_url());
  WS_LET(const Key key, session.key());
  const std::string who = url.text + "\n" + Sha256::of(key.credential.secret).hex();
  return session.paths().state / "conversations" / Sha256::of(who).hex().substr(0, 32);
}

void remember_conversation(Session& session, const Json& question) {
  const auto id = find_text(question, "conversation_id");
  const auto note = conversation_note(session);
  if (!id || !note || !make_folders(note->parent_path(), 0700)) return;
  static_cast<void>(write_file(*note, *id + "\n", 0600));  // a convenience: the answer matters more
}

/// From what was asked here, else the one of the service's list that was asked in last.
Result<std::string> last_conversation(Session& session) {
  WS_LET(const fs::path note, conversation_note(session));
  if (auto text = read_file(note, 4096)) return text->substr(0, text->find('\n'));
  WS_LET(Client * client, session.client());
  std::string last;
  std::string at;
  WS_TRY(client->each_item({.operation = "conversations.list", .parameters = {{"limit", "100"}}},
                           [&](const Json& one) -> Result<bool> {
                             const std::string asked = find_text(one, "last_question_at").value_or("");
                             if (last.empty() || asked > at) {
                               last = find_text(one, "id").value_or("");
                               at = asked;
                             }
                             return true;
                           }));
  if (!last.empty()) return last;
  return fail(Failure::Kind::not_found, "there is no conversation yet", "ask without --conversation");
}

Result<Call> ask_call(Session& session) {
  const contract::Operation& operation = operation_of("questions.create");
  const bool is_given = !session.arguments().words.empty() || session.has("file");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           if (is_given) {
             WS_LET(body["prompt"], prompt_of(session));
           }
           if (session.arguments().value("conversation") != "last") return {};
           WS_LET(body["conversation_id"], last_conversation(session));
           return {};
         }));
  Json& body = *call.body;
  if (!body.is_object()) return call;
  if (!body.contains("prompt") || (is_given && body["prompt"] == "")) {
    return fail(Failure::Kind::usage, "PROMPT is required", "ws ask 'What did we decide?', or `-` for stdin");
  }
  if (!body.contains("sources")) body["sources"] = {"workspace", "memory"};
  return call;
}

/// The answer itself, else the text of the first artifact that can be read.
Result<std::string> answer_of(Client& client, const Json& question) {
  if (const auto answer = find_text(question, "answer"); answer && !answer->empty()) return *answer;
  const Json* const artifacts = find(question, "artifacts");
  if (artifacts == nullptr || !artifacts->is_array()) return std::string();
  for (const Json& artifact : *artifacts) {
    const auto id = find_text(artifact, "document_id");
    if (!id) continue;
    WS_LET(const Reply document, client.call({.operation = "docs.get", .parameters = {{"document_id", *id}}}));
    if (const auto content = find_text(*document.json, "content")) return *content;
  }
  return std::string();
}

/// One line a source; a document is named once for each part of it that is cited.
std::vector<std::string> sources_of(const Json& question) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  };
  if (const Json* citations = find(question, "citations"); citations != nullptr && citations->is_array()) {
    for (const Json& citation : *citations) {
      const std::string path = fmt::format("{}", fmt::join(find_texts(citation, "heading_path"), " > "));
      if (const auto id = find_text(citation, "document_id")) add(*id + (path.empty() ? "" : "  " + path));
    }
  }
  if (!lines.empty()) return lines;
  for (std::string& id : find_texts(question, "source_document_ids")) add(std::move(id));
  return lines;
}

Result<void> print_answer(Session& session, Client& client, const Json& question) {
  WS_LET(std::string answer, answer_of(client, question));
  const bool terminal = session.terminal().is_terminal(Stream::out) && !session.has("output");
  if (terminal) answer = render_markdown(answer, session.terminal());
  if (answer.empty()) session.note("the question has no answer");
  if (!answer.empty() && answer.back() != '\n') answer += '\n';
  const std::vector<std::string> sources = sources_of(question);
  if (!sources.empty()) answer += "\n" + session.terminal().paint(Stream::out, Look::strong, "Sources") + "\n";
  for (const std::string& line : sources) answer += "  " + (terminal ? clean(line, Breaks::space) : line) + "\n";
  if (terminal) {
    session.printer().page(answer);
  } else {
    session.printer().raw(answer);
  }
  if (const auto id = find_text(question, "id"); id && session.has("verbose")) session.note("question " + *id);
  return {};
}

Call read_question(const std::string& id) {
  return {.operation = "questions.get", .parameters = {{"question_id", id}}};
}

/// The question is answered, and its text is elsewhere.
Failure without_text(Failure failure, const std::string& id) {
  failure.what = fmt::format("the question {} was answered, but its text cannot be read: {}", id, failure.what);
  failure.hint = ShellCommand{"ws", "questions", "get", id}.in_backticks() + " shows where it is; do not ask again";
  failure.call.applied = Applied::yes;
  failure.call.retryable = false;
  return failure;
}

Result<ExitCode> show(Session& session, Client& client, const Reply& reply, Phase phase) {
  if (const std::string note = unknown_end_of(*reply.json); !note.empty()) session.note(note);
  if (!is_for_people(session)) {
    print_reply(session, operation_of("questions.get"), reply);
  } else if (phase == Phase::failed) {
    session.note("the question ended with status " + find_text(*reply.json, "status").value_or("failed"));
  } else {
    auto printed = print_answer(session, client, *reply.json);
    const auto id = find_text(*reply.json, "id");
    if (!printed) return fail(id ? without_text(std::move(printed).error(), *id) : std::move(printed).error());
  }
  return exit_of(phase);
}

Result<ExitCode> ask(Session& session) {
  const contract::Operation& operation = operation_of("questions.create");
  WS_LET(Call call, ask_call(session));
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(Reply reply, client->call(std::move(call)));
  remember_conversation(session, *reply.json);
  const auto id = find_text(*reply.json, "id");
  const Phase phase = phase_of(*reply.json);
  if (session.has("no-wait")) {
    print_reply(session, operation, reply);
    return exit_of(phase);
  }
  if (phase != Phase::pending) return show(session, *client, reply, phase);
  if (!id) return fail(unusable_answer(operation.id, reply, "it has no id to look the question up by"));
  remember_answer(session, operation, *reply.json);
  const Accepted accepted{
      .noun = "question", .id = *id, .again = ShellCommand{"ws", "questions", "get", *id, "--wait"}};
  WS_LET(const Awaited ended, await_accepted(session, *client, read_question(*id), accepted, longest_wait));
  return show(session, *client, ended.reply, ended.phase);
}

Result<ExitCode> get(Session& session) {
  const contract::Operation& operation = operation_of("questions.get");
  if (!waits(session)) return run_on_ids(session, operation);
  if (session.arguments().words.size() != 1) return fail(Failure::Kind::usage, "--wait waits for one question");
  const std::string& id = session.arguments().words.front();
  Call call = read_question(id);
  WS_TRY(make_ready(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const Awaited ended, await_end(session, *client, call, ShellCommand{"ws", "questions", "get", id, "--wait"}));
  print_reply(session, operation, ended.reply);
  return exit_of(ended.phase);
}

}  // namespace

Command ask_command() {
  return operation_command(
      "questions.create",
      {.details =
           "Waits for the answer, at most 10 minutes or --timeout S, and shows it with its sources; --no-wait shows "
           "the question and ends. With --json or another format the question is printed as the service gives it.",
       .arguments = {{.placeholder = "PROMPT", .help = "the question, or - for stdin", .count = Count::any}},
       .flags = {{.name = "source",
                  .placeholder = "S",
                  .is_repeated = true,
                  .help = "where the answer may come from",
                  .limits = "workspace, memory",
                  .fallback = "workspace,memory",
                  .fills = "sources"},
                 {.name = "conversation",
                  .placeholder = "ID|last",
                  .help = "continue this conversation",
                  .names = Subject::thing,
                  .also = "conversation-id",
                  .fills = "conversation_id"},
                 {.name = "file",
                  .letter = 'f',
                  .placeholder = "FILE|-",
                  .help = "read the question, or text that follows it, from a file"},
                 {.name = "no-wait", .help = "end as soon as the question is accepted"}},
       .examples = {"ws ask 'What did we decide about the roof?'", "ws ask --conversation last 'And who pays?'"},
       .run = ask},
      {"prompt", "sources", "conversation"});
}

Command questions_get_command() {
  Command command = operation_command("questions.get", {.run = get});
  command.flags.push_back(wait_flag("wait until it is answered; with --timeout S no longer than that"));
  command.examples.push_back("ws questions get 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --wait --timeout 60");
  return command;
}

}  // namespace ws::cli
