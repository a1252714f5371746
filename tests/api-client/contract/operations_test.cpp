// The table against the API document, `cli.md` and `decisions.md`: what stands here was copied from them by hand.
#include "api-client/contract/operations.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/errors.hpp"

using namespace ws::contract;

namespace {

struct Row {
  std::string_view id;
  std::string_view method;
  std::string_view path;
  int status;
  char retry;  ///< the letters of `cli.md`, "Retry classes"; T: polls
  std::string_view command;
  std::string_view scope;
  std::string_view role;
};

constexpr Row rows[] = {
    {"auth.start", "POST", "/v1/auth/device-authorizations", 201, 'N', "auth login", "", "none"},
    {"auth.token", "POST", "/v1/auth/device-token", 200, 'T', "auth login --resume", "", "none"},
    {"auth.revoke", "POST", "/v1/auth/credentials/current:revoke", 200, 'D', "auth logout", "", "none"},
    {"me.get", "GET", "/v1/me", 200, 'R', "whoami", "", "none"},
    {"workspaces.list", "GET", "/v1/workspaces", 200, 'R', "workspaces list", "", "none"},
    {"workspaces.create", "POST", "/v1/workspaces", 201, 'K', "workspaces create", "workspaces:write", "none"},
    {"projects.create", "POST", "/v1/projects", 201, 'K', "projects create", "workspaces:write", "editor"},
    {"nodes.move", "POST", "/v1/nodes/{node_id}:move", 200, 'K', "nodes move", "documents:write", "editor"},
    {"questions.list", "GET", "/v1/questions", 200, 'R', "questions list", "questions:read", "viewer"},
    {"questions.create", "POST", "/v1/questions", 200, 'K', "ask", "questions:write", "viewer"},
    {"questions.get", "GET", "/v1/questions/{question_id}", 200, 'R', "questions get", "questions:read", "viewer"},
    {"conversations.list", "GET", "/v1/conversations", 200, 'R', "conversations list", "questions:read", "viewer"},
    {"conversations.get",
     "GET",
     "/v1/conversations/{conversation_id}",
     200,
     'R',
     "conversations get",
     "questions:read",
     "viewer"},
    {"search.run", "POST", "/v1/search", 200, 'R', "search", "search:read", "viewer"},
    {"docs.list", "GET", "/v1/documents", 200, 'R', "docs list", "documents:read", "viewer"},
    {"docs.create", "POST", "/v1/documents", 201, 'K', "docs create", "documents:write", "editor"},
    {"docs.get", "GET", "/v1/documents/{document_id}", 200, 'R', "docs get", "documents:read", "viewer"},
    {"docs.update", "PUT", "/v1/documents/{document_id}", 200, 'P', "docs update", "documents:write", "editor"},
    {"docs.archive", "DELETE", "/v1/documents/{document_id}", 200, 'D', "docs archive", "documents:write", "editor"},
    {"docs.share", "POST", "/v1/documents/{document_id}/shares", 200, 'N', "docs share", "documents:share", "editor"},
    {"comments.list",
     "GET",
     "/v1/documents/{document_id}/comments",
     200,
     'R',
     "comments list",
     "comments:read",
     "viewer"},
    {"comments.add",
     "POST",
     "/v1/documents/{document_id}/comments",
     201,
     'N',
     "comments add",
     "comments:write",
     "commenter"},
    {"comments.reply",
     "POST",
     "/v1/documents/{document_id}/comments/{thread_id}/replies",
     201,
     'N',
     "comments reply",
     "comments:write",
     "commenter"},
    {"comments.set_status",
     "POST",
     "/v1/documents/{document_id}/comments/{thread_id}/status",
     200,
     'D',
     "comments resolve",
     "comments:write",
     "commenter"},
    {"files.upload_start", "POST", "/v1/files/uploads", 201, 'D', "files upload", "assets:write", "editor"},
    {"files.upload_finish", "POST", "/v1/files/uploads:finalize", 201, 'N', "files finalize", "assets:write", "editor"},
    {"files.list", "GET", "/v1/files", 200, 'R', "files list", "assets:read", "viewer"},
    {"files.get", "GET", "/v1/files/{asset_id}", 200, 'R', "files get", "assets:read", "viewer"},
    {"files.content", "GET", "/v1/files/{asset_id}/content", 200, 'R', "files download", "assets:read", "viewer"},
    {"files.organize", "POST", "/v1/files/{asset_id}:organize", 202, 'N', "files organize", "assets:write", "editor"},
    {"files.operation",
     "GET",
     "/v1/file-operations/{operation_id}",
     200,
     'R',
     "files operation",
     "assets:read",
     "viewer"},
    {"sync.source_create", "POST", "/v1/sync/sources", 201, 'N', "sync init", "sync:write", "editor"},
    {"sync.source_get", "GET", "/v1/sync/sources/{source_id}", 200, 'R', "sync status", "sync:read", "viewer"},
    {"sync.pull", "GET", "/v1/sync/sources/{source_id}/pull", 200, 'R', "sync pull", "sync:read", "viewer"},
    {"sync.plan", "POST", "/v1/sync/plan", 200, 'R', "sync plan", "sync:read", "viewer"},
    {"sync.commit", "POST", "/v1/sync/commit", 200, 'S', "sync commit", "sync:write", "editor"},
    {"sync.push", "POST", "/v1/sync/push", 200, 'S', "sync push", "sync:write", "editor"},
    {"sync.conflict_get", "GET", "/v1/sync/conflicts/{conflict_id}", 200, 'R', "sync conflicts", "sync:read", "viewer"},
    {"sync.conflict_resolve",
     "POST",
     "/v1/sync/conflicts/{conflict_id}:resolve",
     200,
     'P',
     "sync resolve",
     "sync:write",
     "editor"},
    {"agents.list", "GET", "/v1/agents", 200, 'R', "agents list", "agent_events:read", "viewer"},
    {"agents.create", "POST", "/v1/agents", 201, 'N', "agents create", "workspaces:write", "editor"},
    {"agents.update", "PATCH", "/v1/agents/{agent_id}", 200, 'D', "agents update", "workspaces:write", "none"},
    {"agents.rotate",
     "POST",
     "/v1/agents/{agent_id}/credentials:rotate",
     200,
     'N',
     "agents rotate",
     "workspaces:write",
     "none"},
    {"events.claim", "POST", "/v1/agent-events:claim", 200, 'N', "events claim", "agent_events:write", "none"},
    {"events.renew",
     "POST",
     "/v1/agent-events/{event_id}:renew",
     200,
     'L',
     "events renew",
     "agent_events:write",
     "none"},
    {"events.complete",
     "POST",
     "/v1/agent-events/{event_id}:complete",
     200,
     'L',
     "events complete",
     "agent_events:write",
     "none"},
    {"events.fail", "POST", "/v1/agent-events/{event_id}:fail", 200, 'L', "events fail", "agent_events:write", "none"},
    {"tests.catalog", "GET", "/v1/admin/tests/catalog", 200, 'R', "tests catalog", "tests:read", "admin"},
    {"tests.cases_list", "GET", "/v1/admin/tests/cases", 200, 'R', "tests cases list", "tests:read", "admin"},
    {"tests.case_get", "GET", "/v1/admin/tests/cases/{case_id}", 200, 'R', "tests cases get", "tests:read", "admin"},
    {"tests.suites_list", "GET", "/v1/admin/tests/suites", 200, 'R', "tests suites list", "tests:read", "admin"},
    {"tests.suite_get",
     "GET",
     "/v1/admin/tests/suites/{suite_id}",
     200,
     'R',
     "tests suites get",
     "tests:read",
     "admin"},
    {"tests.runs_list", "GET", "/v1/admin/tests/runs", 200, 'R', "tests runs list", "tests:read", "admin"},
    {"tests.run_launch", "POST", "/v1/admin/tests/runs", 202, 'K', "tests runs launch", "tests:run", "admin"},
    {"tests.run_get", "GET", "/v1/admin/tests/runs/{run_id}", 200, 'R', "tests runs get", "tests:read", "admin"},
    {"discovery.get", "GET", "/v1", 200, 'R', "discover", "", "none"},
};

char letter(RetryClass retry) {
  switch (retry) {
    case RetryClass::read: return 'R';
    case RetryClass::keyed: return 'K';
    case RetryClass::revision: return 'P';
    case RetryClass::sync: return 'S';
    case RetryClass::repeatable: return 'D';
    case RetryClass::lease: return 'L';
    case RetryClass::unsafe: return 'N';
    case RetryClass::poll: return 'T';
  }
  return '?';
}

std::string kind_word(const Type& type) {
  switch (type.kind) {
    case Kind::string: return "string";
    case Kind::integer: return "integer";
    case Kind::number: return "number";
    case Kind::boolean: return "boolean";
    case Kind::uuid: return "uuid";
    case Kind::date_time: return "time";
    case Kind::choice: {
      std::string text;
      for (const std::string_view value : type.values) text += (text.empty() ? "" : "/") + std::string(value);
      return text;
    }
    case Kind::array: return "[" + kind_word(*type.items) + "]";
    case Kind::object: return std::string(type.object->name);
    case Kind::free_object: return "object";
    case Kind::text_map: return "texts";
    case Kind::any: return "any";
  }
  return "";
}

/// The published fields of a resource on one line: `name kind`, ! required, ? or null, = default.
std::string published_shape(std::string_view name) {
  const auto found = std::ranges::find(schemas(), name, &Schema::name);
  if (found == schemas().end()) return "no such schema";
  std::string text;
  for (const Field& field : (*found)->fields) {
    if (field.source == Source::assumed) continue;
    if (!text.empty()) text += ", ";
    text += std::string(field.name) + " " + kind_word(field.type);
    if (field.presence == Presence::required) text += '!';
    if (field.null == Null::yes) text += '?';
    if (!field.fallback.empty()) text += "=" + std::string(field.fallback);
  }
  return text;
}

const std::string agent_shape =
    "id uuid!, object agent=\"agent\", workspace_id uuid!, owner_user_id uuid!, handle string!, display_name string!, "
    "avatar_url string!?, provider string!, status string!, permissions [string]!, last_seen_at time!?, "
    "created_at time!, updated_at time!";

}  // namespace

