#include "cli/commands/merged_update.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands/composing.hpp"
#include "cli/commands/operation_commands.hpp"

namespace ws::cli {
namespace {

constexpr int most_rounds = 5;

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
  return {
      .kind = Failure::Kind::conflict,
      .what = fmt::format("the document was changed since revision {}, and that text is not known here to merge with",
                          change.base.revision),
      .hint = fmt::format("`ws docs get {} --content` shows the present text; take your change over to it",
                          change.document_id),
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
  if (!revision || !content) return fail(Failure::Kind::internal, "the server's answer holds no content");
  return SeenText{.revision = *revision, .content = std::move(*content)};
}

Result<UpdateEnd> update_merged(Session& session, Client& client, const TextChange& change) {
  TextChange now = change;
  UpdateEnd end;
  for (int round = 1;; ++round) {
    Result<Reply> sent = send_update(session, client, now);
    if (sent) {
      end.reply = std::move(*sent);
      return end;
    }
    if (sent.error().code != "revision_conflict" || round == most_rounds) return fail(sent.error());
    if (!now.base_is_known) return fail(unknown_base(now));
    WS_LET(SeenText theirs, read_document(client, now.document_id));
    if (theirs.revision == now.base.revision) return fail(sent.error());
    WS_LET(sync::merge::Merge merge, sync::merge::merge_markdown(now.base.content, now.content, theirs.content));
    if (!merge.is_clean()) {
      end.collision = std::move(merge);
      end.theirs = std::move(theirs);
      return end;
    }
    session.note(fmt::format("merged with revision {}, which was stored meanwhile", theirs.revision));
    now.content = merge.text();
    now.base = std::move(theirs);
    end.was_merged = true;
  }
}

}  // namespace ws::cli
