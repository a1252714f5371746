#include "server-mock/store/schema.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

// Times are milliseconds since 1970. An empty `parent_id`, `project_id` or `agent_id` means none: unlike null, '' can
// be indexed and compared. Roles, kinds and states are the API's words.
constexpr const char* people_and_keys = R"sql(
create table users (
  id text primary key, email text not null unique collate nocase, display_name text not null, created_at integer not null
) without rowid;
create table workspaces (
  id text primary key, name text not null, created_at integer not null, updated_at integer not null
) without rowid;
create table members (
  workspace_id text not null, user_id text not null, role text not null, created_at integer not null,
  primary key (workspace_id, user_id)
) without rowid;
create index members_by_user on members (user_id, workspace_id);
create table agents (
  id text primary key, workspace_id text not null, owner_user_id text not null, handle text not null collate nocase,
  display_name text not null, avatar_url text, provider text not null default 'custom',
  status text not null default 'active', permissions text not null, last_seen_at integer,
  created_at integer not null, updated_at integer not null,
  unique (workspace_id, handle)
) without rowid;
create table keys (
  id text primary key, secret_sha256 text not null unique, owner_user_id text not null,
  agent_id text not null default '', audience text not null, workspace_id text not null default '',
  scopes text not null, created_at integer not null, expires_at integer, revoked_at integer,
  display_prefix text not null
);
create table device_authorizations (
  id text primary key, device_code_sha256 text not null unique, user_code text not null unique,
  client_name text not null, cli_version text not null, scopes text not null, interval_s integer not null,
  created_at integer not null, expires_at integer not null, last_poll_at integer, polls integer not null default 0,
  status text not null default 'pending', user_id text not null default '', workspace_id text not null default ''
);
create table idempotency_records (
  owner text not null, key text not null, fingerprint text not null, status integer not null, body text not null,
  headers text not null default '', created_at integer not null,
  primary key (owner, key)
);
create index idempotency_by_age on idempotency_records (created_at);
create table meta (key text primary key, value text not null) without rowid;
create table id_counters (kind text primary key, next integer not null) without rowid;
)sql";

constexpr const char* tree_and_documents = R"sql(
create table nodes (
  id text primary key, workspace_id text not null, kind text not null, parent_id text not null default '',
  project_id text not null default '', position integer not null, title text not null,
  archived integer not null default 0, created_by_user_id text not null, created_by_agent_id text not null default '',
  created_at integer not null, updated_at integer not null
) without rowid;
create index nodes_by_parent on nodes (workspace_id, parent_id, position);
create table projects (
  id text primary key, workspace_id text not null, node_id text not null unique, title text not null,
  created_at integer not null, updated_at integer not null
) without rowid;
create table documents (
  sequence integer primary key, id text not null unique, node_id text not null unique, workspace_id text not null,
  status text not null default 'active', content_revision integer not null, content_sha256 text not null,
  size_bytes integer not null, created_by_user_id text not null, created_by_agent_id text not null default '',
  created_by_name text not null, created_at integer not null, updated_by_kind text not null, updated_by_id text not null,
  updated_by_name text not null, updated_at integer not null, archived_at integer, content text not null
);
create index documents_by_workspace on documents (workspace_id, status, sequence);
create table document_revisions (
  document_id text not null, content_revision integer not null, content_sha256 text not null, content text not null,
  primary key (document_id, content_revision)
);
create table shares (
  id text primary key, document_id text not null, grantee_kind text not null, grantee_id text not null,
  permission text not null, message text not null default '', created_by_user_id text not null,
  created_at integer not null,
  unique (document_id, grantee_kind, grantee_id)
) without rowid;
create index shares_by_grantee on shares (grantee_kind, grantee_id, document_id);
)sql";

