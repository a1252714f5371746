// Source: API document v1, "Files", "Asset (file)", "Asset organization operation", "Upload initialization response".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {

namespace {

constexpr std::string_view area = "Files";

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
    required("upload_url", string(), "absolute: where the bytes go"),
    required("upload_method", choice(upload_methods)),
    required("upload_headers", text_map(), "to be sent with the bytes"),
    required("expires_at", date_time()),
};
constexpr Schema started = {.name = "Upload", .fields = started_fields};
constexpr Response start_responses[] = {{.status = 201, .schema = &started}};

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
constexpr Type asset_item = object(asset);
constexpr Field list_fields[] = {required("data", array_of(asset_item))};
constexpr Schema asset_list = {.name = "AssetList", .fields = list_fields};
constexpr Response finalize_responses[] = {{.status = 201, .schema = &asset}};
constexpr Response list_responses[] = {{.schema = &asset_list}};
constexpr Response asset_responses[] = {{.schema = &asset}};
constexpr Response content_responses[] = {
    {.body = Body::bytes},
    {.status = 206, .body = Body::bytes, .source = Source::assumed},
};

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
constexpr Response organize_responses[] = {{.status = 202, .schema = &operation}};
constexpr Response operation_responses[] = {{.schema = &operation}};

constexpr Argument upload_argument[] = {{"UPLOAD", "upload_id"}};
constexpr Argument asset_argument[] = {{"ID", "asset_id"}};
constexpr Argument operation_argument[] = {{"OP", "operation_id"}};
constexpr std::string_view finalize_errors[] = {"upload_incomplete", "upload_consumed", "upload_expired"};
constexpr std::string_view content_errors[] = {"range_not_satisfiable"};

}  // namespace

constexpr Operation file_table[] = {
    {.id = "files.upload_start",
     .method = Method::post,
     .path = "/v1/files/uploads",
     .summary = "Start an upload",
     .area = area,
     .request = &start_request,
     .responses = start_responses,
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "files upload"},
    {.id = "files.upload_finish",
     .method = Method::post,
     .path = "/v1/files/uploads:finalize",
     .summary = "Finish an upload: the bytes become a file",
     .area = area,
     .request = &finalize_request,
     .responses = finalize_responses,
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "files finalize",
     .arguments = upload_argument,
     .errors = finalize_errors},
    {.id = "files.list",
     .method = Method::get,
     .path = "/v1/files",
     .summary = "List files",
     .area = area,
     .parameters = list_parameters,
     .responses = list_responses,
     .scope = "assets:read",
     .role = Role::viewer,
     .paging = Paging::limit_only,
     .command = "files list"},
    {.id = "files.get",
     .method = Method::get,
     .path = "/v1/files/{asset_id}",
     .summary = "Show what is known of a file",
     .area = area,
     .parameters = asset_parameters,
     .responses = asset_responses,
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files get",
     .arguments = asset_argument},
    {.id = "files.content",
     .method = Method::get,
     .path = "/v1/files/{asset_id}/content",
     .summary = "Download a file's exact bytes",
     .area = area,
     .parameters = asset_parameters,
     .responses = content_responses,
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files download",
     .arguments = asset_argument,
     .errors = content_errors},
    {.id = "files.organize",
     .method = Method::post,
     .path = "/v1/files/{asset_id}:organize",
     .summary = "Start an organization run on a file",
     .area = area,
     .parameters = asset_parameters,
     .request = &organize_request,
     .responses = organize_responses,
     .scope = "assets:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "files organize",
     .arguments = asset_argument},
    {.id = "files.operation",
     .method = Method::get,
     .path = "/v1/file-operations/{operation_id}",
     .summary = "Show how far an organization run is",
     .area = area,
     .parameters = operation_parameters,
     .responses = operation_responses,
     .scope = "assets:read",
     .role = Role::viewer,
     .command = "files operation",
     .arguments = operation_argument},
};
static_assert(well_formed(file_table));
constinit const std::span<const Operation> file_operations = file_table;

}  // namespace ws::contract
