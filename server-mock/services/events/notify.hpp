/// Creates agent events for mentions, replies, shares and pings.
///
/// An agent gets no event about a document that it may not read, nor about its own actions. (If it may not read it any
/// more when it claims the event, `events.cpp` leaves out the payload.) Call these functions within
/// a UnitOfWork.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

// Finds mentions in comments: `@handle`.
//
// An agent has its own handle; a person's is the local part of the email address. Parts of longer words
// (`mara@example.com`, `@scout/package`, `@scout-2` if there is only `scout`) and text in code are no mentions.

struct Handle {
  std::string text = {};
  std::string agent_id = {};  ///< empty: a person's

  bool operator==(const Handle&) const = default;
};

/// The handles of a Workspace: its agents that are not revoked, then its people.
Result<std::vector<Handle>> handles_in(World& world, std::string_view workspace_id);

/// Those of `handles` that `body` mentions, without duplicates, in order of the text. ASCII letters are compared
/// without case. If two handles match, the longer wins; of equal ones the first.
std::vector<Handle> find_mentions(std::string_view body, std::span<const Handle> handles);

/// A new comment.
struct CommentNotice {
  const Document& document;
  const Actor& author;
  std::string_view thread_id = {};
  std::string_view comment_id = {};
  std::string_view conversation_thread_id = {};
  std::string_view body = {};
  std::span<const Handle> mentions = {};
};
/// Queues one event for each agent: `comment.mention` if mentioned, else `comment.reply` if it wrote in the thread.
Result<void> notify_of_comment(World& world, const CommentNotice& news);

/// Queues `document.shared` for the agent with which a document was shared.
struct ShareNotice {
  const Document& document;
  const Actor& by;
  std::string_view agent_id = {};
  std::string_view permission = {};
  std::string_view message = {};
};
Result<void> notify_of_share(World& world, const ShareNotice& news);

}  // namespace ws::mock