// sync_entries has a row for each document and each source whose root is above it. `present` 0 is a tombstone.
// `revision` is the source's revision at the last change of any kind; `entered_revision` when the document came in
// (first: for the first time), `path_revision` and `content_revision_at` when its path and its bytes changed.
constexpr const char* sync = R"sql(
create table sync_sources (
  id text primary key, workspace_id text not null, name text not null, root_node_id text not null,
  project_id text not null default '', revision integer not null default 0, created_by_user_id text not null,
  created_by_agent_id text not null default '', last_committed_at integer, created_at integer not null,
  updated_at integer not null
) without rowid;
create index sync_sources_by_root on sync_sources (root_node_id);
create table sync_entries (
  source_id text not null, document_id text not null, present integer not null, path text not null, path_key text,
  revision integer not null, first_entered_revision integer not null, entered_revision integer not null,
  path_revision integer not null, text_revision integer not null,
  primary key (source_id, document_id)
) without rowid;
create unique index sync_entries_by_path on sync_entries (source_id, path_key);
create unique index sync_entries_by_revision on sync_entries (source_id, revision);
create index sync_entries_by_document on sync_entries (document_id);
create table sync_plans (
  id text primary key, source_id text not null, actor text not null, client_id text not null,
  base_revision integer not null, created_at integer not null, expires_at integer not null, commit_id text,
  commit_body text
);
create index sync_plans_by_expiry on sync_plans (expires_at);
create table sync_pushes (
  id text primary key, plan_id text not null, fingerprint text not null, created_at integer not null,
  unique (plan_id, fingerprint)
);
create table sync_staged (
  push_id text not null, place integer not null, path text not null, action text not null,
  document_id text not null default '', content text, content_sha256 text not null default '',
  expected_content_revision integer, previous_path text,
  primary key (push_id, place)
);
create table sync_conflicts (
  id text primary key, source_id text not null, client_id text not null, subject text not null,
  document_id text not null, path text not null, kind text not null, status text not null default 'open',
  base_content_revision integer, base_content_sha256 text, base_content text,
  local_content_sha256 text, local_content text, local_deleted integer not null, local_path text not null,
  local_previous_path text, remote_body text, resolution text, resolved_sha256 text, result_body text,
  created_at integer not null, resolved_at integer
);
create unique index sync_conflicts_open on sync_conflicts (source_id, client_id, subject) where status = 'open';
create index sync_conflicts_by_source on sync_conflicts (source_id, status);
)sql";

// `change` counts comment changes of a document; its maximum is the watermark. `quote` is stored only if the text was
// found in the document, so that a later edit can be seen to remove it. Lease tokens are stored as hashes.
constexpr const char* comments_and_events = R"sql(
create table comment_threads (
  sequence integer primary key, id text not null unique, document_id text not null, workspace_id text not null,
  status text not null default 'open', anchor text not null, quote text not null, quote_lost integer not null,
  created_by_kind text not null, created_by_id text not null, change integer not null, created_at integer not null,
  last_activity_at integer not null, updated_at integer not null
);
create index comment_threads_by_document on comment_threads (document_id, sequence);
create index comment_threads_by_change on comment_threads (document_id, change);
create table comment_entries (
  sequence integer primary key, id text not null unique, thread_id text not null, document_id text not null,
  author_kind text not null, author_id text not null, actor_identity text not null, body text not null,
  mentions text not null, agent_mentions text not null, entry_point text, conversation_thread_id text not null,
  source_event_id text not null default '', created_at integer not null, updated_at integer not null
);
create index comment_entries_by_document on comment_entries (document_id, sequence);
create index comment_entries_by_thread on comment_entries (thread_id, sequence);
create table agent_events (
  sequence integer primary key, id text not null unique, workspace_id text not null, agent_id text not null,
  kind text not null, document_id text not null, thread_id text not null, comment_id text not null,
  payload text not null, status text not null default 'queued', attempt integer not null default 0,
  available_at integer not null, worker_id text not null default '', lease_token_sha256 text not null default '',
  lease_expires_at integer, result text, error text, created_at integer not null, finished_at integer
);
create index agent_events_queued on agent_events (agent_id, sequence) where status = 'queued';
create index agent_events_leased on agent_events (lease_expires_at) where status = 'leased';
create index agents_by_owner on agents (owner_user_id);
create index keys_by_agent on keys (agent_id) where agent_id <> '';
)sql";

// `search_chunks` has a row for each searchable part of a document (`document_id` '': a Page or an asset, found by its
// title); `search_words` holds the words under the same rowid. Triggers record changes in `search_dirty`; the next
// search indexes them, and the documents that are new since (`search_progress`). `search_rankings` are results that
// cursors refer to.
constexpr const char* search = R"sql(
create table search_chunks (
  place integer primary key, id text not null unique, node_id text not null, document_id text not null,
  ordinal integer not null, heading_path text not null, start_byte integer not null, size_bytes integer not null,
  fingerprint text not null
);
create index search_chunks_by_node on search_chunks (node_id, ordinal);
create virtual table search_words using fts5 (title, headings, body, tokenize = 'ascii');
create table search_dirty (place integer primary key, node_id text not null unique);
create table search_rankings (
  place integer primary key, list text not null, hits blob not null, created_at integer not null
);
create trigger search_node_added after insert on nodes when new.kind <> 'project' begin
  insert or ignore into search_dirty (node_id) values (new.id);
