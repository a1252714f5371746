// `ws docs`: create, get, update, archive and share documents.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/clean.hpp"
#include "api-client/base/markdown.hpp"
#include "api-client/base/shell_command.hpp"
#include "api-client/contract/operations.hpp"
#include "cli/commands/docs/merged_update.hpp"
#include "cli/commands/shared/batch.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/names.hpp"
#include "cli/commands/shared/operation_commands.hpp"
#include "cli/commands/shared/paging.hpp"
#include "cli/commands/shared/values.hpp"
#include "cli/output/markdown_page.hpp"

namespace ws::cli {
namespace {

const Flag file_flag = {
    .name = "file", .letter = 'f', .placeholder = "FILE|-", .help = "the Markdown, UTF-8", .limits = "at most 1 MiB"};

/// No TITLE: the first H1, else the file's stem (`cli.md`).
Result<std::string> title_of(const std::string& file, const std::string& content) {
  if (file.empty()) return fail(Failure::Kind::usage, "TITLE is required", "ws docs create TITLE [-f FILE|-]");
  if (file == "-")
    return fail(Failure::Kind::usage, "TITLE is required with a text from stdin", "ws docs create TITLE -f -");
  if (auto heading = markdown::first_heading(content); heading && !heading->empty()) return *heading;
  return std::filesystem::path(file).stem().string();
}

Result<ExitCode> create_document(Session& session) {
  const contract::Operation& operation = operation_of("docs.create");
  const std::string file = session.arguments().value("file").value_or("");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           if (!file.empty()) {
             WS_LET(body["content"], read_markdown(file));
           }
           if (!session.arguments().words.empty()) body["title"] = session.arguments().words.front();
           return {};
         }));
  Json& body = *call.body;
  if (!body.is_object()) return run_call(session, operation, std::move(call));
  if (!body.contains("content")) body["content"] = "";
  if (!body.contains("title")) {
    WS_LET(body["title"], title_of(file, find_text(body, "content").value_or("")));
  }
  return run_call(session, operation, std::move(call));
}

Result<void> check_folder(const std::string& output) {
  std::error_code ignored;
  if (!std::filesystem::exists(output, ignored) || std::filesystem::is_directory(output, ignored)) return {};
  return fail(Failure::Kind::usage,
              "several documents need a folder, but " + output + " is not one",
              "give another name with -o, or --format json for one file");
}

Result<ExitCode> get_document(Session& session) {
  const contract::Operation& operation = operation_of("docs.get");
  if (fills_folder(session)) {
    if (session.has("render")) return fail(Failure::Kind::usage, "--render shows one document and fills no folder");
    WS_TRY(check_folder(session.arguments().value("output").value_or("")));
    WS_LET(const Batch batch, batch_of(session, operation));
    return session.has("dry-run") ? print_requests(session, batch) : get_into_folder(session, batch);
  }
  if (!session.has("content") && !session.has("render")) return run_on_ids(session, operation);
  if (session.has("content") && session.has("render")) {
    return fail(Failure::Kind::usage, "give --content or --render, not both");
  }
  if (session.arguments().words.size() != 1 || session.has("stdin")) {
    return fail(Failure::Kind::usage, "--content and --render show one document");
  }
  WS_LET(Call call, build_call(session, operation));
  WS_TRY(check_call(session, operation, call));
  if (session.has("dry-run")) return print_request(session, call);
  WS_LET(Client * client, session.client());
  WS_LET(const Reply reply, client->call(std::move(call)));
  const auto content = find_text(*reply.json, "content");
  if (!content) return fail(Failure::Kind::internal, "the answer of the service is not usable: it has no content");
  remember_answer(session, operation, *reply.json);
  const std::string output = session.arguments().value("output").value_or("-");
  const bool shown = session.terminal().is_terminal(Stream::out) && output == "-";
  if (const auto seen = seen_texts(session)) {
    session.after_output([seen = *seen, reply, output, is_looked_at = shown || session.has("render")] {
      const SeenTexts::Place place = SeenTexts::place_of(output, STDOUT_FILENO);
      // A pipe may lead to a file, or to somebody who looks at it.
      const auto as = is_looked_at    ? SeenTexts::As::seen
                      : place.empty() ? SeenTexts::As::first_base
                                      : SeenTexts::As::base;
      keep_seen(seen, *reply.json, as, place);
    });
  }
  if (session.has("render")) {
    session.printer().page(render_markdown(*content, session.terminal()));
    return ExitCode::done;
  }
  session.printer().raw(shown ? clean(*content, Breaks::keep) : *content);
  return ExitCode::done;
}

