/// What makes agent events: mentions, replies where an agent wrote, shares, and a ping by hand.
///
/// An agent hears of nothing that it may not read: a mention on a document that it does not see makes no event. Nobody
/// is told of what they did themselves. Callers hold a UnitOfWork.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/events/mentions.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A comment that was just written.
struct CommentNews {
  const Document& document;
  const Actor& author;
  std::string_view thread_id = {};
  std::string_view comment_id = {};
  std::string_view conversation_thread_id = {};
  std::string_view body = {};
  std::span<const Handle> mentions = {};
};
/// One event an agent: `comment.mention` for those mentioned, `comment.reply` for others who wrote in the thread.
Result<void> notify_of_comment(World& world, const CommentNews& news);

/// A `document.shared` for the agent with which somebody shared a document.
struct ShareNews {
  const Document& document;
  const Actor& by;
  std::string_view agent_id = {};
  std::string_view permission = {};
  std::string_view message = {};
};
Result<void> notify_of_share(World& world, const ShareNews& news);

/// An `agent.ping` with any payload (an object); returns the event's id. Fails with `not_found`.
Result<std::string> ping_agent(World& world, std::string_view agent_id, const Json& payload);

}  // namespace ws::mock
