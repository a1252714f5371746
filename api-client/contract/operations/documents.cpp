// Source: API document v1, "Documents" and "Limits"; bodies and shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

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
    optional("content", string(), "Markdown"),
    required("content_type", string(), "text/markdown"),
    required("content_revision", integer()),
    required("content_sha256", string(), "SHA-256 hash of the exact bytes, lower-case hex"),
    required("status", string(), "active or archived"),
    required("created_by", object(actor)),
    required("created_at", date_time()),
    required("updated_by", object(actor)),
    required("updated_at", date_time()),
    links,
});
constexpr Schema document = {.name = "Document", .fields = document_fields, .source = Source::assumed};
constexpr auto item_fields = without("content", document_fields);
constexpr Schema document_item = {.name = "DocumentItem", .fields = item_fields, .source = Source::assumed};
constexpr auto list_fields = all_assumed({required("data", array_of(item_of<document_item>)), next_cursor});
constexpr Schema document_list = {.name = "DocumentList", .fields = list_fields, .source = Source::assumed};

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
constexpr auto shares_fields = all_assumed({
    required("document_id", uuid()),
    required("shares", array_of(item_of<grant>)),
    links,
});
constexpr Schema shares = {.name = "DocumentShares", .fields = shares_fields, .source = Source::assumed};

}  // namespace

constexpr Operation document_table[] = {
    {.id = "docs.list",
     .path = "/v1/documents",
     .summary = "List documents",
     .parameters = list_parameters,
     .responses = {{.schema = &document_list}},
     .scope = "documents:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "docs list"},
    {.id = "docs.create",
     .method = Method::post,
     .path = "/v1/documents",
     .summary = "Create a document",
     .parameters = create_parameters,
     .request = &document_create,
     .responses = {{.status = 201, .schema = &document}},
     .scope = "documents:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "docs create",
     .arguments = {{"TITLE", "title", Presence::optional}}},
    {.id = "docs.get",
     .path = "/v1/documents/{document_id}",
     .summary = "Read a document",
     .parameters = document_parameters,
     .responses = {{.schema = &document}},
     .scope = "documents:read",
     .role = Role::viewer,
     .command = "docs get",
     .arguments = {{"DOCUMENT", "document_id"}}},
    {.id = "docs.update",
     .method = Method::put,
     .path = "/v1/documents/{document_id}",
     .summary = "Replace a document's text, if its revision is the expected one",
     .parameters = document_parameters,
     .request = &document_update,
     .responses = {{.schema = &document}},
     .scope = "documents:write",
     .role = Role::editor,
     .retry = RetryClass::revision,
     .command = "docs update",
     .arguments = {{"DOCUMENT", "document_id"}},
     .errors = {"revision_conflict", "archived", "precondition_failed"}},
    {.id = "docs.archive",
     .method = Method::del,
     .path = "/v1/documents/{document_id}",
     .summary = "Archive a document",
     .parameters = document_parameters,
     .responses = {{.schema = &archived}},
     .scope = "documents:write",
     .role = Role::editor,
     .retry = RetryClass::repeatable,
     .command = "docs archive",
     .arguments = {{"DOCUMENT", "document_id"}},
     .errors = {"precondition_failed"}},
    {.id = "docs.share",
     .method = Method::post,
     .path = "/v1/documents/{document_id}/shares",
     .summary = "Share a document with a person or an agent",
     .parameters = document_parameters,
     .request = &share_request,
     .responses = {{.schema = &shares}},
     .scope = "documents:share",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "docs share",
     .arguments = {{"DOCUMENT", "document_id"}},
     .errors = {"archived"},
     .unseen = "ask those it is for whether their `ws docs list` shows it (the API lists no shares)"},
};
static_assert(well_formed(document_table));
constinit const Area document_operations = {"Documents", document_table};

}  // namespace ws::contract