/// The change, which lies at `place`, with the text that it was made from: the revision that was named, else the base.
Result<TextChange> change_of(Session& session, const Json& body, const SeenTexts::Place& place) {
  TextChange change{.document_id = session.arguments().words.front(), .title = find_text(body, "title")};
  const auto content = find_text(body, "content");
  if (!content) return fail(Failure::Kind::usage, "--merge needs a text to merge", "give -f FILE|-");
  change.content = *content;
  WS_LET(const SeenTexts seen, seen_texts(session));
  const auto revision = find_integer(body, "expected_content_revision");
  auto base =
      revision ? seen.find(change.document_id, *revision) : seen.base(change.document_id, place, change.content);
  if (base) {
    change.base = std::move(*base);
  } else if (revision) {
    change.base.revision = *revision;
    change.base_is_known = false;
  } else {
    return fail(Failure::Kind::usage,
                "--merge needs the text that the change was made from, and `ws` has written none of this document to "
                "this file yet",
                "start with " +
                    ShellCommand{"ws", "docs", "get", change.document_id, "--content", ">", "FILE"}.in_backticks() +
                    ", or give --revision N");
  }
  return change;
}

Failure collision_of(const TextChange& change, const UpdateEnd& end) {
  const auto places =
      std::ranges::count(end.collision.pieces, sync::merge::Piece::Kind::conflict, &sync::merge::Piece::kind);
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("revision {} changes the same lines in {} place{}; nothing was stored",
                              end.theirs.revision,
                              places,
                              places == 1 ? "" : "s"),
          .hint = ShellCommand{"ws", "docs", "edit", change.document_id}.in_backticks() +
                  " shows both in an editor; or apply your change by hand",
          .code = "revision_conflict"};
}

Result<ExitCode> update_with_merge(Session& session, const Json& body) {
  const SeenTexts::Place place = SeenTexts::place_of(session.arguments().value("file").value_or("-"), STDIN_FILENO);
  WS_LET(TextChange change, change_of(session, body, place));
  WS_TRY(check_named_members(session, operation_of("docs.update")));
  if (session.has("dry-run")) {
    Call call{.operation = "docs.update", .body = JsonBox(body)};
    call.parameters.emplace_back("document_id", change.document_id);
    (*call.body)["expected_content_revision"] = change.base.revision;
    return print_request(session, call);
  }
  WS_LET(Client * client, session.client());
  WS_LET(const SeenTexts seen, seen_texts(session));
  const std::string& id = change.document_id;
  if (const auto sent = seen.sent(id, place)) {
    WS_LET(auto stored, find_stored(*client, id, *sent));
    seen.forget_sent(id, place);
    if (stored) change.base = std::move(*stored);
    change.base_is_known = change.base_is_known || stored;
  }
  // What was merged on the way is not what the file was made from.
  change.before_sending = [&, text = change.content](std::string_view sent) {
    if (sent == text) seen.keep_sent(id, place, sent);
    return Result<void>();
  };
  WS_LET(const UpdateEnd end, update_walked(session, *client, change));
  if (end.keeps_theirs) {
    session.note("kept their text; nothing was stored");
    return ExitCode::done;
  }
  if (!end.reply) return fail(collision_of(change, end));
  seen.forget_sent(id, place);
  const bool is_whole = end.sent.content == change.content;
  keep_seen(seen, *end.reply->json, is_whole ? SeenTexts::As::base : SeenTexts::As::seen, place);
  return print_reply(session, operation_of("docs.update"), *end.reply);
}

Result<ExitCode> update(Session& session) {
  const contract::Operation& operation = operation_of("docs.update");
  WS_LET(Call call, build_call(session, operation, [&](Json& filled) -> Result<void> {
           if (const auto file = session.arguments().value("file")) {
             WS_LET(filled["content"], read_markdown(*file));
           }
           return {};
         }));
  Json& body = *call.body;
  if (!body.is_object()) return run_call(session, operation, std::move(call));
  if (session.has("merge")) return update_with_merge(session, body);
  if (!body.contains("expected_content_revision")) {
    const std::string& id = session.arguments().words.front();
    return fail(Failure::Kind::usage,
                "--revision is required: the content revision that the change was made from",
                ShellCommand{"ws", "docs", "get", id, "--fields", "content_revision"}.in_backticks() +
                    " shows the current one");
  }
  if (!body.contains("content") && !body.contains("title")) {
    return fail(Failure::Kind::usage, "nothing to change", "give -f FILE|-, or --title TEXT");
  }
  return run_call(session, operation, std::move(call));
}

/// The first few, and how many more there are.
std::string first_of(const std::vector<std::string>& ids) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ids.size()); ++i) text += (i == 0 ? "" : ", ") + ids[i];
  return ids.size() > most ? text + " and " + std::to_string(ids.size() - most) + " more" : text;
}

