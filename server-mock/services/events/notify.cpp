#include "server-mock/services/events/notify.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/visibility.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// Whether the agent is not revoked and may read the document.
Result<bool> can_be_notified(World& world, std::string_view agent_id, const Document& document) {
  WS_LET(const std::optional<std::string> owner,
         read_row(world,
                  read_text,
                  "select owner_user_id from agents where id = ? and workspace_id = ? and status <> 'revoked'",
                  agent_id,
                  document.workspace_id));
  if (!owner) return false;
  const Caller agent = {.owner_user_id = *owner,
                        .agent_id = std::string(agent_id),
                        .audience = Audience::workspace,
                        .workspace_id = document.workspace_id};
  WS_LET(const contract::Role role, member_role(world, document.workspace_id, *owner));
  WS_LET(const AccessLevel access, access_to(world, agent, role, document));
  return access != AccessLevel::none;
}

/// The agents that wrote in the thread, by first comment.
Result<std::vector<std::string>> agents_in(World& world, std::string_view thread_id) {
  return read_rows(world,
                   read_text,
                   "select author_id from comment_entries where thread_id = ? and author_kind = 'agent' "
                   "group by author_id order by min(sequence)",
                   thread_id);
}

Json links_of(const Document& document) {
  const std::string self = "/v1/documents/" + document.id;
  return {{"document", self}, {"comments", self + "/comments"}};
}

Json payload_of(const CommentNotice& news) {
  Json links = links_of(news.document);
  links["replies"] = fmt::format("/v1/documents/{}/comments/{}/replies", news.document.id, news.thread_id);
  return {{"body", news.body},
          {"author", to_json(news.author)},
          {"document_title", news.document.title},
          {"conversation_thread_id", news.conversation_thread_id},
          {"links", std::move(links)}};
}

}  // namespace

Result<void> notify_of_comment(World& world, const CommentNotice& news) {
  struct Notified {
    std::string agent_id = {};
    std::string_view kind = {};
  };
  std::vector<Notified> notified;
  const auto tell = [&](const std::string& agent_id, std::string_view kind) {
    const bool self = news.author.kind == "agent" && news.author.id == agent_id;
    if (agent_id.empty() || self || std::ranges::find(notified, agent_id, &Notified::agent_id) != notified.end())
      return;
    notified.push_back({agent_id, kind});
  };
  for (const Handle& handle : news.mentions) tell(handle.agent_id, "comment.mention");
  WS_LET(const std::vector<std::string> writers, agents_in(world, news.thread_id));
  for (const std::string& agent_id : writers) tell(agent_id, "comment.reply");
  if (notified.empty()) return {};

  const Json payload = payload_of(news);
  for (const Notified& agent : notified) {
    WS_LET(const bool hears, can_be_notified(world, agent.agent_id, news.document));
    if (!hears) continue;
    WS_TRY(queue_event(world,
                       {.kind = agent.kind,
                        .agent_id = agent.agent_id,
                        .document_id = news.document.id,
                        .thread_id = news.thread_id,
                        .comment_id = news.comment_id,
                        .payload = payload}));
  }
  return {};
}

Result<void> notify_of_share(World& world, const ShareNotice& news) {
  if (news.by.kind == "agent" && news.by.id == news.agent_id) return {};
  const Json payload = {{"permission", news.permission},
                        {"message", news.message},
                        {"shared_by", to_json(news.by)},
                        {"document_title", news.document.title},
                        {"links", links_of(news.document)}};
  WS_TRY(queue_event(
      world,
      {.kind = "document.shared", .agent_id = news.agent_id, .document_id = news.document.id, .payload = payload}));
  return {};
}

}  // namespace ws::mock
