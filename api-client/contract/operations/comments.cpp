// Source: API document v1, "Comments", "Comment thread", "Comment entry", "Comment anchor", "Limits".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter document_parameters[] = {in_path("document_id", uuid())};
constexpr Parameter thread_parameters[] = {in_path("document_id", uuid()), in_path("thread_id", uuid())};

constexpr std::string_view status_values[] = {"open", "resolved", "needs_reanchor"};

constexpr Field anchor_fields[] = {
    with_default(optional("target_scope", string()), "\"body\""),
    nullable(optional("section_id", string())),
    optional("source_block_ids", array_of(text_item)),
    nullable(optional("anchor", string())),
    optional("heading_path", array_of(text_item)),
    nullable(optional("quote_hash", string())),
    nullable(optional("selection_preview", string())),
    nullable(optional("selection_range_json", free_object())),
    nullable(optional("table_selection_json", free_object())),
    nullable(optional("surface_selection_json", free_object())),
    nullable(optional("source_page_revision", integer())),
    optional("resolved_block_ids", array_of(text_item)),
    nullable(optional("resolved_via", string())),
    with_default(optional("needs_reanchor", boolean()), "false"),
};
constexpr Schema anchor = {.name = "PageCommentAnchor", .fields = anchor_fields};

constexpr Field entry_fields[] = {
    required("id", uuid()),
    required("thread_id", uuid()),
    required("author_kind", string()),
    nullable(optional("author_agent_id", uuid())),
    nullable(optional("actor_identity", free_object())),
    required("body", string()),
    optional("mentions", array_of(text_item), "handles"),
    optional("agent_mentions", array_of(free_item)),
    nullable(optional("entry_point", string())),
    nullable(optional("request_id", uuid())),
    nullable(optional("run_id", string())),
    nullable(optional("conversation_thread_id", uuid())),
    required("created_at", date_time()),
    required("updated_at", date_time()),
};
constexpr Schema entry = {.name = "PageCommentEntry", .fields = entry_fields};

constexpr Field thread_fields[] = {
    required("id", uuid()),
    required("page_id", uuid(), "the document"),
    required("workspace_id", uuid()),
    required("status", choice(status_values)),
    required("created_by_kind", string()),
    nullable(optional("created_by_user_id", uuid())),
    nullable(optional("created_by_agent_id", uuid())),
    required("created_at", date_time()),
    required("last_activity_at", date_time()),
    required("updated_at", date_time()),
    required("anchor", object(anchor)),
    optional("entries", array_of(item_of<entry>)),
};
constexpr Schema thread = {.name = "PageCommentThread", .fields = thread_fields};

constexpr Field listing_fields[] = {
    required("page_id", uuid()),
    required("workspace_id", uuid()),
    optional("threads", array_of(item_of<thread>)),
    with_default(optional("open_count", integer()), "0"),
    with_default(optional("resolved_count", integer()), "0"),
    with_default(optional("needs_reanchor_count", integer()), "0"),
    with_default(optional("thread_count", integer()), "0"),
    nullable(optional("latest_activity_at", date_time())),
    nullable(optional("watermark", string())),
};
constexpr Schema listing = {.name = "PageComments", .fields = listing_fields};

constexpr Field body = required("body", string(1, 12'000), "the comment; @handle mentions an agent or a person");
constexpr Field entry_point = nullable(optional("entry_point", string_at_most(64), "where it was written"));
constexpr Field start_new_chain = with_default(optional("start_new_chain", boolean()), "false");

constexpr Field add_fields[] = {
    body,
    optional("selection", free_object(), "the part of the document that the comment is about"),
    entry_point,
    start_new_chain,
};
constexpr Schema add_request = {.name = "CommentCreate", .fields = add_fields};
constexpr Field reply_fields[] = {
    body,
    entry_point,
    nullable(optional("source_event_id", uuid(), "the agent event that this answers")),
    secret("lease_token", nullable(optional("source_event_lease_token", string(20, 200), "of that event; a secret"))),
    start_new_chain,
};
constexpr Schema reply_request = {.name = "CommentReply", .fields = reply_fields};
constexpr Field set_status_fields[] = {required("status", choice(status_values)), entry_point};
constexpr Schema set_status_request = {.name = "CommentStatusUpdate", .fields = set_status_fields};

}  // namespace

constexpr Operation comment_table[] = {
    {.id = "comments.list",
     .path = "/v1/documents/{document_id}/comments",
     .summary = "List the comments on a document",
     .parameters = document_parameters,
     .responses = {{.schema = &listing}},
     .scope = "comments:read",
     .role = Role::viewer,
     .command = "comments list",
     .arguments = {{"DOCUMENT", "document_id"}}},
    {.id = "comments.add",
     .method = Method::post,
     .path = "/v1/documents/{document_id}/comments",
     .summary = "Comment on a document",
     .parameters = document_parameters,
     .request = &add_request,
     .responses = {{.status = 201, .schema = &thread}},
     .scope = "comments:write",
     .role = Role::commenter,
     .retry = RetryClass::unsafe,
     .command = "comments add",
     .arguments = {{"DOCUMENT", "document_id"}},
     .errors = {"archived"}},
    {.id = "comments.reply",
     .method = Method::post,
     .path = "/v1/documents/{document_id}/comments/{thread_id}/replies",
     .summary = "Reply to a comment thread",
     .parameters = thread_parameters,
     .request = &reply_request,
     .responses = {{.status = 201, .schema = &thread}},
     .scope = "comments:write",
     .role = Role::commenter,
     .retry = RetryClass::unsafe,
     .command = "comments reply",
     .arguments = {{"DOCUMENT", "document_id"}, {"THREAD", "thread_id"}},
     .errors = {"lease_lost", "archived"}},
    {.id = "comments.set_status",
     .method = Method::post,
     .path = "/v1/documents/{document_id}/comments/{thread_id}/status",
     .summary = "Resolve, reopen or reanchor a comment thread",
     .parameters = thread_parameters,
     .request = &set_status_request,
     .responses = {{.schema = &thread}},
     .scope = "comments:write",
     .role = Role::commenter,
     .retry = RetryClass::repeatable,
     .command = "comments resolve",
     .arguments = {{"DOCUMENT", "document_id"}, {"THREAD", "thread_id"}},
     .errors = {"archived"}},
};
static_assert(well_formed(comment_table));
constinit const Area comment_operations = {"Comments", comment_table};

}  // namespace ws::contract