TEST_CASE("table: every operation, in the order of the API document", "[contract]") {
  REQUIRE(operations().size() == std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    const Operation& operation = *operations()[i];
    CAPTURE(row.id);
    CHECK(operation.id == row.id);
    CHECK(name(operation.method) == row.method);
    CHECK(operation.path == row.path);
    CHECK(operation.responses.front().status == row.status);
    CHECK(letter(operation.retry) == row.retry);
    CHECK(operation.command == row.command);
    CHECK(operation.scope == row.scope);
    CHECK(name(operation.role) == row.role);
    CHECK(find_operation(row.id) == &operation);
  }
}

TEST_CASE("table: no two operations share id, command, or method and path", "[contract]") {
  std::set<std::string_view> ids;
  std::set<std::string_view> commands;
  std::set<std::string> routes;
  for (const Operation* operation : operations()) {
    CHECK(ids.insert(operation->id).second);
    CHECK(commands.insert(operation->command).second);
    CHECK(routes.insert(std::string(name(operation->method)) + " " + std::string(operation->path)).second);
  }
  CHECK(find_operation("docs.burn") == nullptr);
  CHECK(find_operation("") == nullptr);
}

TEST_CASE("table: six operations take an Idempotency-Key, and no other", "[contract]") {
  std::set<std::string_view> keyed;
  for (const Operation* operation : operations()) {
    const bool has_header = find_parameter(*operation, "Idempotency-Key") != nullptr;
    CHECK(has_header == (operation->idempotency == Idempotency::key));
    if (has_header) keyed.insert(operation->id);
  }
  CHECK(
      keyed ==
      std::set<std::string_view>{
          "workspaces.create", "projects.create", "nodes.move", "questions.create", "docs.create", "tests.run_launch"});
}

