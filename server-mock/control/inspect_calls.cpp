// Control calls for the inspector page. Lists are bounded, newest first.
#include <nlohmann/json.hpp>

#include "server-mock/control/calls.hpp"
#include "server-mock/services/authorization/device_logins.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock::control {
namespace {

/// A list of JSON objects; members named `..._at` are times in milliseconds.
struct InspectedList {
  const char* name = nullptr;
  const char* count = nullptr;
  const char* rows = nullptr;
};

constexpr InspectedList lists[] = {
    {"documents",
     "select count(*) from documents",
     "select json_object('id', d.id, 'title', n.title, 'status', d.status, 'content_revision', d.content_revision, "
     "'size_bytes', d.size_bytes, 'updated_by', d.updated_by_name, 'updated_at', d.updated_at) "
     "from documents d join nodes n on n.id = d.node_id order by d.updated_at desc, d.sequence desc limit 200"},
    {"threads",
     "select count(*) from comment_threads",
     "select json_object('id', t.id, 'document', n.title, 'status', t.status, 'quote', t.quote, "
     "'last_activity_at', t.last_activity_at, 'entries', (select json_group_array(json_object('by', e.author_name, "
     "'body', e.body, 'created_at', e.created_at)) from (select *, coalesce((select display_name from users where id = "
     "author_id), (select '@' || handle from agents where id = author_id), author_kind) as author_name from "
     "comment_entries where thread_id = t.id order by sequence limit 50) e)) "
     "from comment_threads t join documents d on d.id = t.document_id join nodes n on n.id = d.node_id "
     "order by t.last_activity_at desc, t.sequence desc limit 100"},
    {"events",
     "select count(*) from agent_events",
     "select json_object('id', e.id, 'kind', e.kind, 'agent', a.handle, 'status', e.status, 'attempt', e.attempt, "
     "'worker', e.worker_id, 'lease_expires_at', e.lease_expires_at, 'available_at', e.available_at, 'created_at', "
     "e.created_at, 'error', e.error, 'payload', json(e.payload)) "
     "from agent_events e left join agents a on a.id = e.agent_id order by e.sequence desc limit 100"},
};

/// Replaces milliseconds by times as the API writes them.
void write_times(Json& value) {
  if (value.is_array()) {
    for (Json& item : value) write_times(item);
  } else if (value.is_object()) {
    for (auto& [name, member] : value.items()) {
      if (name == "payload") continue;  // payloads are shown unchanged
      if (name.ends_with("_at") && member.is_number_integer()) {
        member = rfc3339(member.get<std::int64_t>());
      } else {
        write_times(member);
      }
    }
  }
}

/// `sql` makes an object of each row.
template <class... Values>
Result<Json> rows_of(World& world, const char* sql, const Values&... values) {
  const auto read = [](const sqlite::Statement& row) { return parse_bounded(row.text(0)); };
  WS_LET(Json data, read_rows(world, read, sql, values...));
  write_times(data);
  return data;
}

Result<Json> read_list(World& world, const InspectedList& list) {
  WS_LET(const std::int64_t total, read_number(world, list.count));
  WS_LET(Json data, rows_of(world, list.rows));
  return Json{{"total", total}, {"data", std::move(data)}};
}

/// `{clock, now, sandbox, base_url, last_seq, documents, threads, events, people}`, each list as `{total, data}`.
ServiceResult inspect(Call& call) {
  Sandbox& sandbox = call.sandbox;
  Json body = clock_of(sandbox);
  body["sandbox"] = text_or_null(sandbox.options.id);
  body["base_url"] = sandbox.base_url;
  body["last_seq"] = sandbox.journal.last_seq();
  for (const InspectedList& list : lists) {
    WS_API_LET(body[list.name], read_list(*sandbox.world, list));
  }
  WS_API_LET(const std::vector<Membership> members, list_memberships(*sandbox.world));
  body["people"] = Json::array();
  for (const Membership& member : members) {
    body["people"].push_back({{"user_id", member.user_id},
                              {"name", member.display_name},
                              {"workspace_id", member.workspace_id},
                              {"workspace", member.workspace_name},
                              {"role", member.role}});
  }
  return Answer{.body = std::move(body)};
}

ServiceResult inspect_document(Call& call) {
  World& world = *call.sandbox.world;
  WS_API_LET(const std::optional<Document> document,
             find_document(world, http::value_of(call.path, "id"), WithContent::yes));
  if (!document) return not_found("document");
  WS_API_LET(
      Json revisions,
      rows_of(world,
              "select json_object('content_revision', content_revision, 'content_sha256', content_sha256, 'content', "
              "content) from document_revisions where document_id = ? and content_revision <> ? "
              "order by content_revision desc limit 20",
              document->id,
              document->content_revision));
  revisions.insert(revisions.begin(),
                   Json{{"content_revision", document->content_revision},
                        {"content_sha256", document->content_sha256},
                        {"content", document->content}});
  return Answer{.body = Json{{"id", document->id}, {"revisions", std::move(revisions)}}};
}

}  // namespace

CallTable inspect_calls() {
  static constexpr CallEntry entries[] = {
      {"GET",
       "/_mock/inspect",
       "what the inspector page shows: documents, threads, events, people, clock",
       inspect,
       nothing},
      {"GET", "/_mock/inspect/documents/{id}", "a document with its revisions", inspect_document, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control
