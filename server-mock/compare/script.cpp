#include "server-mock/compare/script.hpp"

namespace ws::mock::compare {
namespace {

constexpr Phase writing = Phase::writing;

/// An id that does not exist.
#define WS_UNKNOWN_ID "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b"

/// A request that may change something.
constexpr Step writes(std::string_view request,
                      std::string_view body = {},
                      std::string_view captures = {},
                      std::string_view headers = {},
                      WithKey key = WithKey::right) {
  return {.phase = writing, .request = request, .body = body, .captures = captures, .headers = headers, .key = key};
}

constexpr Step steps[] = {
    // Identity and discovery.
    {.request = "GET /v1"},
    {.request = "GET /v1/me"},
    {.request = "GET /v1/workspaces"},
    {.request = "GET /v1/documents?limit=2", .captures = "old=/data/0/id documents_cursor=/next_cursor"},
    {.request = "GET /v1/documents?limit=2&cursor={documents_cursor}"},
    {.request = "GET /v1/documents/{old}"},
    {.request = "GET /v1/documents/{old}/comments"},
    {.request = "GET /v1/questions?limit=2", .captures = "old_question=/data/0/id questions_cursor=/next_cursor"},
    {.request = "GET /v1/questions?limit=2&cursor={questions_cursor}"},
    {.request = "GET /v1/questions/{old_question}"},
    {.request = "GET /v1/conversations?limit=2", .captures = "old_conversation=/data/0/id"},
    {.request = "GET /v1/conversations/{old_conversation}"},
    {.request = "POST /v1/search", .body = R"({"query": "notes", "limit": 3})"},
    {.request = "GET /v1/files?limit=2", .captures = "old_file=/data/0/id"},
    {.request = "GET /v1/files/{old_file}"},
    {.request = "GET /v1/agents"},
    {.request = "GET /v1/agents?include_revoked=true"},
    {.request = "GET /v1/admin/tests/catalog"},
    {.request = "GET /v1/admin/tests/cases?limit=2", .captures = "case=/data/0/case_id cases_cursor=/next_cursor"},
    {.request = "GET /v1/admin/tests/cases?limit=2&cursor={cases_cursor}"},
    {.request = "GET /v1/admin/tests/cases/{case}"},
    {.request = "GET /v1/admin/tests/suites?limit=2", .captures = "suite=/data/0/suite_id"},
    {.request = "GET /v1/admin/tests/suites/{suite}"},
    {.request = "GET /v1/admin/tests/runs?limit=2", .captures = "old_run=/data/0/id"},
    {.request = "GET /v1/admin/tests/runs/{old_run}"},
    // Limits of query parameters: published, so one side of the limit is rejected and the other accepted.
    {.request = "GET /v1/documents?limit=0"},
    {.request = "GET /v1/documents?limit=1"},
    {.request = "GET /v1/documents?limit=100"},
    {.request = "GET /v1/documents?limit=101"},
    {.request = "GET /v1/documents?limit=x"},
    {.request = "GET /v1/questions?limit=0"},
    {.request = "GET /v1/questions?limit=100"},
    {.request = "GET /v1/questions?limit=101"},
    {.request = "GET /v1/conversations?limit=100"},
    {.request = "GET /v1/conversations?limit=101"},
    {.request = "GET /v1/files?limit=0"},
    {.request = "GET /v1/files?limit=100"},
    {.request = "GET /v1/files?limit=101"},
    {.request = "GET /v1/agents?include_revoked=maybe"},
    {.request = "GET /v1/admin/tests/cases?limit=100"},
    {.request = "GET /v1/admin/tests/cases?limit=101"},
    {.request = "GET /v1/admin/tests/suites?limit=101"},
    {.request = "GET /v1/admin/tests/runs?limit=101"},
    {.request = "GET /v1/admin/tests/runs?selection_kind=both"},
    // Missing objects and malformed ids.
    {.request = "GET /v1/documents/" WS_UNKNOWN_ID},
    {.request = "GET /v1/documents/" WS_UNKNOWN_ID "/comments"},
    {.request = "GET /v1/questions/" WS_UNKNOWN_ID},
    {.request = "GET /v1/conversations/" WS_UNKNOWN_ID},
    {.request = "GET /v1/files/" WS_UNKNOWN_ID},
    {.request = "GET /v1/files/" WS_UNKNOWN_ID "/content"},
    {.request = "GET /v1/file-operations/" WS_UNKNOWN_ID},
    {.request = "GET /v1/sync/sources/" WS_UNKNOWN_ID},
    {.request = "GET /v1/sync/conflicts/" WS_UNKNOWN_ID},
    {.request = "GET /v1/admin/tests/runs/" WS_UNKNOWN_ID},
    {.request = "GET /v1/documents/no-id"},
    {.request = "GET /v1/questions/no-id"},
    // Without a key, with a wrong key, and which of two errors is reported.
    {.request = "GET /v1/me", .key = WithKey::none},
    {.request = "GET /v1/me", .key = WithKey::wrong},
    {.request = "GET /v1/documents?limit=0", .key = WithKey::none},
    {.request = "GET /v1/questions?limit=0", .key = WithKey::none},

    // Steps from here on create objects.
    writes("POST /v1/workspaces", R"({"name": "ws-mock diff {mark}"})"),
    writes(
        "POST /v1/projects", R"({"title": "ws-mock diff {mark}"})", "project=/id", "Idempotency-Key: {mark}-project"),
    writes(
        "POST /v1/documents",
        R"({"title": "ws-mock diff one {mark}", "content": "# One\n\nThe tide {mark} is high at noon.\n", "project_id": "{project}"})",
        "one=/id one_node=/node_id",
        "Idempotency-Key: {mark}-one"),
    writes(
        "POST /v1/documents",
        R"({"title": "ws-mock diff one {mark}", "content": "# One\n\nThe tide {mark} is high at noon.\n", "project_id": "{project}"})",
        "",
        "Idempotency-Key: {mark}-one"),
    writes("POST /v1/documents",
           R"({"title": "other", "content": "", "project_id": "{project}"})",
           "other=/id",
           "Idempotency-Key: {mark}-one"),
    writes("POST /v1/documents",
           R"({"title": "ws-mock diff two {mark}", "content": "# Two\n", "project_id": "{project}"})",
           "two=/id two_node=/node_id",
           "Idempotency-Key: {mark}-two"),
    writes("POST /v1/documents",
           R"({"title": "ws-mock diff three {mark}", "content": "# Three\n", "project_id": "{project}"})",
           "three=/id three_node=/node_id"),
    writes("POST /v1/documents", R"({"content": "no title", "project_id": "{project}"})"),
    writes("POST /v1/documents", R"({"title": 5, "content": "", "project_id": "{project}"})"),
    writes("POST /v1/documents", R"({"title": "{x301}", "content": "", "project_id": "{project}"})"),
    writes("POST /v1/documents", R"({"title": "{x300}", "content": "", "project_id": "{project}"})"),
    {.phase = writing, .request = "GET /v1/documents/{one}"},
    {.phase = writing, .request = "GET /v1/documents/{one}", .headers = "If-None-Match: \"1\""},
    writes("PUT /v1/documents/{one}",
           R"({"content": "# One\n\nThe tide {mark} is high at one.\n", "expected_content_revision": 1})"),
    writes("PUT /v1/documents/{one}", R"({"content": "# Lost\n", "expected_content_revision": 1})"),
    writes("PUT /v1/documents/{one}", R"({"content": "# Lost\n"})"),
    writes("PUT /v1/documents/{one}", R"({"content": "# Lost\n", "expected_content_revision": 0})"),
    {.phase = writing, .request = "GET /v1/documents/{one}"},
    {.phase = writing, .request = "GET /v1/documents?limit=3"},
    {.phase = writing, .request = "GET /v1/documents?limit=1", .captures = "made_cursor=/next_cursor"},
    {.phase = writing,
     .request = "GET /v1/documents?limit=1&cursor={made_cursor}",
     .captures = "made_cursor2=/next_cursor"},
    {.phase = writing, .request = "GET /v1/documents?limit=1&cursor={made_cursor2}"},
    writes("POST /v1/nodes/{two_node}:move", R"({"parent_node_id": "{three_node}"})"),
    writes("POST /v1/search", R"({"query": "tide {mark}", "project_id": "{project}"})"),
    writes("POST /v1/search", R"({"query": "tide", "limit": 101})"),
    writes("POST /v1/search", R"({"query": ""})"),
    // Comments.
    writes("POST /v1/documents/{one}/comments", R"({"body": "Is it? {mark}"})", "thread=/id"),
    writes("POST /v1/documents/{one}/comments/{thread}/replies", R"({"body": "It is."})"),
    writes("POST /v1/documents/{one}/comments/{thread}/status", R"({"status": "resolved"})"),
    writes("POST /v1/documents/{one}/comments/{thread}/status", R"({"status": "gone"})"),
    writes("POST /v1/documents/{one}/comments", R"({"body": "A second. {mark}"})"),
    writes("POST /v1/documents/{one}/comments", R"({"body": ""})"),
    writes("POST /v1/documents/{one}/comments", R"({"body": "{x12000}"})"),
    writes("POST /v1/documents/{one}/comments", R"({"body": "{x12001}"})"),
    writes("POST /v1/documents/{one}/comments", R"({"body": "x", "entry_point": "{x65}"})"),
    {.phase = writing, .request = "GET /v1/documents/{one}/comments"},
    // Events: only the one that an agent of this run gets; it is claimed with the agent's own key.
    writes("POST /v1/agents",
           R"({"handle": "ws-mock-diff-{mark}", "display_name": "ws-mock diff", "permissions": ["read"]})",
           "agent=/id agent_key=/credential/secret"),
    writes("POST /v1/documents/{one}/comments", R"({"body": "@ws-mock-diff-{mark} please read this."})"),
    writes("POST /v1/agent-events:claim",
           R"({"worker_id": "ws-mock diff", "lease_seconds": 60})",
           "event=/event/id lease=/event/lease_token",
           "Authorization: Bearer {agent_key}",
           WithKey::none),
    writes("POST /v1/agent-events/{event}:renew",
           R"({"lease_token": "{lease}", "lease_seconds": 60})",
           "",
           "Authorization: Bearer {agent_key}",
           WithKey::none),
    writes("POST /v1/agent-events/{event}:complete",
           R"({"lease_token": "{lease}", "result": {}})",
           "",
           "Authorization: Bearer {agent_key}",
           WithKey::none),
    writes("POST /v1/agent-events:claim", R"({"worker_id": "", "wait_seconds": 0})"),
    writes("POST /v1/agent-events:claim", R"({"worker_id": "w", "lease_seconds": 29})"),
    writes("POST /v1/agent-events:claim", R"({"worker_id": "w", "wait_seconds": 31})"),
    writes("POST /v1/files/uploads", R"({"file_name": "{x256}", "size_bytes": 1})"),
    writes("POST /v1/files/uploads", R"({"file_name": "a.txt", "size_bytes": 0})"),
    writes("POST /v1/files/uploads", R"({"file_name": "a.txt", "size_bytes": 104857601})"),
    // A question. Its answer may take a while; the document that it creates is archived at the end.
    writes("POST /v1/questions",
           R"({"prompt": "When is the tide {mark} high?", "sources": ["workspace"]})",
           "question=/id conversation=/conversation_id",
           "Idempotency-Key: {mark}-question"),
    writes("POST /v1/questions", R"({"prompt": "x"})"),
    {.phase = writing, .request = "GET /v1/conversations/{conversation}"},
    // Local Markdown sync: a source on the Project, a document created through it, and one conflict.
    writes("POST /v1/sync/sources", R"({"name": "ws-mock diff {mark}", "project_id": "{project}"})", "source=/id"),
    {.phase = writing, .request = "GET /v1/sync/sources/{source}", .captures = "revision=/revision"},
    {.phase = writing, .request = "GET /v1/sync/sources/{source}/pull?limit=1", .captures = "pull_cursor=/next_cursor"},
    {.phase = writing, .request = "GET /v1/sync/sources/{source}/pull?limit=1&cursor={pull_cursor}"},
    {.phase = writing, .request = "GET /v1/sync/sources/{source}/pull"},
    writes(
        "POST /v1/sync/plan",
        R"({"source_id": "{source}", "base_revision": 0, "client_id": "ws-mock diff", "complete": false, "entries": [{"path": "probe.md", "document_id": null, "content_sha256": "{sha_mine}", "size_bytes": 7, "base_content_revision": null, "previous_path": null}]})",
        "plan=/plan_id"),
    writes(
        "POST /v1/sync/push",
        R"({"source_id": "{source}", "plan_id": "{plan}", "items": [{"path": "probe.md", "action": "push_create", "document_id": null, "content": "# Mine\n", "content_sha256": "{sha_mine}", "expected_content_revision": null, "previous_path": null}]})",
        "push=/push_id"),
    writes(
        "POST /v1/sync/commit",
        R"({"source_id": "{source}", "plan_id": "{plan}", "push_ids": ["{push}"], "expected_revision": {revision}, "client_id": "ws-mock diff"})",
        "synced=/applied/0/document_id"),
    writes("PUT /v1/documents/{synced}", R"({"content": "# Theirs\n", "expected_content_revision": 1})"),
    writes(
        "POST /v1/sync/plan",
        R"({"source_id": "{source}", "base_revision": {revision}, "client_id": "ws-mock diff", "complete": false, "entries": [{"path": "probe.md", "document_id": "{synced}", "content_sha256": "{sha_ours}", "size_bytes": 7, "base_content_revision": 1, "previous_path": null}]})",
        "plan2=/plan_id"),
    writes(
        "POST /v1/sync/push",
        R"({"source_id": "{source}", "plan_id": "{plan2}", "items": [{"path": "probe.md", "action": "push_update", "document_id": "{synced}", "content": "# Ours\n", "content_sha256": "{sha_ours}", "expected_content_revision": 1, "previous_path": null}]})",
        "push2=/push_id"),
    writes(
        "POST /v1/sync/commit",
        R"({"source_id": "{source}", "plan_id": "{plan2}", "push_ids": ["{push2}"], "expected_revision": {revision}, "client_id": "ws-mock diff"})",
        "conflict=/conflicts/0/id"),
    {.phase = writing, .request = "GET /v1/sync/conflicts/{conflict}"},
    writes("POST /v1/sync/conflicts/{conflict}:resolve",
           R"({"resolution": "keep_remote", "expected_content_revision": 2})"),
    // A login that is never approved; it expires.
    writes("POST /v1/auth/device-authorizations",
           R"({"client_name": "ws-mock diff", "cli_version": "1", "scopes": ["documents:read"]})",
           "device=/device_code",
           "",
           WithKey::none),
    writes("POST /v1/auth/device-token", R"({"device_code": "{device}"})", "", "", WithKey::none),
    writes("POST /v1/auth/device-authorizations",
           R"({"client_name": "", "cli_version": "1", "scopes": []})",
           "",
           "",
           WithKey::none),
    // A test run of one case.
    writes("POST /v1/admin/tests/runs",
           R"({"selection_kind": "cases", "case_ids": ["{case}"]})",
           "run=/id",
           "Idempotency-Key: {mark}-run"),
    {.phase = writing, .request = "GET /v1/admin/tests/runs?status=queued"},
    {.phase = writing, .request = "GET /v1/admin/tests/runs?status=running"},
    {.phase = writing, .request = "GET /v1/admin/tests/runs?status=passed"},
    // How the operations that take time end.
    {.phase = writing, .request = "GET /v1/questions/{question}", .until = "/status=completed,failed,cancelled"},
    {.phase = writing, .request = "GET /v1/admin/tests/runs/{run}", .until = "/status=passed,failed,cancelled"},
    {.phase = writing, .request = "GET /v1/admin/tests/runs?status=passed"},
    {.phase = writing, .request = "GET /v1/admin/tests/runs?status=failed"},
    // Archived twice, and changed after that.
    writes("DELETE /v1/documents/{three}"),
    writes("DELETE /v1/documents/{three}"),
    writes("PUT /v1/documents/{three}", R"({"content": "x", "expected_content_revision": 1})"),
    {.phase = writing, .request = "GET /v1/documents/{three}"},
};

}  // namespace

std::span<const Step> script() { return steps; }

std::string_view permanent_effects(Access access) {
  switch (access) {
    case Access::read_only: return "";
    case Access::project:
      return "Documents and comments are created in that Project and archived at the end. Its other documents get a "
             "path in a new sync source and are not changed otherwise. The following stay, because the API cannot "
             "remove them: a "
             "question with its conversation, a sync source with a resolved conflict, a device login that nobody "
             "approves, a test run of one case.";
    case Access::scratch:
      return "A Project is created; documents and comments in it are archived at the end. The following stay, because "
             "the API cannot remove them: the empty Project, an empty Workspace (if the key may make one), a revoked "
             "agent, a "
             "question with its conversation, a sync source with a resolved conflict, a device login that nobody "
             "approves, a test run of one case.";
  }
  return "";
}

}  // namespace ws::mock::compare