TEST_CASE("table: two operations need no key", "[contract]") {
  for (const Operation* operation : operations()) {
    const bool is_device = operation->id == "auth.start" || operation->id == "auth.token";
    CAPTURE(operation->id);
    CHECK((operation->auth == Auth::none) == is_device);
  }
}

TEST_CASE("table: the 21 scopes that can be asked for", "[contract]") {
  const std::vector<std::string_view> scopes(all_scopes.begin(), all_scopes.end());
  CHECK(scopes == std::vector<std::string_view>{"questions:read",   "questions:write",    "search:read",
                                                "documents:read",   "documents:write",    "documents:share",
                                                "assets:read",      "assets:write",       "sync:read",
                                                "sync:write",       "workspaces:write",   "tests:read",
                                                "tests:run",        "admin_data:read",    "admin_support:read",
                                                "admin_costs:read", "admin_content:read", "comments:read",
                                                "comments:write",   "agent_events:read",  "agent_events:write"});
  for (const Operation* operation : operations()) {
    if (!operation->scope.empty()) CHECK(std::ranges::count(scopes, operation->scope) == 1);
  }
}

TEST_CASE("table: a question may be answered with 200 or 201", "[contract]") {
  const auto responses = find_operation("questions.create")->responses;
  REQUIRE(responses.size() == 2);
  CHECK(responses[0].status == 200);
  CHECK(responses[1].status == 201);
  CHECK(responses[0].schema == responses[1].schema);
}

