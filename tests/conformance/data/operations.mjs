// Every operation, transcribed by hand from the API document's "Endpoints" and "Limits" and, where that says "not
// shown", from decisions.md ("Resource shapes", "Local Markdown sync"). Not made from the table that the server reads:
// a second opinion.

export const uuid = { kind: 'uuid' };
export const bool = { kind: 'bool' };
export const free = { kind: 'object' };
export const text = (min, max) => ({ kind: 'text', min, max });
export const bytes = (max) => ({ kind: 'text', maxBytes: max });
export const int = (min, max) => ({ kind: 'int', min, max });
export const oneOf = (...values) => ({ kind: 'choice', values });
export const list = (of, min, max) => ({ kind: 'list', of, min, max });
/** The document writes "or null". */
export const orNull = (type) => ({ ...type, nullable: true });
/** The request must hold it. */
export const must = (type) => ({ ...type, required: true });
/** What stands for it where it is left out. */
export const or = (fallback, type) => ({ ...type, fallback });

const limit = (fallback) => or(fallback, int(1, 100));
const cursor = text();
const adminCursor = text(undefined, 500);
const permission = oneOf('read', 'comment', 'edit');
const entryPoint = orNull(text(undefined, 64));
const fileName = text(1, 255);
const mimeType = or('application/octet-stream', text(1, 255));
const sizeBytes = int(1, 104857600);
const leaseToken = text(20, 200);
const leaseSeconds = or(300, int(30, 900));
const markdown = bytes(1048576);
const sha256 = text(64, 64);

export const scopes = [
  'questions:read', 'questions:write', 'search:read', 'documents:read', 'documents:write', 'documents:share',
  'assets:read', 'assets:write', 'sync:read', 'sync:write', 'workspaces:write', 'tests:read', 'tests:run',
  'admin_data:read', 'admin_support:read', 'admin_costs:read', 'admin_content:read', 'comments:read',
  'comments:write', 'agent_events:read', 'agent_events:write',
];

