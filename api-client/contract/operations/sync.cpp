// Source: API document v1, "Local Markdown sync"; all bodies and shapes from `decisions.md`, "Local Markdown sync".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter source_parameters[] = {in_path("source_id", uuid())};
constexpr Parameter pull_parameters[] = {
    in_path("source_id", uuid()),
    in_query(assumed(with_default(optional("since_revision", integer_at_least(0), "only what changed after it"), "0"))),
    in_query(assumed(with_default(optional("limit", integer(1, 1000), "at most this many"), "500"))),
    in_query(assumed(optional("cursor", string(), "next_cursor of the page before"))),
    in_query(assumed(with_default(optional("include_content", boolean(), "the texts too"), "true"))),
};
constexpr Parameter conflict_parameters[] = {in_path("conflict_id", uuid())};

// Fields shared by several of the eight operations. The service checks paths one by one, so that one bad path does not
// fail the whole request.
constexpr Field source_id = required("source_id", uuid());
constexpr Field path = required("path", string(), "relative, / between its parts, NFC, at most 1024 bytes");
constexpr Field client_id = required("client_id", string(1, 200), "which synced folder this is");
constexpr Field previous_path = nullable(optional("previous_path", string(), "where it was before a move"));
constexpr Field content_revision = required("content_revision", integer());
constexpr Field content_sha256 = required("content_sha256", string(), "hash of the exact bytes, lower-case hex");
constexpr Type sent_sha256 = string(64, 64);

constexpr auto conflict_name_fields = all_assumed({
    required("id", uuid()),
    required("path", string()),
    required("kind", string(), "revision, hash, edit_delete, delete_edit or path"),
});
constexpr Schema conflict_name = {
    .name = "SyncConflictName", .fields = conflict_name_fields, .source = Source::assumed};

constexpr auto create_fields = all_assumed({
    required("name", string(1, 200)),
    nullable(optional("root_node_id", uuid(), "the node to sync; not together with project_id")),
    nullable(optional("project_id", uuid(), "the Project to sync; neither: a new empty Page")),
});
constexpr Schema source_create = {.name = "SyncSourceCreate", .fields = create_fields, .source = Source::assumed};
constexpr std::string_view source_object[] = {"sync_source"};
constexpr auto source_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(source_object)), "\"sync_source\""),
    required("name", string()),
    required("workspace_id", uuid()),
    nullable(required("project_id", uuid())),
    required("root_node_id", uuid()),
    required("revision", integer(), "rises by one with every change to any of its documents"),
    required("document_count", integer()),
    required("open_conflicts", array_of(item_of<conflict_name>)),
    nullable(required("last_committed_at", date_time())),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
});
constexpr Schema source = {.name = "SyncSource", .fields = source_fields, .source = Source::assumed};

constexpr auto pull_item_fields = all_assumed({
    path,
    required("document_id", uuid()),
    required("node_id", uuid()),
    content_revision,
    content_sha256,
    required("size_bytes", integer()),
    required("title", string()),
    nullable(optional("content", string(), "Markdown; null without include_content and where deleted")),
    required("deleted", boolean(), "deleted, or moved out of the source"),
    required("updated_by", object(actor)),
    required("updated_at", date_time()),
});
constexpr Schema pull_item = {.name = "SyncPullItem", .fields = pull_item_fields, .source = Source::assumed};
constexpr auto pull_fields = all_assumed({
    source_id,
    required("revision", integer()),
    required("since_revision", integer()),
    required("data", array_of(item_of<pull_item>)),
    next_cursor,
});
constexpr Schema pull = {.name = "SyncPull", .fields = pull_fields, .source = Source::assumed};