TEST_CASE("table: published resources have exactly the document's fields", "[contract]") {
  CHECK(published_shape("Question") ==
        "id uuid, status string, conversation_id uuid, source_document_ids [uuid], artifacts [QuestionArtifact], "
        "links QuestionLinks");
  CHECK(published_shape("QuestionLinks") == "self string, conversation string");
  CHECK(published_shape("QuestionArtifact") == "kind string!, document_id uuid!, content_revision integer!");
  CHECK(published_shape("Conversation") ==
        "id uuid!, object conversation=\"conversation\", title string!, status string!, thread_id uuid!, "
        "question_count integer!, last_question_at time?, created_at time!, updated_at time!, links texts!");
  CHECK(published_shape("ConversationList") == "data [Conversation]!, next_cursor string?");
  CHECK(published_shape("PageCommentThread") ==
        "id uuid!, page_id uuid!, workspace_id uuid!, status open/resolved/needs_reanchor!, created_by_kind string!, "
        "created_by_user_id uuid?, created_by_agent_id uuid?, created_at time!, last_activity_at time!, "
        "updated_at time!, anchor PageCommentAnchor!, entries [PageCommentEntry]");
  CHECK(published_shape("PageCommentEntry") ==
        "id uuid!, thread_id uuid!, author_kind string!, author_agent_id uuid?, actor_identity object?, body string!, "
        "mentions [string], agent_mentions [object], entry_point string?, request_id uuid?, run_id string?, "
        "conversation_thread_id uuid?, created_at time!, updated_at time!");
  CHECK(published_shape("PageCommentAnchor") ==
        "target_scope string=\"body\", section_id string?, source_block_ids [string], anchor string?, "
        "heading_path [string], quote_hash string?, selection_preview string?, selection_range_json object?, "
        "table_selection_json object?, surface_selection_json object?, source_page_revision integer?, "
        "resolved_block_ids [string], resolved_via string?, needs_reanchor boolean=false");
  CHECK(published_shape("PageComments") ==
        "page_id uuid!, workspace_id uuid!, threads [PageCommentThread], open_count integer=0, "
        "resolved_count integer=0, needs_reanchor_count integer=0, thread_count integer=0, latest_activity_at time?, "
        "watermark string?");
  CHECK(published_shape("Agent") == agent_shape);
  CHECK(published_shape("AgentCreated") == "credential object!, " + agent_shape);
  CHECK(published_shape("AgentCredential") ==
        "agent_id uuid!, secret string!, display_prefix string!, scopes [string]!, created_at time!");
  CHECK(published_shape("AgentList") == "data [Agent]!");
  CHECK(published_shape("Asset") ==
        "id uuid!, object workspace_asset=\"workspace_asset\", node_id uuid!, title string!, parent_node_id uuid?, "
        "original_file_name string!, mime_type string!, size_bytes integer!, content_sha256 string?, status string!, "
        "sensitivity_status string!, sensitivity_reasons [object], ai_read_policy string!, processing_status string!, "
        "created_at time!, links texts!");
  CHECK(published_shape("AssetList") == "data [Asset]!");
  CHECK(published_shape("AssetOrganizationOperation") ==
        "operation_id uuid!, asset_id uuid!, status string!, phase string!, created_at time!, updated_at time!, "
        "links texts!");
  CHECK(published_shape("Upload") ==
        "upload_id uuid!, blob_name string!, upload_url string!, upload_method PUT!, upload_headers texts!, "
        "expires_at time!");
  CHECK(published_shape("DeviceAuthorization") ==
        "authorization_id uuid!, device_code string!, user_code string!, verification_uri string!, "
        "verification_uri_complete string!, expires_in integer!, interval integer!");
  CHECK(published_shape("DeviceToken") ==
        "secret string!, key_id uuid!, audience user/workspace/platform_admin!, scopes [string]!, expires_at time!?, "
        "created_at time!, workspace_id uuid?, workspace_name string?");
  CHECK(published_shape("CredentialRevoked") == "ok boolean=true, key_id uuid!, revoked_at time!");
  CHECK(published_shape("AgentEventClaim") == "event AgentEvent!?, retry_after_seconds integer=5");
}

