#include "cli/commands/docs/merged_update.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/composing.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

constexpr int max_rounds = 5;

Result<Reply> send_update(Session& session, Client& client, const TextChange& change) {
  const contract::Operation& operation = operation_of("docs.update");
  Call call{.operation = operation.id};
  call.parameters.emplace_back("document_id", change.document_id);
  Json body{{"content", change.content}, {"expected_content_revision", change.base.revision}};
  if (change.title) body["title"] = *change.title;
  call.body = JsonBox(std::move(body));
  WS_TRY(check_call(session, operation, call));
  return client.call(std::move(call));
}

Failure unknown_base(const TextChange& change) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format(
              "the document was changed since revision {}, and that revision's text is not saved here to merge with",
              change.base.revision),
          .hint = ShellCommand{"ws", "docs", "get", change.document_id, "--content"}.in_backticks() +
                  " shows the current text; apply your change to it",
          .code = "revision_conflict"};
}

Failure still_moving(const TextChange& change) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("the document was changed again after each of 5 tries; revision {} is not the latest",
                              change.base.revision),
          .hint = "run the same command again",
          .code = "revision_conflict"};
}

}  // namespace

Result<SeenTexts> seen_texts(Session& session) {
  WS_LET(const BaseUrl url, session.base_url());
  return SeenTexts(session.paths().cache, url.text);
}

void keep_seen(const SeenTexts& seen, const Json& document) {
  const auto id = find_text(document, "id");
  const auto revision = find_integer(document, "content_revision");
  auto content = find_text(document, "content");
  if (id && revision && content) seen.keep(*id, {.revision = *revision, .content = std::move(*content)});
}

Result<SeenText> read_document(Client& client, const std::string& document_id) {
  Call call{.operation = "docs.get"};
  call.parameters.emplace_back("document_id", document_id);
  WS_LET(const Reply reply, client.call(std::move(call)));
  const auto revision = find_integer(*reply.json, "content_revision");
  auto content = find_text(*reply.json, "content");
  if (!revision || !content) return fail(Failure::Kind::internal, "the server's answer has no content");
  return SeenText{.revision = *revision, .content = std::move(*content)};
}

Result<UpdateEnd> update_once(Session& session, Client& client, const TextChange& change) {
  UpdateEnd end{.sent = change};
  Result<Reply> sent = send_update(session, client, change);
  if (sent) {
    end.reply = std::move(*sent);
    return end;
  }
  if (sent.error().code != "revision_conflict") return fail(sent.error());
  if (!change.base_is_known) return fail(unknown_base(change));
  WS_LET(end.theirs, read_document(client, change.document_id));
  if (end.theirs.revision == change.base.revision) return fail(sent.error());
  WS_LET(end.collision, sync::merge::merge_markdown(change.base.content, change.content, end.theirs.content));
  return end;
}

Result<UpdateEnd> update_merged(Session& session, Client& client, const TextChange& change) {
  TextChange now = change;
  bool was_merged = false;
  for (int round = 1;; ++round) {
    WS_LET(UpdateEnd end, update_once(session, client, now));
    end.was_merged = was_merged;
    if (end.reply || !end.collision.is_clean()) return end;
    if (round == max_rounds) return fail(still_moving(now));
    session.note(fmt::format("merged with revision {}, which was stored meanwhile", end.theirs.revision));
    now.content = end.collision.text();
    now.base = std::move(end.theirs);
    was_merged = true;
  }
}

}  // namespace ws::cli