constexpr auto plan_entry_fields = all_assumed({
    path,
    nullable(optional("document_id", uuid())),
    nullable(required("content_sha256", sent_sha256, "null: deleted locally")),
    nullable(optional("size_bytes", integer_at_least(0))),
    nullable(optional("base_content_revision", integer_at_least(1), "the revision that the local text was made from")),
    previous_path,
});
constexpr Schema plan_entry = {.name = "SyncPlanEntry", .fields = plan_entry_fields, .source = Source::assumed};
constexpr auto plan_request_fields = all_assumed({
    source_id,
    required("base_revision", integer_at_least(0), "the source's revision that the folder was last in sync with"),
    client_id,
    required("complete", boolean(), "false: the entries are only a part, or only those that differ from the base"),
    required("entries", array_of(item_of<plan_entry>, 0, 10'000)),
});
constexpr Schema plan_request = {.name = "SyncPlanRequest", .fields = plan_request_fields, .source = Source::assumed};
constexpr auto plan_action_fields = all_assumed({
    path,
    required("action",
             string(),
             "push_create, push_update, push_delete, push_move, pull_create, pull_update, pull_delete, pull_move, "
             "conflict or unchanged"),
    required("reason", string()),
    nullable(required("document_id", uuid())),
    nullable(content_revision),
    nullable(content_sha256),
    previous_path,
    nullable(required("conflict_id", uuid())),
});
constexpr Schema plan_action = {.name = "SyncPlanAction", .fields = plan_action_fields, .source = Source::assumed};
constexpr auto plan_fields = all_assumed({
    required("plan_id", uuid()),
    source_id,
    required("revision", integer()),
    required("base_revision", integer()),
    required("actions", array_of(item_of<plan_action>)),
    required("summary", free_object(), "how many of each action"),
    required("expires_at", date_time()),
});
constexpr Schema plan = {.name = "SyncPlan", .fields = plan_fields, .source = Source::assumed};

constexpr std::string_view push_actions[] = {"push_create", "push_update", "push_delete", "push_move", "conflict"};
constexpr auto push_item_fields = all_assumed({
    path,
    required("action", choice(push_actions)),
    nullable(optional("document_id", uuid())),
    nullable(optional("content", string(), "Markdown; null where it is deleted or only moved")),
    nullable(optional("content_sha256", sent_sha256)),
    nullable(optional("expected_content_revision", integer_at_least(1))),
    previous_path,
});
constexpr Schema push_item = {.name = "SyncPushItem", .fields = push_item_fields, .source = Source::assumed};
constexpr auto push_request_fields = all_assumed({
    source_id,
    required("plan_id", uuid()),
    required("items", array_of(item_of<push_item>, 0, 500)),
});
constexpr Schema push_request = {.name = "SyncPushRequest", .fields = push_request_fields, .source = Source::assumed};
constexpr auto accepted_fields = all_assumed({path, nullable(content_sha256)});
constexpr Schema accepted = {.name = "SyncAccepted", .fields = accepted_fields, .source = Source::assumed};
constexpr auto rejected_fields = all_assumed({
    path,
    required("code", string(), "hash_mismatch and others"),
    required("message", string()),
});
constexpr Schema rejected = {.name = "SyncRejected", .fields = rejected_fields, .source = Source::assumed};
constexpr auto push_fields = all_assumed({
    required("push_id", uuid()),
    source_id,
    required("plan_id", uuid()),
    required("accepted", array_of(item_of<accepted>)),
    required("rejected", array_of(item_of<rejected>)),
    required("expires_at", date_time()),
});
constexpr Schema push = {.name = "SyncPush", .fields = push_fields, .source = Source::assumed};

constexpr auto commit_request_fields = all_assumed({
    source_id,
    required("plan_id", uuid()),
    required("push_ids", array_of(uuid_item)),
    required(
        "expected_revision", integer_at_least(0), "for information; a newer revision of the source is not an error"),
    client_id,
    optional("message", string_at_most(500)),
});
constexpr Schema commit_request = {
    .name = "SyncCommitRequest", .fields = commit_request_fields, .source = Source::assumed};
constexpr auto applied_fields = all_assumed({
    path,
    required("action", string()),
    required("document_id", uuid()),
    content_revision,
    nullable(content_sha256),
});
constexpr Schema applied = {.name = "SyncApplied", .fields = applied_fields, .source = Source::assumed};
constexpr auto commit_fields = all_assumed({
    required("commit_id", uuid()),
    source_id,
    required("plan_id", uuid()),
    required("revision", integer()),
    required("status", string(), "committed or partly_conflicted"),
    required("applied", array_of(item_of<applied>)),
    required("conflicts", array_of(item_of<conflict_name>)),
});
constexpr Schema commit = {.name = "SyncCommit", .fields = commit_fields, .source = Source::assumed};

constexpr auto base_side_fields = all_assumed({
    content_revision,
    content_sha256,
    nullable(optional("content", string())),
});
constexpr Schema base_side = {.name = "SyncConflictBase", .fields = base_side_fields, .source = Source::assumed};
constexpr auto local_side_fields = all_assumed({
    nullable(content_sha256),
    nullable(optional("content", string())),
    required("deleted", boolean()),
    nullable(required("path", string())),
});
constexpr Schema local_side = {.name = "SyncConflictLocal", .fields = local_side_fields, .source = Source::assumed};
constexpr auto remote_side_fields = all_assumed({
    nullable(required("document_id", uuid())),
    nullable(content_revision),
    nullable(content_sha256),
    nullable(optional("content", string())),
    required("deleted", boolean()),
    nullable(required("path", string())),
    nullable(required("updated_by", object(actor))),
    nullable(required("updated_at", date_time())),
});
constexpr Schema remote_side = {.name = "SyncConflictRemote", .fields = remote_side_fields, .source = Source::assumed};
constexpr auto result_fields = all_assumed({
    required("document_id", uuid()),
    content_revision,
    content_sha256,
    path,
});
constexpr Schema result = {.name = "SyncConflictResult", .fields = result_fields, .source = Source::assumed};
constexpr std::string_view conflict_object[] = {"sync_conflict"};
constexpr auto conflict_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(conflict_object)), "\"sync_conflict\""),
    source_id,
    nullable(required("client_id", string())),
    required("path", string()),
    required("kind", string(), "revision, hash, edit_delete, delete_edit or path"),
    required("status", string(), "open or resolved"),
    nullable(required("base", object(base_side))),
    required("local", object(local_side)),
    required("remote", object(remote_side)),
    nullable(required("resolution", string(), "keep_local, keep_remote, merged or keep_both")),
    required("created_at", date_time()),
    nullable(required("resolved_at", date_time())),
    nullable(optional("result", object(result), "what a resolution made")),
    links,
});
constexpr Schema conflict = {.name = "SyncConflict", .fields = conflict_fields, .source = Source::assumed};

