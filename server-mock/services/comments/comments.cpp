#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/comments/anchors.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/events/notify.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"
#include "server-mock/store/tree.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
namespace {

// Rows of comment threads and their entries, and both as JSON.
//
// Every change of a thread increments the document's change count (`watermark`).

struct Thread {
  std::string id = {};
  std::string document_id = {};
  std::string workspace_id = {};
  std::string status = "open";  ///< "resolved", "needs_reanchor"
  Anchor anchor = {};
  std::string created_by_kind = {};
  std::string created_by_id = {};
  std::int64_t change = 0;  ///< the document's change count at the thread's last change
  std::int64_t created_at = 0;
  std::int64_t last_activity_at = 0;
  std::int64_t updated_at = 0;
};

struct CommentEntry {
  std::string id = {};
  std::string thread_id = {};
  std::string document_id = {};
  std::string author_kind = {};
  std::string author_id = {};
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

#define WS_THREAD_COLUMNS                                                                                      \
  "id, document_id, workspace_id, status, quote, quote_lost, anchor, created_by_kind, created_by_id, change, " \
  "created_at, last_activity_at, updated_at"
#define WS_ENTRY_COLUMNS                                                                                 \
  "id, thread_id, document_id, author_kind, author_id, actor_identity, body, mentions, agent_mentions, " \
  "entry_point, conversation_thread_id, source_event_id, created_at, updated_at"

Result<std::int64_t> next_change(World& world, std::string_view document_id) {
  return read_number(
      world, "select coalesce(max(change), 0) + 1 from comment_threads where document_id = ?", document_id);
}

/// The id if the author is of that kind, else null.
Json id_if(std::string_view wanted, std::string_view kind, const std::string& id) {
  return kind == wanted ? Json(id) : Json(nullptr);
}

/// A thread of that document; empty if there is none.
Result<std::optional<Thread>> find_thread(World& world, std::string_view document_id, std::string_view thread_id) {
  return read_row(world,
                  read_as<Thread>,
                  "select " WS_THREAD_COLUMNS " from comment_threads where id = ? and document_id = ?",
                  thread_id,
                  document_id);
}

/// In order of creation.
Result<std::vector<Thread>> threads_on(World& world, std::string_view document_id) {
  return read_rows(world,
                   read_as<Thread>,
                   "select " WS_THREAD_COLUMNS " from comment_threads where document_id = ? order by sequence",
                   document_id);
}

/// Entries of one thread, or of all threads of a document; oldest first.
Result<std::vector<CommentEntry>> entries_in(World& world, std::string_view thread_id) {
  return read_rows(world,
                   read_as<CommentEntry>,
                   "select " WS_ENTRY_COLUMNS " from comment_entries where thread_id = ? order by sequence",
                   thread_id);
}

Result<std::vector<CommentEntry>> entries_on(World& world, std::string_view document_id) {
  return read_rows(world,
                   read_as<CommentEntry>,
                   "select " WS_ENTRY_COLUMNS " from comment_entries where document_id = ? order by sequence",
                   document_id);
}

/// Set `change`. Call these within a UnitOfWork.
Result<void> insert_thread(World& world, Thread& thread) {
  WS_LET(thread.change, next_change(world, thread.document_id));
  return put_row(world,
                 "insert into comment_threads (" WS_THREAD_COLUMNS ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 thread);
}

/// status and times
Result<void> save_thread(World& world, Thread& thread) {
  WS_LET(thread.change, next_change(world, thread.document_id));
  return put(world,
             "update comment_threads set status = ?, change = ?, last_activity_at = ?, "
             "updated_at = ? where id = ?",
             thread.status,
             thread.change,
             thread.last_activity_at,
             thread.updated_at,
             thread.id);
}

Json to_json(const CommentEntry& entry) {
  return {{"id", entry.id},
          {"thread_id", entry.thread_id},
          {"author_kind", entry.author_kind},
          {"author_agent_id", id_if("agent", entry.author_kind, entry.author_id)},
          {"actor_identity", *entry.actor_identity},
          {"body", entry.body},
          {"mentions", *entry.mentions},
          {"agent_mentions", *entry.agent_mentions},
          {"entry_point", entry.entry_point ? Json(*entry.entry_point) : Json(nullptr)},
          {"request_id", nullptr},
          {"run_id", nullptr},
          {"conversation_thread_id", text_or_null(entry.conversation_thread_id)},
          {"created_at", rfc3339(entry.created_at)},
          {"updated_at", rfc3339(entry.updated_at)}};
}

/// Without `entries`.
Json to_json(const Thread& thread) {
  // The status is what people decide, and threads are counted by it; the anchor's flag also tells that the text is gone
  // (API document, "States and transitions", 3).
  const bool needs_reanchor = thread.anchor.quote_lost || thread.status == "needs_reanchor";
  return {{"id", thread.id},
          {"page_id", thread.document_id},
          {"workspace_id", thread.workspace_id},
          {"status", thread.status},
          {"created_by_kind", thread.created_by_kind},
          {"created_by_user_id", id_if("user", thread.created_by_kind, thread.created_by_id)},
          {"created_by_agent_id", id_if("agent", thread.created_by_kind, thread.created_by_id)},
          {"created_at", rfc3339(thread.created_at)},
          {"last_activity_at", rfc3339(thread.last_activity_at)},
          {"updated_at", rfc3339(thread.updated_at)},
          {"anchor", to_json(thread.anchor, needs_reanchor)}};
}

/// The document of the call; 403 if the caller may not comment on it.
ApiResult<Document> commentable_document(World& world, const ServiceCall& call, WithContent content) {
  WS_API_LET(VisibleDocument seen, find_visible_document(world, call, id_of(call.parameters, "document_id"), content));
  WS_API_TRY(require_role(call, seen.role));
  if (seen.access < AccessLevel::comment) return forbidden("The document was shared with you, but not for comments");
  return std::move(seen.document);
}

ApiResult<Thread> thread_of(World& world, const ServiceCall& call, const Document& document) {
  WS_API_LET(std::optional<Thread> thread, find_thread(world, document.id, id_of(call.parameters, "thread_id")));
  if (!thread) return not_found("comment thread");
  return std::move(*thread);
}

Result<Json> identity_of(World& world, const Actor& actor) {
  std::optional<std::string> handle;
  if (actor.kind == "agent") {
    WS_LET(handle, read_row(world, read_text, "select handle from agents where id = ?", actor.id));
  }
  return Json{{"kind", actor.kind},
              {"id", actor.id},
              {"display_name", actor.name},
              {"handle", handle ? Json(*handle) : Json(nullptr)}};
}

/// The id of the conversation in which an agent keeps its context: that of the thread's last entry, unless the call
/// asks for a new one.
Result<std::string> conversation_of(World& world, const ServiceCall& call, std::string_view thread_id) {
  if (!find_bool(call.body, "start_new_chain").value_or(false)) {
    WS_LET(const std::vector<CommentEntry> entries, entries_in(world, thread_id));
    if (!entries.empty()) return entries.back().conversation_thread_id;
  }
  return world.ids.uuid("comment_conversation");
}

/// Adds an entry to the thread and queues events for agents.
Result<void> write_entry(World& world,
                         const ServiceCall& call,
                         const Document& document,
                         const Thread& thread,
                         const Actor& author,
                         std::string_view source_event_id) {
  const std::string_view body = text_of(call.body, "body");
  std::vector<Handle> mentions;
  if (body.find('@') != std::string_view::npos) {
    WS_LET(const std::vector<Handle> handles, handles_in(world, document.workspace_id));
    mentions = find_mentions(body, handles);
  }
  CommentEntry entry = {.id = world.ids.uuid("comment"),
                        .thread_id = thread.id,
                        .document_id = document.id,
                        .author_kind = author.kind,
                        .author_id = author.id,
                        .body = std::string(body),
                        .mentions = Json::array(),
                        .agent_mentions = Json::array(),
                        .entry_point = find_text(call.body, "entry_point"),
                        .source_event_id = std::string(source_event_id),
                        .created_at = world.now(),
                        .updated_at = world.now()};
  WS_LET(entry.actor_identity, identity_of(world, author));
  WS_LET(entry.conversation_thread_id, conversation_of(world, call, thread.id));
  for (const Handle& handle : mentions) {
    entry.mentions->push_back(handle.text);
    if (handle.agent_id.empty()) continue;
    entry.agent_mentions->push_back({{"agent_id", handle.agent_id}, {"handle", handle.text}});
  }
  WS_TRY(put_row(world,
                 "insert into comment_entries (" WS_ENTRY_COLUMNS ") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 entry));
  return notify_of_comment(world,
                           {.document = document,
                            .author = author,
                            .thread_id = thread.id,
                            .comment_id = entry.id,
                            .conversation_thread_id = entry.conversation_thread_id,
                            .body = body,
                            .mentions = mentions});
}

/// The thread with all its entries.
ApiResult<Answer> thread_answer(World& world, int status, const Thread& thread) {
  WS_API_LET(const std::vector<CommentEntry> entries, entries_in(world, thread.id));
  Json json = to_json(thread);
  json["entries"] = Json::array();
  for (const CommentEntry& entry : entries) json["entries"].push_back(to_json(entry));
  return Answer{.status = status, .body = std::move(json)};
}

std::int64_t count_of(const std::vector<Thread>& threads, std::string_view status) {
  return std::ranges::count(threads, status, &Thread::status);
}

Json listing(const Document& document, const std::vector<Thread>& threads, const std::vector<CommentEntry>& entries) {
  std::map<std::string_view, Json> by_thread;
  for (const CommentEntry& entry : entries) by_thread[entry.thread_id].push_back(to_json(entry));
  Json shown = Json::array();
  std::int64_t watermark = 0;
  std::int64_t latest = 0;
  for (const Thread& thread : threads) {
    Json json = to_json(thread);
    json["entries"] = std::move(by_thread[thread.id]);
    shown.push_back(std::move(json));
    watermark = std::max(watermark, thread.change);
    latest = std::max(latest, thread.last_activity_at);
  }
  return {{"page_id", document.id},
          {"workspace_id", document.workspace_id},
          {"threads", std::move(shown)},
          {"open_count", count_of(threads, "open")},
          {"resolved_count", count_of(threads, "resolved")},
          {"needs_reanchor_count", count_of(threads, "needs_reanchor")},
          {"thread_count", threads.size()},
          {"latest_activity_at", threads.empty() ? Json(nullptr) : Json(rfc3339(latest))},
          {"watermark", threads.empty() ? Json(nullptr) : Json(fmt::format("c{}", watermark))}};
}

ServiceResult list_comments(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleDocument seen,
             find_visible_document(world, call, id_of(call.parameters, "document_id"), WithContent::no));
  WS_API_LET(const std::vector<Thread> threads, threads_on(world, seen.document.id));
  WS_API_LET(const std::vector<CommentEntry> entries, entries_on(world, seen.document.id));
  return Answer{.body = listing(seen.document, threads, entries)};
}

ServiceResult add_comment(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Document document, commentable_document(world, call, WithContent::yes));
  WS_API_TRY(require_active(document));
  WS_API_LET(const Actor author, find_actor(world, call.caller));
  Thread thread = {.id = world.ids.uuid("comment_thread"),
                   .document_id = document.id,
                   .workspace_id = document.workspace_id,
                   .created_by_kind = author.kind,
                   .created_by_id = author.id,
                   .created_at = world.now(),
                   .last_activity_at = world.now(),
                   .updated_at = world.now()};
  WS_API_LET(thread.anchor, make_anchor(world, find(call.body, "selection"), document));
  if (thread.anchor.quote_lost) thread.status = "needs_reanchor";
  WS_API_TRY(insert_thread(world, thread));
  WS_API_TRY(write_entry(world, call, document, thread, author, {}));
  WS_API_TRY(work.commit());
  return thread_answer(world, 201, thread);
}

ServiceResult reply_to_comment(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Document document, commentable_document(world, call, WithContent::no));
  WS_API_LET(Thread thread, thread_of(world, call, document));
  WS_API_LET(const std::string event_id, cited_event(world, call));
  WS_API_TRY(require_active(document));
  WS_API_LET(const Actor author, find_actor(world, call.caller));
  thread.last_activity_at = world.now();
  thread.updated_at = world.now();
  WS_API_TRY(save_thread(world, thread));
  WS_API_TRY(write_entry(world, call, document, thread, author, event_id));
  WS_API_TRY(work.commit());
  return thread_answer(world, 201, thread);
}

ServiceResult set_comment_status(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const Document document, commentable_document(world, call, WithContent::no));
  WS_API_LET(Thread thread, thread_of(world, call, document));
  WS_API_TRY(require_active(document));
  std::string_view status = text_of(call.body, "status");
  if (status == "open" && thread.anchor.quote_lost) status = "needs_reanchor";
  if (status != thread.status) {
    thread.status = status;
    thread.last_activity_at = world.now();
    thread.updated_at = world.now();
    WS_API_TRY(save_thread(world, thread));
  }
  WS_API_TRY(work.commit());
  return thread_answer(world, 200, thread);
}

}  // namespace

ServiceTable comment_services() {
  static constexpr ServiceEntry entries[] = {
      {"comments.list", list_comments},
      {"comments.add", add_comment},
      {"comments.reply", reply_to_comment},
      {"comments.set_status", set_comment_status},
  };
  return entries;
}

}  // namespace ws::mock