export const operations = {
  'auth.start': {
    request: 'POST /v1/auth/device-authorizations', success: 201, open: true,
    body: { client_name: must(text(1, 100)), cli_version: must(text(1, 40)), scopes: must(list(oneOf(...scopes), 1, 12)) },
  },
  'auth.token': { request: 'POST /v1/auth/device-token', success: 200, open: true, body: { device_code: must(text(32, 200)) } },
  'auth.revoke': { request: 'POST /v1/auth/credentials/current:revoke', success: 200 },
  'me.get': { request: 'GET /v1/me', success: 200 },
  'discovery.get': { request: 'GET /v1', success: 200 },

  'workspaces.list': { request: 'GET /v1/workspaces', success: 200 },
  'workspaces.create': { request: 'POST /v1/workspaces', success: 201, ik: true, body: { name: must(text(1, 200)) } },
  'projects.create': {
    request: 'POST /v1/projects', success: 201, ik: true, body: { title: must(text(1, 300)), workspace_id: uuid },
  },
  'nodes.move': {
    request: 'POST /v1/nodes/{node_id}:move', success: 200, ik: true,
    body: { parent_node_id: must(orNull(uuid)), before_node_id: uuid },
  },

  'questions.list': {
    request: 'GET /v1/questions', success: 200, query: { limit: limit(20), cursor, conversation_id: uuid },
  },
  'questions.create': {
    request: 'POST /v1/questions', success: 200, ik: true,
    body: {
      prompt: must(text(1, 8000)), sources: must(list(oneOf('workspace', 'memory'))), conversation_id: uuid,
    },
  },
  'questions.get': { request: 'GET /v1/questions/{question_id}', success: 200 },
  'conversations.list': { request: 'GET /v1/conversations', success: 200, query: { limit: limit(20), cursor } },
  'conversations.get': { request: 'GET /v1/conversations/{conversation_id}', success: 200 },

  'search.run': {
    request: 'POST /v1/search', success: 200,
    body: {
      query: must(text(1, 1000)), limit: limit(20), cursor, project_id: uuid,
      kinds: list(oneOf('page', 'document', 'asset')),
    },
  },

  'docs.list': { request: 'GET /v1/documents', success: 200, query: { limit: limit(50), cursor } },
  'docs.create': {
    request: 'POST /v1/documents', success: 201, ik: true,
    body: {
      title: must(text(1, 300)), content: must(markdown), parent_node_id: orNull(uuid), project_id: orNull(uuid),
    },
  },
  'docs.get': { request: 'GET /v1/documents/{document_id}', success: 200 },
  'docs.update': {
    request: 'PUT /v1/documents/{document_id}', success: 200,
    body: { title: text(1, 300), content: markdown, expected_content_revision: must(int(1)) },
  },
  'docs.archive': { request: 'DELETE /v1/documents/{document_id}', success: 200 },
  'docs.share': {
    request: 'POST /v1/documents/{document_id}/shares', success: 200,
    body: { email: text(), agent_handle: text(), permission: must(permission), message: text(0, 1000) },
  },

  'comments.list': { request: 'GET /v1/documents/{document_id}/comments', success: 200 },
  'comments.add': {
    request: 'POST /v1/documents/{document_id}/comments', success: 201,
    body: { body: must(text(1, 12000)), selection: free, entry_point: entryPoint, start_new_chain: or(false, bool) },
  },
  'comments.reply': {
    request: 'POST /v1/documents/{document_id}/comments/{thread_id}/replies', success: 201,
    body: {
      body: must(text(1, 12000)), entry_point: entryPoint, source_event_id: orNull(uuid),
      source_event_lease_token: orNull(text(20, 200)), start_new_chain: or(false, bool),
    },
  },
  'comments.set_status': {
    request: 'POST /v1/documents/{document_id}/comments/{thread_id}/status', success: 200,
    body: { status: must(oneOf('open', 'resolved', 'needs_reanchor')), entry_point: entryPoint },
  },

  'files.upload_start': {
    request: 'POST /v1/files/uploads', success: 201,
    body: { file_name: must(fileName), mime_type: mimeType, size_bytes: must(sizeBytes) },
  },
  'files.upload_finish': {
    request: 'POST /v1/files/uploads:finalize', success: 201,
    body: {
      upload_id: must(uuid), blob_name: must(text(1, 1024)), file_name: must(fileName), mime_type: mimeType,
      size_bytes: must(sizeBytes),
    },
  },
  'files.list': { request: 'GET /v1/files', success: 200, query: { limit: limit(50) } },
  'files.get': { request: 'GET /v1/files/{asset_id}', success: 200 },
  'files.content': { request: 'GET /v1/files/{asset_id}/content', success: 200 },
  'files.organize': {
    request: 'POST /v1/files/{asset_id}:organize', success: 202,
    body: { instruction: must(text(1, 8000)), target_root_node_id: orNull(uuid) },
  },
  'files.operation': { request: 'GET /v1/file-operations/{operation_id}', success: 200 },

  'sync.source_create': {
    request: 'POST /v1/sync/sources', success: 201,
    body: { name: must(text(1, 200)), root_node_id: orNull(uuid), project_id: orNull(uuid) },
  },
  'sync.source_get': { request: 'GET /v1/sync/sources/{source_id}', success: 200 },
  'sync.pull': {
    request: 'GET /v1/sync/sources/{source_id}/pull', success: 200,
    query: { since_revision: or(0, int(0)), limit: or(500, int(1, 1000)), cursor, include_content: or(true, bool) },
  },
  'sync.plan': {
    request: 'POST /v1/sync/plan', success: 200,
    body: {
      source_id: must(uuid), base_revision: must(int(0)), client_id: must(text(1)), complete: must(bool),
      entries: must(list({ kind: 'object' }, 0, 10000)),
    },
  },
  'sync.commit': {
    request: 'POST /v1/sync/commit', success: 200,
    body: {
      source_id: must(uuid), plan_id: must(uuid), push_ids: must(list(uuid)), expected_revision: must(int(0)),
      client_id: must(text(1)), message: text(0, 500),
    },
  },
  'sync.push': {
    request: 'POST /v1/sync/push', success: 200,
    body: { source_id: must(uuid), plan_id: must(uuid), items: must(list({ kind: 'object' }, 0, 500)) },
  },
  'sync.conflict_get': { request: 'GET /v1/sync/conflicts/{conflict_id}', success: 200 },
  'sync.conflict_resolve': {
    request: 'POST /v1/sync/conflicts/{conflict_id}:resolve', success: 200,
    body: {
      resolution: must(oneOf('keep_local', 'keep_remote', 'merged', 'keep_both')), content: text(),
      content_sha256: sha256, path: text(), path_for_local_copy: text(), expected_content_revision: must(orNull(int(1))),
    },
  },

  'agents.list': { request: 'GET /v1/agents', success: 200, query: { include_revoked: or(false, bool) } },
  'agents.create': {
    request: 'POST /v1/agents', success: 201,
    body: {
      handle: must(text(1, 64)), display_name: must(text(1, 100)), avatar_url: orNull(text(undefined, 500)),
      provider: or('custom', oneOf('<agent_product_1>', '<agent_product_2>', 'custom')),
      permissions: list(permission, 1, 3),
    },
  },
  'agents.update': {
    request: 'PATCH /v1/agents/{agent_id}', success: 200,
    body: {
      display_name: orNull(text(1, 100)), avatar_url: orNull(text(undefined, 500)),
      status: orNull(oneOf('active', 'paused', 'revoked')), permissions: orNull(list(permission, 1, 3)),
    },
  },
  'agents.rotate': { request: 'POST /v1/agents/{agent_id}/credentials:rotate', success: 200 },
  'events.claim': {
    request: 'POST /v1/agent-events:claim', success: 200,
    body: { worker_id: must(text(1, 120)), lease_seconds: leaseSeconds, wait_seconds: or(0, int(0, 30)) },
  },
  'events.renew': {
    request: 'POST /v1/agent-events/{event_id}:renew', success: 200,
    body: { lease_token: must(leaseToken), lease_seconds: leaseSeconds },
  },
  'events.complete': {
    request: 'POST /v1/agent-events/{event_id}:complete', success: 200,
    body: { lease_token: must(leaseToken), result: must(free) },
  },
  'events.fail': {
    request: 'POST /v1/agent-events/{event_id}:fail', success: 200,
    body: { lease_token: must(leaseToken), error: must(text(1, 4000)), retryable: or(true, bool) },
  },

  'tests.catalog': { request: 'GET /v1/admin/tests/catalog', success: 200 },
  'tests.cases_list': {
    request: 'GET /v1/admin/tests/cases', success: 200,
    query: {
      query: text(undefined, 200), capability: text(undefined, 160), owner: text(undefined, 160),
      role: text(undefined, 80), cost_class: text(undefined, 40), suite_id: text(undefined, 120), limit: limit(50),
      cursor: adminCursor,
    },
  },
  'tests.case_get': { request: 'GET /v1/admin/tests/cases/{case_id}', success: 200 },
  'tests.suites_list': {
    request: 'GET /v1/admin/tests/suites', success: 200,
    query: { query: text(undefined, 200), runnable: bool, limit: limit(50), cursor: adminCursor },
  },
  'tests.suite_get': { request: 'GET /v1/admin/tests/suites/{suite_id}', success: 200 },
  'tests.runs_list': {
    request: 'GET /v1/admin/tests/runs', success: 200,
    query: {
      status: text(undefined, 32), selection_kind: oneOf('cases', 'suite'), case_id: text(undefined, 160),
      suite_id: text(undefined, 160), limit: limit(50), cursor: adminCursor,
    },
  },
  'tests.run_launch': {
    request: 'POST /v1/admin/tests/runs', success: 202, ik: true,
    body: {
      selection_kind: must(oneOf('cases', 'suite')), case_ids: list(text()), suite_id: text(), workspace_id: uuid,
    },
  },
  'tests.run_get': { request: 'GET /v1/admin/tests/runs/{run_id}', success: 200 },
};

export const ids = Object.keys(operations);
export const methodOf = (id) => operations[id].request.split(' ')[0];
export const pathOf = (id) => operations[id].request.split(' ')[1];