end;
create trigger search_node_changed after update of title, archived on nodes when old.kind <> 'project' begin
  insert or ignore into search_dirty (node_id) values (new.id);
end;
create trigger search_node_gone after delete on nodes when old.kind <> 'project' begin
  insert or ignore into search_dirty (node_id) values (old.id);
end;
create trigger search_document_changed after update of content, status on documents begin
  insert or ignore into search_dirty (node_id) values (new.node_id);
end;
insert into search_dirty (node_id) select id from nodes where kind <> 'project';
)sql";

// `due_at`: when a running question will be answered; null once it is.
constexpr const char* questions_and_tests = R"sql(
create table conversations (
  sequence integer primary key, id text not null unique, workspace_id text not null, title text not null,
  status text not null default 'active', thread_id text not null, question_count integer not null default 0,
  last_question_at integer, created_by_user_id text not null, created_by_agent_id text not null default '',
  created_at integer not null, updated_at integer not null
);
create table questions (
  sequence integer primary key, id text not null unique, workspace_id text not null, conversation_id text not null,
  prompt text not null, title text not null, sources text not null, answers_later integer not null, due_at integer,
  passages text not null default '[]', artifact_document_id text not null default '',
  artifact_revision integer not null default 0, created_by_user_id text not null,
  created_by_agent_id text not null default '', created_at integer not null, completed_at integer
);
create index questions_by_conversation on questions (conversation_id, sequence);
create index questions_by_artifact on questions (artifact_document_id);
create index questions_due on questions (due_at) where due_at is not null;
create table test_runs (
  sequence integer primary key, id text not null unique, workspace_id text not null, selection_kind text not null,
  suite_id text not null default '', case_ids text not null, status text not null, results text not null,
  created_at integer not null, started_at integer, finished_at integer
);
)sql";

// `blob`: name of the bytes in the world's blobs ('': none). Upload URLs are stored as hashes of their secret.
// `received_bytes` is null before the first PUT; `updated_at` of a run is when its phase began.
constexpr const char* files = R"sql(
create table uploads (
  id text primary key, workspace_id text not null, secret_sha256 text not null unique, blob_name text not null,
  file_name text not null, mime_type text not null, size_bytes integer not null, created_by_user_id text not null,
  created_by_agent_id text not null default '', created_at integer not null, expires_at integer not null,
  received_bytes integer, received_sha256 text not null default '', blob text not null default '',
  asset_id text not null default ''
);
create index uploads_by_expiry on uploads (expires_at) where blob <> '' and asset_id = '';
create table assets (
  sequence integer primary key, id text not null unique, node_id text not null unique, workspace_id text not null,
  original_file_name text not null, mime_type text not null, size_bytes integer not null,
  content_sha256 text not null, blob text not null, is_text integer not null, processing_status text not null,
  created_by_user_id text not null, created_by_agent_id text not null default '', created_at integer not null
);
create index assets_by_workspace on assets (workspace_id, sequence);
create table organize_runs (
  sequence integer primary key, id text not null unique, asset_id text not null, workspace_id text not null,
  target_node_id text not null default '', instruction text not null, status text not null, phase text not null,
  message text not null default '', created_by_user_id text not null, created_by_agent_id text not null default '',
  created_at integer not null, updated_at integer not null
);
create index organize_runs_due on organize_runs (updated_at) where status in ('queued', 'running');
)sql";

// The key's ceiling: the highest role that it grants in any Workspace (`contract::Role`).
constexpr const char* key_ceilings = "alter table keys add column ceiling text not null default 'owner'";

constexpr const char* open_plans = "create index sync_plans_open on sync_plans (expires_at) where commit_id is null";

// Documents come one after the other: the search index remembers up to which one it has them, so that a new one costs
// it nothing. (As a table of its own, the number is gone with the index where all rows are replaced.)
constexpr const char* search_progress = R"sql(
create table search_progress (place integer primary key, through_sequence integer not null);
insert into search_progress (place, through_sequence) select 1, coalesce(max(sequence), 0) from documents;
drop trigger search_node_added;
create trigger search_node_added after insert on nodes when new.kind not in ('project', 'document') begin
  insert or ignore into search_dirty (node_id) values (new.id);
end;
)sql";