TEST_CASE("table: published requests have the document's fields, defaults and nulls", "[contract]") {
  CHECK(published_shape("CommentCreate") ==
        "body string!, selection object, entry_point string?, start_new_chain boolean=false");
  CHECK(published_shape("CommentReply") ==
        "body string!, entry_point string?, source_event_id uuid?, source_event_lease_token string?, "
        "start_new_chain boolean=false");
  CHECK(published_shape("CommentStatusUpdate") == "status open/resolved/needs_reanchor!, entry_point string?");
  CHECK(published_shape("UploadRequest") ==
        "file_name string!, mime_type string=\"application/octet-stream\", size_bytes integer!");
  CHECK(published_shape("UploadFinalize") ==
        "upload_id uuid!, blob_name string!, file_name string!, mime_type string=\"application/octet-stream\", "
        "size_bytes integer!");
  CHECK(published_shape("AssetOrganizeRequest") == "instruction string!, target_root_node_id uuid?");
  CHECK(published_shape("AgentCreate") ==
        "handle string!, display_name string!, avatar_url string?, "
        "provider <agent_product_1>/<agent_product_2>/custom=\"custom\", permissions [read/comment/edit]");
  CHECK(published_shape("AgentUpdate") ==
        "display_name string?, avatar_url string?, status active/paused/revoked?, permissions [read/comment/edit]?");
  CHECK(published_shape("AgentEventClaimRequest") ==
        "worker_id string!, lease_seconds integer=300, wait_seconds integer=0");
  CHECK(published_shape("AgentEventRenew") == "lease_token string!, lease_seconds integer=300");
  CHECK(published_shape("AgentEventComplete") == "lease_token string!, result object!");
  CHECK(published_shape("AgentEventFail") == "lease_token string!, error string!, retryable boolean=true");
  CHECK(published_shape("DeviceTokenRequest") == "device_code string!");
  CHECK(published_shape("QuestionCreate") == "prompt string!, sources [workspace/memory]!");
  CHECK(published_shape("DocumentUpdate") == "expected_content_revision integer!");
}

TEST_CASE("table: what the document does not show is marked assumed", "[contract]") {
  for (const char* schema : {"Document",     "DocumentList", "DocumentArchived", "DocumentShares", "SearchResults",
                             "QuestionList", "Workspace",    "Project",          "Node",           "Identity",
                             "SyncSource",   "SyncPull",     "SyncPlan",         "SyncPush",       "SyncCommit",
                             "SyncConflict", "TestCase",     "TestSuite",        "TestRun",        "TestRunLaunch",
                             "Discovery",    "AgentEvent",   "DocumentCreate",   "WorkspaceCreate"}) {
    CAPTURE(schema);
    CHECK(published_shape(schema).empty());
  }
  for (const Parameter& parameter : find_operation("sync.pull")->parameters) {
    CHECK((parameter.field.source == Source::assumed) == (parameter.in == In::query));
  }
}

TEST_CASE("table: every schema that is reached has a name of its own, and is found once", "[contract]") {
  std::set<std::string_view> names;
  for (const Schema* schema : schemas()) {
    CAPTURE(schema->name);
    CHECK(names.insert(schema->name).second);
    for (const Schema* reached : reached_from(*schema)) CHECK(std::ranges::count(schemas(), reached) == 1);
  }
  for (const Operation* operation : operations()) {
    if (operation->request != nullptr) CHECK(names.contains(operation->request->name));
  }
  CHECK(names.size() > 60);
}

TEST_CASE("table: the errors of an operation are those of its kind and its own", "[contract]") {
  const auto codes = [](std::string_view id) {
    std::vector<std::string> found;
    for (const ErrorCode* error : errors_of(*find_operation(id))) found.emplace_back(error->code);
    return found;
  };
  CHECK(codes("discovery.get") == std::vector<std::string>{"missing_credential",
                                                           "invalid_credential",
                                                           "expired_credential",
                                                           "revoked_credential",
                                                           "rate_limited",
                                                           "internal_error",
                                                           "unavailable"});
  CHECK(std::ranges::count(codes("workspaces.list"), "agent_paused") == 1);
  const std::vector<std::string> update = codes("docs.update");
  for (const char* code : {"missing_scope", "insufficient_role", "not_found", "archived"}) {
    CAPTURE(code);
    CHECK(std::ranges::count(update, code) == 1);
  }
  CHECK(std::ranges::count(update, "revision_conflict") == 2);  // 409 or 412
  CHECK(std::ranges::count(update, "idempotency_in_flight") == 0);
  const std::vector<std::string> token = codes("auth.token");
  CHECK(std::ranges::count(token, "slow_down") == 2);  // 400 or 428
  CHECK(std::ranges::count(token, "missing_credential") == 0);
}