constexpr std::string_view resolutions[] = {"keep_local", "keep_remote", "merged", "keep_both"};
constexpr auto resolve_fields = all_assumed({
    required("resolution", choice(resolutions)),
    optional("content", markdown_content, "the text, with merged"),
    optional("content_sha256", sent_sha256),
    optional("path", string()),
    optional("path_for_local_copy", string(), "where the local text goes, with keep_both"),
    nullable(required("expected_content_revision", integer_at_least(1), "the remote's; null: it has none")),
});
constexpr Schema resolve_request = {.name = "SyncConflictResolve", .fields = resolve_fields, .source = Source::assumed};

}  // namespace

constexpr Operation sync_table[] = {
    {.id = "sync.source_create",
     .method = Method::post,
     .path = "/v1/sync/sources",
     .summary = "Make a sync source",
     .request = &source_create,
     .responses = {{.status = 201, .schema = &source}},
     .scope = "sync:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "sync init"},
    {.id = "sync.source_get",
     .path = "/v1/sync/sources/{source_id}",
     .summary = "Show a sync source and its open conflicts",
     .parameters = source_parameters,
     .responses = {{.schema = &source}},
     .scope = "sync:read",
     .role = Role::viewer,
     .command = "sync status"},
    {.id = "sync.pull",
     .path = "/v1/sync/sources/{source_id}/pull",
     .summary = "Read what the source holds, or what changed in it",
     .parameters = pull_parameters,
     .responses = {{.schema = &pull}},
     .scope = "sync:read",
     .role = Role::viewer,
     .paging = Paging::cursor,
     .command = "sync pull"},
    {.id = "sync.plan",
     .method = Method::post,
     .path = "/v1/sync/plan",
     .summary = "Plan what a sync would do; changes nothing",
     .request = &plan_request,
     .responses = {{.schema = &plan}},
     .scope = "sync:read",
     .role = Role::viewer,
     .command = "sync plan"},
    {.id = "sync.commit",
     .method = Method::post,
     .path = "/v1/sync/commit",
     .summary = "Publish what was staged, in one transaction",
     .request = &commit_request,
     .responses = {{.schema = &commit}},
     .scope = "sync:write",
     .role = Role::editor,
     .retry = RetryClass::sync,
     .command = "sync commit",
     .errors = {"plan_expired", "sync_conflict"}},
    {.id = "sync.push",
     .method = Method::post,
     .path = "/v1/sync/push",
     .summary = "Stage texts for a commit; nobody sees them yet",
     .request = &push_request,
     .responses = {{.schema = &push}},
     .scope = "sync:write",
     .role = Role::editor,
     .retry = RetryClass::sync,
     .command = "sync push",
     .errors = {"plan_expired"}},
    {.id = "sync.conflict_get",
     .path = "/v1/sync/conflicts/{conflict_id}",
     .summary = "Show a conflict with its three texts",
     .parameters = conflict_parameters,
     .responses = {{.schema = &conflict}},
     .scope = "sync:read",
     .role = Role::viewer,
     .command = "sync conflicts"},
    {.id = "sync.conflict_resolve",
     .method = Method::post,
     .path = "/v1/sync/conflicts/{conflict_id}:resolve",
     .summary = "Resolve a conflict",
     .parameters = conflict_parameters,
     .request = &resolve_request,
     .responses = {{.schema = &conflict}},
     .scope = "sync:write",
     .role = Role::editor,
     .retry = RetryClass::revision,
     .command = "sync resolve",
     .errors = {"conflict_resolved", "revision_conflict"}},
};
static_assert(well_formed(sync_table));
constinit const Area sync_operations = {"Local Markdown sync", sync_table};

}  // namespace ws::contract