constexpr const char* event_lapses = "alter table agent_events add column lapses integer not null default 0";

// What a tombstone shows: the document as it was when it left the source, since its owner may go on with it elsewhere.
constexpr const char* tombstones = "alter table sync_entries add column as_left text not null default ''";

// The ceiling of the key that began what ends after its call.
constexpr const char* ceilings_of_later_work = R"sql(
alter table questions add column ceiling text not null default 'owner';
alter table organize_runs add column ceiling text not null default 'owner';
)sql";

constexpr const char* migrations[] = {people_and_keys,
                                      tree_and_documents,
                                      sync,
                                      comments_and_events,
                                      search,
                                      questions_and_tests,
                                      files,
                                      key_ceilings,
                                      open_plans,
                                      search_progress,
                                      event_lapses,
                                      tombstones,
                                      ceilings_of_later_work};

Result<std::int64_t> version(sqlite::Database& database) {
  WS_LET(const sqlite::CachedStatement row, database.cached("pragma user_version"));
  WS_TRY(row->step());
  return row->integer(0);
}

}  // namespace

std::int64_t newest_version() { return static_cast<std::int64_t>(std::size(migrations)); }

Result<void> migrate(sqlite::Database& database) {
  WS_LET(const std::int64_t seen, version(database));
  const std::int64_t newest = newest_version();
  if (seen > newest) {
    return fail(Failure::Kind::disk,
                fmt::format("the data file has version {}; this ws-mock reads version {}", seen, newest),
                "use a newer ws-mock, or another file");
  }
  for (std::int64_t step = seen; step < newest; ++step) {
    WS_LET(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
    WS_TRY(database.execute(migrations[step]));
    WS_TRY(database.execute(fmt::format("pragma user_version = {}", step + 1)));
    WS_TRY(transaction.commit());
  }
  return {};
}

Result<std::vector<std::string>> table_names(sqlite::Database& database) {
  WS_LET(const sqlite::CachedStatement rows,
         database.cached("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name "
                         "not in (select name from pragma_table_list where type = 'shadow') order by rowid"));
  return read_all(*rows, read_text);
}

Result<std::vector<std::string>> state_tables(sqlite::Database& database) {
  WS_LET(std::vector<std::string> tables, table_names(database));
  std::erase_if(tables, [](const std::string& table) { return table.starts_with("search_"); });
  std::ranges::sort(tables);
  return tables;
}

Result<std::vector<TableColumn>> columns_of(const sqlite::Database& database, std::string_view table) {
  WS_LET(sqlite::Statement rows,
         database.prepare(fmt::format("select name, upper(type), \"notnull\", pk, dflt_value is not null from "
                                      "pragma_table_info('{}') order by name",
                                      table)));
  return read_all(rows, [](const sqlite::Statement& row) {
    const bool is_integer = row.text(1) == "INTEGER";
    const bool is_key = row.integer(3) != 0;
    // SQLite numbers an integer primary key by itself, and takes null in the primary key of a table with rowids.
    const bool must_be_there = row.integer(2) != 0 || (is_key && !is_integer);
    return TableColumn{.name = row.string(0),
                       .is_integer = is_integer,
                       .may_be_null = !is_key && !must_be_there,
                       .is_required = must_be_there && row.integer(4) == 0};
  });
}

Result<std::vector<std::string>> column_names(const sqlite::Database& database, std::string_view table) {
  WS_LET(std::vector<TableColumn> columns, columns_of(database, table));
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (TableColumn& column : columns) names.push_back(std::move(column.name));
  return names;
}

Result<std::string> row_as_json(const sqlite::Database& database, std::string_view table, std::string_view row) {
  WS_LET(std::vector<std::string> members, column_names(database, table));
  for (std::string& name : members) name = fmt::format("'{0}', {1}\"{0}\"", name, row);
  return fmt::format("json_object({})", fmt::join(members, ", "));
}

Result<Json> read_tables(sqlite::Database& database) {
  WS_LET(const std::vector<std::string> tables, state_tables(database));
  Json all = Json::object();
  for (const std::string& table : tables) {
    WS_LET(const std::string row, row_as_json(database, table, ""));
    WS_LET(sqlite::Statement rows, database.prepare(fmt::format("select {} from main.\"{}\" order by 1", row, table)));
    WS_LET(all[table], read_all(rows, [](const sqlite::Statement& one) { return parse_bounded(one.text(0)); }));
  }
  return all;
}

}  // namespace ws::mock
