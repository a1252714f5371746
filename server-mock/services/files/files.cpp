#include "server-mock/services/files/files.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// How many bytes are examined to decide whether a file is text.
constexpr std::size_t sample_bytes = std::size_t{64} << 10U;

Result<void> insert_asset(World& world, const Asset& asset, const Caller& caller) {
  return put(world,
             "insert into assets (id, node_id, workspace_id, original_file_name, mime_type, "
             "size_bytes, content_sha256, blob, is_text, processing_status, created_by_user_id, "
             "created_by_agent_id, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             asset.id,
             asset.node_id,
             asset.workspace_id,
             asset.original_file_name,
             asset.mime_type,
             asset.size_bytes,
             asset.content_sha256,
             asset.blob,
             asset.is_text,
             asset.processing_status,
             caller.owner_user_id,
             caller.agent_id,
             asset.created_at);
}

/// The upload that a finalize call names, in the caller's Workspace, with the given blob name.
ApiResult<Upload> named_upload(World& world, const ServiceCall& call) {
  WS_API_LET(std::optional<Upload> upload, find_upload(world, id_of(call.body, "upload_id")));
  if (!upload || upload->blob_name != text_of(call.body, "blob_name")) return not_found("upload");
  WS_API_LET(const contract::Role role, role_in(world, call.caller, upload->workspace_id));
  if (role == contract::Role::none) return not_found("upload");
  WS_API_TRY(require_role(call, role));
  return std::move(*upload);
}

/// 409 unless the declared, the received and the given size are equal.
ApiResult<void> require_complete(const Upload& upload, std::int64_t size_bytes) {
  if (upload.blob.empty())
    return conflict("upload_incomplete", "The bytes of the upload are not there; put them first");
  if (size_bytes != upload.size_bytes) {
    return conflict("upload_incomplete", "The upload was declared with another size");
  }
  if (*upload.received_bytes != upload.size_bytes) {
    return conflict("upload_incomplete", "Fewer bytes were uploaded than declared");
  }
  return {};
}

Asset make_asset(World& world, const Upload& upload, const ServiceCall& call) {
  return {.id = world.ids.uuid("asset"),
          .node_id = world.ids.uuid("node"),
          .workspace_id = upload.workspace_id,
          .title = std::string(text_of(call.body, "file_name")),
          .original_file_name = std::string(text_of(call.body, "file_name")),
          .mime_type = std::string(text_of(call.body, "mime_type")),
          .size_bytes = upload.size_bytes,
          .content_sha256 = upload.received_sha256,
          .blob = upload.blob,
          .created_at = world.now()};
}

Result<void> consume(World& world, const Upload& upload, const Asset& asset) {
  return put(world, "update uploads set asset_id = ? where id = ?", asset.id, upload.id);
}

ServiceResult start_upload(World& world, const ServiceCall& call) {
  WS_API_LET(const std::string workspace_id, own_workspace(call));
  WS_API_TRY(forget_expired_uploads(world));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string secret = world.ids.code("upload");
  Upload upload = {.id = world.ids.uuid("upload"),
                   .workspace_id = workspace_id,
                   .file_name = std::string(text_of(call.body, "file_name")),
                   .mime_type = std::string(text_of(call.body, "mime_type")),
                   .size_bytes = integer_of(call.body, "size_bytes", 0),
                   .created_at = world.now(),
                   .expires_at = world.now() + upload_lifetime_ms};
  upload.blob_name = "uploads/" + upload.id;
  WS_API_TRY(put_row(world,
                     "insert into uploads (" WS_UPLOAD_COLUMNS
                     ", secret_sha256, created_by_user_id, created_by_agent_id) "
                     "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     upload,
                     Sha256::of(secret).hex(),
                     call.caller.owner_user_id,
                     call.caller.agent_id));
  WS_API_TRY(work.commit());
  return Answer{.status = 201,
                .body = Json{{"upload_id", upload.id},
                             {"blob_name", upload.blob_name},
                             {"upload_url", call.base_url + upload_path(secret)},
                             {"upload_method", "PUT"},
                             {"upload_headers", {{"Content-Type", upload_media_type(upload)}}},
                             {"expires_at", rfc3339(upload.expires_at)}}};
}

ServiceResult finish_upload(World& world, const ServiceCall& call) {
  WS_API_LET(const Upload upload, named_upload(world, call));
  WS_API_TRY(require_open(world, upload));
  WS_API_TRY(require_complete(upload, integer_of(call.body, "size_bytes", 0)));
  WS_API_LET(const std::string sample, text_of_asset(world, upload.blob, sample_bytes));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  Asset asset = make_asset(world, upload, call);
  asset.is_text = is_text(asset.mime_type, sample);
  // The asset before its node: the node's trigger puts it into the search index.
  WS_API_TRY(insert_asset(world, asset, call.caller));
  Node node = {.id = asset.node_id,
               .workspace_id = asset.workspace_id,
               .kind = "asset",
               .title = asset.title,
               .created_by_user_id = call.caller.owner_user_id,
               .created_by_agent_id = call.caller.agent_id};
  WS_API_TRY(insert_node(world, node));
  WS_API_TRY(consume(world, upload, asset));
  WS_API_TRY(work.commit());
  return Answer{.status = 201, .body = to_json(asset)};
}

ServiceResult list_files(World& world, const ServiceCall& call) {
  WS_API_LET(std::vector<Json> data,
             read_rows(
                 world,
                 [](const sqlite::Statement& row) { return to_json(read_as<Asset>(row)); },
                 "select " WS_ASSET_COLUMNS " from assets a cross join nodes n on n.id = a.node_id "
                 "cross join members m on m.workspace_id = a.workspace_id and m.user_id = ?1 "
                 "where ?2 = '' or a.workspace_id = ?2 order by a.sequence desc limit ?3",
                 call.caller.owner_user_id,
                 bound_workspace(call.caller),
                 integer_of(call.parameters, "limit", 50)));
  return Answer{.body = Json{{"data", std::move(data)}}};
}

ServiceResult get_file(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleAsset seen, find_visible_asset(world, call, id_of(call.parameters, "asset_id")));
  return Answer{.body = to_json(seen.asset)};
}

ServiceResult get_file_content(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleAsset seen, find_visible_asset(world, call, id_of(call.parameters, "asset_id")));
  const Asset& asset = seen.asset;
  return Answer{.blob = BlobBody{.blob = asset.blob,
                                 .size_bytes = static_cast<std::uint64_t>(asset.size_bytes),
                                 .media_type = safe_media_type(asset.mime_type)},
                .headers = {{"ETag", '"' + asset.content_sha256 + '"'},
                            {"Content-Disposition", content_disposition(asset.original_file_name)},
                            // The browser must not run an uploaded file as a page of this origin.
                            {"X-Content-Type-Options", "nosniff"}}};
}

}  // namespace

ServiceTable file_services() {
  static constexpr ServiceEntry entries[] = {
      {"files.upload_start", start_upload},
      {"files.upload_finish", finish_upload},
      {"files.list", list_files},
      {"files.get", get_file},
      {"files.content", get_file_content},
  };
  return entries;
}

}  // namespace ws::mock
