#include <nlohmann/json.hpp>

#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/sync/shared.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {

Result<std::optional<Conflict>> find_conflict(World& world, std::string_view id) {
  return read_row(
      world,
      read_as<Conflict>,
      "select id, source_id, client_id, subject, document_id, path, kind, status = 'resolved', base_content_revision, "
      "base_content_sha256, base_content, local_content_sha256, local_content, local_deleted, local_path, "
      "local_previous_path, remote_body, resolution, resolved_sha256, result_body, created_at, resolved_at "
      "from sync_conflicts where id = ?",
      id);
}

Result<std::optional<std::string>> find_open_conflict(World& world,
                                                      std::string_view source_id,
                                                      std::string_view client_id,
                                                      std::string_view subject,
                                                      std::string_view document_id,
                                                      std::string_view local_path) {
  struct Open {
    std::string id = {};
    std::string subject = {};
    std::string local_path = {};
  };
  WS_LET(const std::vector<Open> all,
         read_rows(world,
                   read_as<Open>,
                   "select id, subject, local_path from sync_conflicts where source_id = ?1 and client_id = ?2 and "
                   "status = 'open' and (subject = ?3 or (document_id = ?4 and ?4 <> '')) order by subject <> ?3, id",
                   source_id,
                   client_id,
                   subject,
                   document_id));
  const std::string key = utf8::fold_key(local_path);
  for (const Open& open : all) {
    if (open.subject == subject || utf8::fold_key(open.local_path) == key) return open.id;
  }
  return std::nullopt;
}

Result<void> save_open_conflict(World& world, Conflict& conflict) {
  WS_LET(
      const std::optional<std::string> open,
      find_open_conflict(
          world, conflict.source_id, conflict.client_id, conflict.subject, conflict.document_id, conflict.local_path));
  conflict.id = open ? *open : world.ids.uuid("conflict");
  conflict.created_at = world.now();
  return put(world,
             "insert into sync_conflicts (id, source_id, client_id, subject, document_id, path, kind, "
             "base_content_revision, base_content_sha256, base_content, local_content_sha256, local_content, "
             "local_deleted, local_path, local_previous_path, created_at) "
             "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set "
             "subject = excluded.subject, document_id = excluded.document_id, path = excluded.path, "
             "kind = excluded.kind, "
             "base_content_revision = excluded.base_content_revision, "
             "base_content_sha256 = excluded.base_content_sha256, base_content = excluded.base_content, "
             "local_content_sha256 = excluded.local_content_sha256, local_content = excluded.local_content, "
             "local_deleted = excluded.local_deleted, local_path = excluded.local_path, "
             "local_previous_path = excluded.local_previous_path",
             conflict.id,
             conflict.source_id,
             conflict.client_id,
             conflict.subject,
             conflict.document_id,
             conflict.path,
             conflict.kind,
             conflict.base_content_revision,
             conflict.base_content_sha256,
             conflict.base_content,
             conflict.local_content_sha256,
             conflict.local_content,
             conflict.local_deleted,
             conflict.local_path,
             conflict.local_previous_path,
             conflict.created_at);
}

Result<void> save_resolution(World& world, const Conflict& conflict) {
  return put(world,
             "update sync_conflicts set status = 'resolved', remote_body = ?, resolution = ?, "
             "resolved_sha256 = ?, result_body = ?, resolved_at = ? where id = ?",
             conflict.remote_body,
             conflict.resolution,
             conflict.resolved_sha256,
             conflict.result_body,
             conflict.resolved_at,
             conflict.id);
}

Result<Json> remote_side(World& world, const Conflict& conflict) {
  WS_LET(const std::optional<SyncEntry> entry, find_entry(world, conflict.source_id, conflict.document_id));
  WS_LET(std::optional<Document> document, find_entered(world, entry, WithContent::yes));
  if (!document) {
    // A folder has the path of the local file: there is no remote document.
    return Json{{"document_id", nullptr},
                {"content_revision", nullptr},
                {"content_sha256", nullptr},
                {"content", nullptr},
                {"deleted", true},
                {"path", nullptr},
                {"updated_by", nullptr},
                {"updated_at", nullptr}};
  }
  return Json{{"document_id", document->id},
              {"content_revision", document->content_revision},
              {"content_sha256", document->content_sha256},
              {"content", entry->present ? Json(std::move(document->content)) : Json(nullptr)},
              {"deleted", !entry->present},
              {"path", entry->path},
              {"updated_by", to_json(document->updated_by)},
              {"updated_at", rfc3339(document->updated_at)}};
}

namespace {

Result<Json> stored(const std::string& body) {
  if (body.empty()) return Json(nullptr);
  return parse_bounded(body);
}

Json base_side(const Conflict& conflict) {
  if (!conflict.base_content_revision) return nullptr;
  return {{"content_revision", *conflict.base_content_revision},
          {"content_sha256", text_or_null(conflict.base_content_sha256)},
          {"content", conflict.base_content ? Json(*conflict.base_content) : Json(nullptr)}};
}

}  // namespace

Result<Json> to_json(World& world, const Conflict& conflict) {
  WS_LET(Json remote, conflict.resolved ? stored(conflict.remote_body) : remote_side(world, conflict));
  WS_LET(Json result, stored(conflict.result_body));
  const std::string self = "/v1/sync/conflicts/" + conflict.id;
  return Json{{"id", conflict.id},
              {"object", "sync_conflict"},
              {"source_id", conflict.source_id},
              {"client_id", conflict.client_id},
              {"path", conflict.path},
              {"kind", conflict.kind},
              {"status", conflict.resolved ? "resolved" : "open"},
              {"base", base_side(conflict)},
              {"local",
               {{"content_sha256", text_or_null(conflict.local_content_sha256)},
                {"content", conflict.local_content ? Json(*conflict.local_content) : Json(nullptr)},
                {"deleted", conflict.local_deleted},
                {"path", conflict.local_path}}},
              {"remote", std::move(remote)},
              {"resolution", text_or_null(conflict.resolution)},
              {"created_at", rfc3339(conflict.created_at)},
              {"resolved_at", conflict.resolved_at ? Json(rfc3339(*conflict.resolved_at)) : Json(nullptr)},
              {"result", std::move(result)},
              {"links",
               {{"self", self}, {"resolve", self + ":resolve"}, {"source", "/v1/sync/sources/" + conflict.source_id}}}};
}

}  // namespace ws::mock
