#include "server-mock/services/comments/comment_threads.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/services/shared/resources.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

#define WS_THREAD_QUERY                                                                                       \
  "select id, document_id, workspace_id, status, anchor, quote, quote_lost, created_by_kind, created_by_id, " \
  "change, created_at, last_activity_at, updated_at from comment_threads where "
#define WS_ENTRY_QUERY                                                                                          \
  "select id, thread_id, document_id, author_kind, author_id, actor_identity, body, mentions, agent_mentions, " \
  "entry_point, conversation_thread_id, source_event_id, created_at, updated_at from comment_entries where "

Json stored(std::string_view text) { return parse_bounded(text).value_or(Json(nullptr)); }

Thread read_thread(const sqlite::Statement& row) {
  return {.id = row.string(0),
          .document_id = row.string(1),
          .workspace_id = row.string(2),
          .status = row.string(3),
          .anchor = {.quote = row.string(5), .quote_lost = row.integer(6) != 0, .given = stored(row.text(4))},
          .created_by = {.kind = row.string(7), .id = row.string(8)},
          .change = row.integer(9),
          .created_at = row.integer(10),
          .last_activity_at = row.integer(11),
          .updated_at = row.integer(12)};
}

CommentEntry read_comment_entry(const sqlite::Statement& row) {
  return {.id = row.string(0),
          .thread_id = row.string(1),
          .document_id = row.string(2),
          .author = {.kind = row.string(3), .id = row.string(4)},
          .actor_identity = stored(row.text(5)),
          .body = row.string(6),
          .mentions = stored(row.text(7)),
          .agent_mentions = stored(row.text(8)),
          .entry_point = row.optional_string(9),
          .conversation_thread_id = row.string(10),
          .source_event_id = row.string(11),
          .created_at = row.integer(12),
          .updated_at = row.integer(13)};
}

Result<std::int64_t> next_change(World& world, std::string_view document_id) {
  return read_number(
      world, "select coalesce(max(change), 0) + 1 from comment_threads where document_id = ?", document_id);
}

/// The id if the author is of that kind, else null.
Json id_if(const Actor& actor, std::string_view kind) { return actor.kind == kind ? Json(actor.id) : Json(nullptr); }

}  // namespace

Result<std::optional<Thread>> find_thread(World& world, std::string_view document_id, std::string_view thread_id) {
  return read_row(world, read_thread, WS_THREAD_QUERY "id = ? and document_id = ?", thread_id, document_id);
}

Result<std::vector<Thread>> threads_on(World& world, std::string_view document_id) {
  return read_rows(world, read_thread, WS_THREAD_QUERY "document_id = ? order by sequence", document_id);
}

Result<std::vector<CommentEntry>> entries_in(World& world, std::string_view thread_id) {
  return read_rows(world, read_comment_entry, WS_ENTRY_QUERY "thread_id = ? order by sequence", thread_id);
}

Result<std::vector<CommentEntry>> entries_on(World& world, std::string_view document_id) {
  return read_rows(world, read_comment_entry, WS_ENTRY_QUERY "document_id = ? order by sequence", document_id);
}

Result<void> insert_thread(World& world, Thread& thread) {
  WS_LET(thread.change, next_change(world, thread.document_id));
  return put(world,
             "insert into comment_threads (id, document_id, workspace_id, status, anchor, quote, "
             "quote_lost, created_by_kind, created_by_id, change, created_at, last_activity_at, "
             "updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             thread.id,
             thread.document_id,
             thread.workspace_id,
             thread.status,
             dump(*thread.anchor.given),
             thread.anchor.quote,
             thread.anchor.quote_lost,
             thread.created_by.kind,
             thread.created_by.id,
             thread.change,
             thread.created_at,
             thread.last_activity_at,
             thread.updated_at);
}

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

Result<void> insert_entry(World& world, const CommentEntry& entry) {
  return put(world,
             "insert into comment_entries (id, thread_id, document_id, author_kind, author_id, "
             "actor_identity, body, mentions, agent_mentions, entry_point, conversation_thread_id, "
             "source_event_id, created_at, updated_at) "
             "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             entry.id,
             entry.thread_id,
             entry.document_id,
             entry.author.kind,
             entry.author.id,
             dump(*entry.actor_identity),
             entry.body,
             dump(*entry.mentions),
             dump(*entry.agent_mentions),
             entry.entry_point,
             entry.conversation_thread_id,
             entry.source_event_id,
             entry.created_at,
             entry.updated_at);
}

Json to_json(const CommentEntry& entry) {
  return {{"id", entry.id},
          {"thread_id", entry.thread_id},
          {"author_kind", entry.author.kind},
          {"author_agent_id", id_if(entry.author, "agent")},
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

Json to_json(const Thread& thread) {
  const bool needs_reanchor = thread.anchor.quote_lost || thread.status == "needs_reanchor";
  return {{"id", thread.id},
          {"page_id", thread.document_id},
          {"workspace_id", thread.workspace_id},
          {"status", thread.status},
          {"created_by_kind", thread.created_by.kind},
          {"created_by_user_id", id_if(thread.created_by, "user")},
          {"created_by_agent_id", id_if(thread.created_by, "agent")},
          {"created_at", rfc3339(thread.created_at)},
          {"last_activity_at", rfc3339(thread.last_activity_at)},
          {"updated_at", rfc3339(thread.updated_at)},
          {"anchor", to_json(thread.anchor, needs_reanchor)}};
}

}  // namespace ws::mock