/// The API brings nothing back: what a synced folder of this user keeps is the only way.
void note_way_back(Session& session, const std::map<std::string, SyncedFile>& files) {
  constexpr std::size_t most = 3;
  std::map<std::filesystem::path, std::vector<std::string>> by_folder;
  for (const auto& [id, file] : files) by_folder[file.folder].push_back(file.path);
  for (const auto& [folder, paths] : by_folder) {
    ShellCommand back{"ws", "-C", folder.string(), "sync"};
    if (paths.size() > most) {
      back.add({"undo"});
    } else {
      back.add({"restore"});
      for (const std::string& path : paths) back.path(path);
    }
    session.note("to undo it, after the next sync of " + folder.string() + ": " + back.in_backticks() +
                 ", then sync again; it returns as a new document");
  }
}

Result<ExitCode> archive(Session& session) {
  const contract::Operation& operation = operation_of("docs.archive");
  WS_LET(Batch batch, batch_of(session, operation));
  const std::vector<std::string>& ids = batch.ids;
  if (session.has("dry-run")) return print_requests(session, batch);
  if (ids.size() > 1) {
    WS_LET(const bool yes,
           session.confirm("archive " + std::to_string(ids.size()) + " documents: " + first_of(ids) + "?",
                           {operation.id}));
    if (!yes) return fail(Failure::Kind::usage, "not confirmed; nothing was archived");
  }
  WS_LET(Client * client, session.client());
  const std::map<std::string, SyncedFile> files = synced_files(session, ids);
  WS_LET(const ExitCode exit, run_batch(session, *client, operation, std::move(batch)));
  note_way_back(session, files);
  return exit;
}

Result<ExitCode> share(Session& session) {
  const contract::Operation& operation = operation_of("docs.share");
  WS_LET(Call call, build_call(session, operation, [&](Json& body) -> Result<void> {
           const auto with = session.arguments().value("with");
           const bool is_handle = with && with->starts_with('@');
           if (with && !with->empty()) body[is_handle ? "agent_handle" : "email"] = is_handle ? with->substr(1) : *with;
           return {};
         }));
  if (call.body->is_object() && !call.body->contains("email") && !call.body->contains("agent_handle")) {
    return fail(Failure::Kind::usage, "--with is required: an email address, or the @HANDLE of an agent");
  }
  const std::string handle = "@" + find_text(*call.body, "agent_handle").value_or("");
  session.printer().know("grantee", find_text(*call.body, "email").value_or(handle));
  session.printer().know("permission", find_text(*call.body, "permission").value_or(""));
  return run_call(session, operation, std::move(call));
}

}  // namespace

Command docs_create_command() {
  return operation_command(
      "docs.create",
      {.details = "Without TITLE it is the first level-1 heading of the file, else the file's name without its ending.",
       .arguments = {{.placeholder = "TITLE", .help = "1-300 characters", .count = Count::optional}},
       .flags = {file_flag},
       .examples = {"ws docs create -f notes.md", "git log -5 | ws docs create 'What changed' -f -"},
       .run = create_document},
      {"content"});
}

Command docs_get_command() {
  Command command = operation_command("docs.get",
                                      {.details = "Several documents, or those of --stdin, with -o DIR become a file "
                                                  "each in the folder DIR, as `ws docs export` makes them.",
                                       .fills_folder = true,
                                       .run = get_document});
  command.flags.push_back({.name = "content", .help = "the Markdown alone, byte for byte"});
  command.flags.push_back({.name = "render", .help = "the Markdown as a page for a person"});
  command.examples.push_back("ws docs get 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --content > notes.md");
  command.examples.push_back("ws docs list --all --format ids | ws docs get --stdin -o notes");
  return command;
}

Command docs_update_command() {
  return operation_command(
      "docs.update",
      {.details = "It replaces the text only if nobody changed the document since the revision that you name. With "
                  "--merge the changes that others made since are kept. If both changed the same lines, you choose on "
                  "a terminal; without one it ends with 7 and nothing is stored.",
       .flags = {file_flag,
                 {.name = "revision",
                  .placeholder = "N",
                  .help = "the content revision that the change was made from; required without --merge",
                  .limits = "at least 1",
                  .fills = "expected_content_revision"},
                 {.name = "merge",
                  .help = "merge with what others changed since you read it with `ws docs get --content`"}},
       .examples = {"ws docs update 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b -f notes.md --revision 3",
                    "ws docs update 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b -f notes.md --revision 3 --merge"},
       .run = update},
      {"content", "expected-content-revision"});
}

Command docs_archive_command() {
  return operation_command("docs.archive",
                           {.details = "Asks first if there is more than one; --yes confirms.", .run = archive});
}

Command docs_share_command() {
  Command command = operation_command(
      "docs.share",
      {.flags = {{.name = "with", .placeholder = "EMAIL|@HANDLE", .help = "the person or the agent to share it with"}},
       .examples = {"ws docs share 018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b --with jonas@example.com --permission edit"},
       .run = share},
      {"email", "agent-handle"});
  command.arguments.front().count = Count::one;
  return command;
}

}  // namespace ws::cli
