// Source: API document v1, "Documents" and "Limits"; bodies and shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {

namespace {

constexpr std::string_view area = "Documents";

constexpr Parameter list_parameters[] = {page_limit("50"), page_cursor};
constexpr Parameter create_parameters[] = {idempotency_key};
constexpr Parameter document_parameters[] = {in_path("document_id", uuid())};

constexpr std::string_view document_object[] = {"document"};
constexpr auto document_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(document_object)), "\"document\""),
    required("node_id", uuid()),
    nullable(required("parent_node_id", uuid())),
    nullable(required("project_id", uuid())),
    required("workspace_id", uuid()),
    required("title", string()),
    optional("content", string(), "Markdown; lists leave it out"),
    required("content_type", string(), "text/markdown"),
    required("content_revision", integer()),
    required("content_sha256", string(), "SHA-256 of the exact bytes, lower-case hex"),
    required("status", string(), "active or archived"),
    required("created_by", object(actor)),
    required("created_at", date_time()),
    required("updated_by", object(actor)),
    required("updated_at", date_time()),
    links,
});
constexpr Schema document = {.name = "Document", .fields = document_fields, .source = Source::assumed};
constexpr Type document_item = object(document);
constexpr auto list_fields = all_assumed({required("data", array_of(document_item)), next_cursor});
constexpr Schema document_list = {.name = "DocumentList", .fields = list_fields, .source = Source::assumed};
constexpr Response list_responses[] = {{.schema = &document_list}};
constexpr Response create_responses[] = {{.status = 201, .schema = &document}};
constexpr Response document_responses[] = {{.schema = &document}};

constexpr auto create_fields = all_assumed({
    required("title", string(1, 300)),
    required("content", markdown_content, "Markdown, at most 1 MiB"),
    nullable(optional("parent_node_id", uuid(), "the Page to create it under")),
    nullable(optional("project_id", uuid(), "the Project to create it in")),
});
constexpr Schema document_create = {.name = "DocumentCreate", .fields = create_fields, .source = Source::assumed};

// The API document names only this field of the update; that it is required, and its minimum, are assumed.
constexpr Field update_fields[] = {
    assumed(optional("title", string(1, 300))),
    assumed(optional("content", markdown_content, "Markdown, at most 1 MiB")),
    required("expected_content_revision", assumed(integer_at_least(1)), "the revision that the change was made from"),
};
constexpr Schema document_update = {.name = "DocumentUpdate", .fields = update_fields};

constexpr std::string_view archived_status[] = {"archived"};
constexpr auto archived_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(document_object)), "\"document\""),
    required("status", choice(archived_status)),
    required("archived_at", date_time()),
});
constexpr Schema archived = {.name = "DocumentArchived", .fields = archived_fields, .source = Source::assumed};
constexpr Response archive_responses[] = {{.schema = &archived}};

constexpr auto share_fields = all_assumed({
    optional("email", string(), "a person; or else agent_handle"),
    optional("agent_handle", string(), "an agent; or else email"),
    required("permission", choice(agent_permission_values)),
    optional("message", string_at_most(1000)),
});
constexpr Schema share_request = {.name = "DocumentShareRequest", .fields = share_fields, .source = Source::assumed};
constexpr auto grant_fields = all_assumed({
    required("id", uuid()),
    required("grantee_kind", string(), "user or agent"),
    optional("email", string()),
    optional("handle", string()),
    required("permission", string()),
    required("created_at", date_time()),
});
constexpr Schema grant = {.name = "DocumentShare", .fields = grant_fields, .source = Source::assumed};
constexpr Type grant_item = object(grant);
constexpr auto shares_fields = all_assumed({
    required("document_id", uuid()),
    required("shares", array_of(grant_item)),
    links,
});
constexpr Schema shares = {.name = "DocumentShares", .fields = shares_fields, .source = Source::assumed};
constexpr Response share_responses[] = {{.schema = &shares}};

constexpr Argument title_argument[] = {{"TITLE", "title", Presence::optional}};
constexpr Argument document_argument[] = {{"DOCUMENT", "document_id"}};
constexpr std::string_view update_errors[] = {"revision_conflict", "archived"};
constexpr std::string_view share_errors[] = {"archived"};

}  // namespace

constexpr Operation document_table[] = {
    {.id = "docs.list",
     .method = Method::get,
     .path = "/v1/documents",
     .summary = "List documents",
     .area = area,
     .parameters = list_parameters,
     .responses = list_responses,
     .scope = "documents:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "docs list"},
    {.id = "docs.create",
     .method = Method::post,
     .path = "/v1/documents",
     .summary = "Create a document",
     .area = area,
     .parameters = create_parameters,
     .request = &document_create,
     .responses = create_responses,
     .scope = "documents:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "docs create",
     .arguments = title_argument},
    {.id = "docs.get",
     .method = Method::get,
     .path = "/v1/documents/{document_id}",
     .summary = "Read a document",
     .area = area,
     .parameters = document_parameters,
     .responses = document_responses,
     .scope = "documents:read",
     .role = Role::viewer,
     .command = "docs get",
     .arguments = document_argument},
    {.id = "docs.update",
     .method = Method::put,
     .path = "/v1/documents/{document_id}",
     .summary = "Replace a document's text, if its revision is the expected one",
     .area = area,
     .parameters = document_parameters,
     .request = &document_update,
     .responses = document_responses,
     .scope = "documents:write",
     .role = Role::editor,
     .retry = RetryClass::revision,
     .command = "docs update",
     .arguments = document_argument,
     .errors = update_errors},
    {.id = "docs.archive",
     .method = Method::del,
     .path = "/v1/documents/{document_id}",
     .summary = "Archive a document",
     .area = area,
     .parameters = document_parameters,
     .responses = archive_responses,
     .scope = "documents:write",
     .role = Role::editor,
     .retry = RetryClass::repeatable,
     .command = "docs archive",
     .arguments = document_argument},
    {.id = "docs.share",
     .method = Method::post,
     .path = "/v1/documents/{document_id}/shares",
     .summary = "Share a document with a person or an agent",
     .area = area,
     .parameters = document_parameters,
     .request = &share_request,
     .responses = share_responses,
     .scope = "documents:share",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "docs share",
     .arguments = document_argument,
     .errors = share_errors},
};
static_assert(well_formed(document_table));
constinit const std::span<const Operation> document_operations = document_table;

}  // namespace ws::contract
