/// Rows of comment threads and their entries, and both as JSON.
///
/// Every change of a thread increments the document's change count (`watermark`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/comments/anchors.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Thread {
  std::string id = {};
  std::string document_id = {};
  std::string workspace_id = {};
  std::string status = "open";  ///< "resolved", "needs_reanchor"
  Anchor anchor = {};
  Actor created_by = {};
  std::int64_t change = 0;  ///< the document's change count at the thread's last change
  std::int64_t created_at = 0;
  std::int64_t last_activity_at = 0;
  std::int64_t updated_at = 0;
};

struct CommentEntry {
  std::string id = {};
  std::string thread_id = {};
  std::string document_id = {};
  Actor author = {};
  JsonBox actor_identity = {};
  std::string body = {};
  JsonBox mentions = {};        ///< handles
  JsonBox agent_mentions = {};  ///< `{agent_id, handle}`
  std::optional<std::string> entry_point = {};
  std::string conversation_thread_id = {};
  std::string source_event_id = {};
  std::int64_t created_at = 0;
  std::int64_t updated_at = 0;
};

/// A thread of that document; empty if there is none.
Result<std::optional<Thread>> find_thread(World& world, std::string_view document_id, std::string_view thread_id);
/// In order of creation.
Result<std::vector<Thread>> threads_on(World& world, std::string_view document_id);
/// Entries of one thread, or of all threads of a document; oldest first.
Result<std::vector<CommentEntry>> entries_in(World& world, std::string_view thread_id);
Result<std::vector<CommentEntry>> entries_on(World& world, std::string_view document_id);

/// Set `change`. Call these within a UnitOfWork.
Result<void> insert_thread(World& world, Thread& thread);
Result<void> save_thread(World& world, Thread& thread);  ///< status and times
Result<void> insert_entry(World& world, const CommentEntry& entry);

Json to_json(const CommentEntry& entry);
/// Without `entries`.
Json to_json(const Thread& thread);

}  // namespace ws::mock
