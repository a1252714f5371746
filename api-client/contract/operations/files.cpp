// Source: API document v1, "Files", "Asset (file)", "Asset organization operation", "Upload initialization response".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter list_parameters[] = {page_limit("50")};
constexpr Parameter asset_parameters[] = {in_path("asset_id", uuid())};
constexpr Parameter operation_parameters[] = {in_path("operation_id", uuid())};

constexpr Field file_name = required("file_name", string(1, 255));
constexpr Field mime_type = with_default(optional("mime_type", string(1, 255)), "\"application/octet-stream\"");
constexpr Field size_bytes = required("size_bytes", integer(1, 104'857'600), "at most 100 MiB");

constexpr Field start_fields[] = {file_name, mime_type, size_bytes};
constexpr Schema start_request = {.name = "UploadRequest", .fields = start_fields};
constexpr std::string_view upload_methods[] = {"PUT"};
constexpr Field started_fields[] = {
    required("upload_id", uuid()),
    required("blob_name", string()),
    secret("upload_url", required("upload_url", string(), "absolute: where the bytes go")),
    required("upload_method", choice(upload_methods)),
    secret("upload_header", required("upload_headers", text_map(), "to be sent with the bytes")),
    required("expires_at", date_time()),
};
constexpr Schema started = {.name = "Upload", .fields = started_fields};

constexpr Field finalize_fields[] = {
    required("upload_id", uuid()),
    required("blob_name", string(1, 1024)),
    file_name,
    mime_type,
    size_bytes,
};
constexpr Schema finalize_request = {.name = "UploadFinalize", .fields = finalize_fields};

constexpr std::string_view asset_object[] = {"workspace_asset"};
constexpr Field asset_fields[] = {
    required("id", uuid()),
    with_default(optional("object", choice(asset_object)), "\"workspace_asset\""),
    required("node_id", uuid()),
    required("title", string()),
    nullable(optional("parent_node_id", uuid())),
    required("original_file_name", string()),
    required("mime_type", string()),
    required("size_bytes", integer()),
    nullable(optional("content_sha256", string())),
    required("status", string()),
    required("sensitivity_status", string()),
    optional("sensitivity_reasons", array_of(free_item)),
    required("ai_read_policy", string()),
    required("processing_status", string()),
    required("created_at", date_time()),
    links,
};
constexpr Schema asset = {.name = "Asset", .fields = asset_fields};
constexpr Field list_fields[] = {required("data", array_of(item_of<asset>))};
constexpr Schema asset_list = {.name = "AssetList", .fields = list_fields};

constexpr Field organize_fields[] = {
    required("instruction", string(1, 8000), "what to make of the file"),
    nullable(optional("target_root_node_id", uuid(), "the node to place the result under")),
};
constexpr Schema organize_request = {.name = "AssetOrganizeRequest", .fields = organize_fields};
constexpr Field operation_fields[] = {
    required("operation_id", uuid()),
    required("asset_id", uuid()),
    required("status", string()),
    required("phase", string()),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
};
constexpr Schema operation = {.name = "AssetOrganizationOperation", .fields = operation_fields};

}  // namespace

constexpr Operation file_table[] = {
    {.id = "files.upload_start",
     .method = Method::post,
     .path = "/v1/files/uploads",
     .summary = "Start an upload",
     .request = &start_request,
     .responses = {{.status = 201, .schema = &started}},
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::repeatable,
     .command = "files upload",
     .again = "an unused upload expires by itself"},
    {.id = "files.upload_finish",
     .method = Method::post,
     .path = "/v1/files/uploads:finalize",
     .summary = "Finish an upload: the bytes become a file",
     .request = &finalize_request,
     .responses = {{.status = 201, .schema = &asset}},
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "files finalize",
     .arguments = {{"UPLOAD", "upload_id"}},
     .errors = {"upload_incomplete", "upload_consumed", "upload_expired"}},
    {.id = "files.list",
     .path = "/v1/files",
     .summary = "List files",
     .parameters = list_parameters,
     .responses = {{.schema = &asset_list}},
     .scope = "assets:read",
     .role = Role::viewer,
     .paging = Paging::limit_only,
     .command = "files list"},
    {.id = "files.get",
     .path = "/v1/files/{asset_id}",
     .summary = "Show what is known of a file",
     .parameters = asset_parameters,
     .responses = {{.schema = &asset}},
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files get",
     .arguments = {{"ID", "asset_id"}}},
    {.id = "files.content",
     .path = "/v1/files/{asset_id}/content",
     .summary = "Download a file's exact bytes",
     .parameters = asset_parameters,
     .responses = {{.body = Body::bytes}, {.status = 206, .body = Body::bytes, .source = Source::assumed}},
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files download",
     .arguments = {{"ID", "asset_id"}},
     .errors = {"range_not_satisfiable"}},
    {.id = "files.organize",
     .method = Method::post,
     .path = "/v1/files/{asset_id}:organize",
     .summary = "Start an organization run on a file",
     .parameters = asset_parameters,
     .request = &organize_request,
     .responses = {{.status = 202, .schema = &operation}},
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "files organize",
     .arguments = {{"ID", "asset_id"}}},
    {.id = "files.operation",
     .path = "/v1/file-operations/{operation_id}",
     .summary = "Show how far an organization run is",
     .parameters = operation_parameters,
     .responses = {{.schema = &operation}},
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files operation",
     .arguments = {{"OP", "operation_id"}}},
};
static_assert(well_formed(file_table));
constinit const Area file_operations = {"Files", file_table};

}  // namespace ws::contract
