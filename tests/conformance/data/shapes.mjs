// What an answer must hold, transcribed from the API document's "Resources and their fields" (published) and from
// decisions.md's "Resource shapes" (assumed): `name: kind`, `?` after a kind = may be null, `!` before a name = the
// document does not require it. A resource whose fields are published carries exactly those.

const links = { links: 'texts' };
const person = { kind: 'text', id: 'uuid', name: 'text' };

export const Actor = person;
export const Question = {
  id: 'uuid', status: 'text', conversation_id: 'uuid', source_document_ids: ['uuid'],
  artifacts: [{ kind: 'text', document_id: 'uuid', content_revision: 'int' }], ...links,
  object: '=question', prompt: 'text', answer: 'text', title: 'text', sources: ['text'],
  citations: [{ document_id: 'uuid', chunk_id: 'text', heading_path: ['text'], quote: 'text' }], created_at: 'time',
  completed_at: 'time?',
};
export const Conversation = {
  id: 'uuid', object: '=conversation', title: 'text', status: 'text', thread_id: 'uuid', question_count: 'int',
  last_question_at: 'time?', created_at: 'time', updated_at: 'time', ...links,
};
export const Entry = {
  id: 'uuid', thread_id: 'uuid', author_kind: 'text', author_agent_id: 'uuid?', actor_identity: 'object?', body: 'text',
  mentions: ['text'], agent_mentions: ['object'], entry_point: 'text?', request_id: 'uuid?', run_id: 'text?',
  conversation_thread_id: 'uuid?', created_at: 'time', updated_at: 'time',
};
export const Anchor = {
  target_scope: 'text', section_id: 'text?', source_block_ids: ['text'], anchor: 'text?', heading_path: ['text'],
  quote_hash: 'text?', selection_preview: 'text?', selection_range_json: 'object?', table_selection_json: 'object?',
  surface_selection_json: 'object?', source_page_revision: 'int?', resolved_block_ids: ['text'], resolved_via: 'text?',
  needs_reanchor: 'bool',
};
export const Thread = {
  id: 'uuid', page_id: 'uuid', workspace_id: 'uuid', status: 'open|resolved|needs_reanchor', created_by_kind: 'text',
  created_by_user_id: 'uuid?', created_by_agent_id: 'uuid?', created_at: 'time', last_activity_at: 'time',
  updated_at: 'time', anchor: Anchor, entries: [Entry],
};
export const Comments = {
  page_id: 'uuid', workspace_id: 'uuid', threads: [Thread], open_count: 'int', resolved_count: 'int',
  needs_reanchor_count: 'int', thread_count: 'int', latest_activity_at: 'time?', watermark: 'text?',
};
export const Agent = {
  id: 'uuid', workspace_id: 'uuid', owner_user_id: 'uuid', handle: 'text', display_name: 'text', avatar_url: 'text?',
  provider: 'text', status: 'active|paused|revoked', permissions: ['text'], last_seen_at: 'time?', created_at: 'time',
  updated_at: 'time', object: '=agent',
};
export const AgentCreated = {
  ...Agent, credential: { secret: 'text', display_prefix: 'text', scopes: ['text'], created_at: 'time' },
};
export const Rotated = { agent_id: 'uuid', secret: 'text', display_prefix: 'text', scopes: ['text'], created_at: 'time' };
export const Asset = {
  id: 'uuid', object: '=workspace_asset', node_id: 'uuid', title: 'text', parent_node_id: 'uuid?',
  original_file_name: 'text', mime_type: 'text', size_bytes: 'int', content_sha256: 'sha256?', status: '=stored',
  sensitivity_status: 'clear|flagged', sensitivity_reasons: ['object'], ai_read_policy: 'allowed|denied',
  processing_status: 'pending|ready|failed', created_at: 'time', ...links,
};
export const FileOperation = {
  operation_id: 'uuid', asset_id: 'uuid', status: 'queued|running|succeeded|failed',
  phase: 'received|reading|planning|writing|done', created_at: 'time', updated_at: 'time', ...links,
};
export const Upload = {
  upload_id: 'uuid', blob_name: 'text', upload_url: 'address', upload_method: '=PUT', upload_headers: 'texts',
  expires_at: 'time',
};
export const DeviceAuthorization = {
  authorization_id: 'uuid', device_code: 'text', user_code: 'text', verification_uri: 'address',
  verification_uri_complete: 'address', expires_in: 'int', interval: 'int',
};
export const DeviceToken = {
  secret: 'text', key_id: 'uuid', audience: 'user|workspace|platform_admin', scopes: ['text'], expires_at: 'time?',
  created_at: 'time', workspace_id: 'uuid?', workspace_name: 'text?',
};
export const Revoked = { ok: 'bool', key_id: 'uuid', revoked_at: 'time' };
export const Event = {
  id: 'uuid', kind: 'text', workspace_id: 'uuid', agent_id: 'uuid', document_id: 'uuid?', thread_id: 'uuid?',
  comment_id: 'uuid?', payload: 'object', attempt: 'int', '!status': 'text', lease_token: 'text?',
  lease_expires_at: 'time?', created_at: 'time',
};
export const Claimed = { event: Event, retry_after_seconds: 'int' };

export const Identity = {
  object: '=identity', user: { id: 'uuid', email: 'text', display_name: 'text' }, agent: 'null',
  workspace: { id: 'uuid', name: 'text', role: 'text' },
  credential: { key_id: 'uuid', audience: 'text', scopes: ['text'], expires_at: 'time?' }, ...links,
};
export const Discovery = {
  object: '=discovery', version: '=1.0.0',
  operations: [{ id: 'text', method: 'text', path: 'text', summary: 'text', scope: 'text?', idempotent: 'bool' }],
  limits: 'object', openapi_url: 'address', skill_url: 'address', ...links,
};
export const Workspace = { id: 'uuid', object: '=workspace', name: 'text', role: 'text', created_at: 'time', updated_at: 'time', ...links };
export const Project = {
  id: 'uuid', object: '=project', workspace_id: 'uuid', node_id: 'uuid', title: 'text', created_at: 'time',
  updated_at: 'time', ...links,
};
export const Node = {
  id: 'uuid', object: '=node', kind: 'project|page|document|asset', title: 'text', parent_node_id: 'uuid?',
  position: 'int', document_id: 'uuid?', asset_id: 'uuid?', ...links,
};
export const ListedDocument = {
  id: 'uuid', object: '=document', node_id: 'uuid', parent_node_id: 'uuid?', project_id: 'uuid?', workspace_id: 'uuid',
  title: 'text', content_type: '=text/markdown', content_revision: 'int', content_sha256: 'sha256',
  status: 'active|archived', created_by: person, created_at: 'time', updated_by: person, updated_at: 'time', ...links,
};
export const Document = { ...ListedDocument, content: 'text' };
export const Archived = { id: 'uuid', object: '=document', status: '=archived', archived_at: 'time' };
export const Shares = {
  document_id: 'uuid',
  shares: [{ id: 'uuid', grantee_kind: 'user|agent', '!email': 'text', '!handle': 'text', permission: 'text', created_at: 'time' }],
  ...links,
};
export const Found = {
  object: '=search_results',
  data: [{
    object: '=search_result', kind: 'page|document|asset', title: 'text', snippet: 'text', score: 'number',
    page_id: 'uuid?', node_id: 'uuid', document_id: 'uuid?', chunk_id: 'text?', source_id: 'text?',
    heading_path: ['text'], content_revision: 'int?', ...links,
  }],
  next_cursor: 'text?',
};
export const Source = {
  id: 'uuid', object: '=sync_source', name: 'text', workspace_id: 'uuid', project_id: 'uuid?', root_node_id: 'uuid',
  revision: 'int', document_count: 'int', open_conflicts: [{ id: 'uuid', path: 'text', kind: 'text' }],
  last_committed_at: 'time?', created_at: 'time', updated_at: 'time', ...links,
};
export const Pull = {
  source_id: 'uuid', revision: 'int', since_revision: 'int',
  data: [{
    path: 'text', document_id: 'uuid', node_id: 'uuid', content_revision: 'int', content_sha256: 'sha256',
    size_bytes: 'int', title: 'text', content: 'text?', deleted: 'bool', updated_by: person, updated_at: 'time',
  }],
  next_cursor: 'text?',
};
export const Plan = {
  plan_id: 'uuid', source_id: 'uuid', revision: 'int', base_revision: 'int',
  actions: [{
    path: 'text', action: 'text', reason: 'text', document_id: 'uuid?', content_revision: 'int?',
    content_sha256: 'sha256?', previous_path: 'text?', conflict_id: 'uuid?',
  }],
  summary: 'object', expires_at: 'time',
};
export const Push = {
  push_id: 'uuid', source_id: 'uuid', plan_id: 'uuid', accepted: [{ path: 'text', content_sha256: 'sha256?' }],
  rejected: [{ path: 'text', code: 'text', message: 'text' }], expires_at: 'time',
};
export const Commit = {
  commit_id: 'uuid', source_id: 'uuid', plan_id: 'uuid', revision: 'int', status: 'committed|partly_conflicted',
  applied: [{ path: 'text', action: 'text', document_id: 'uuid', content_revision: 'int', content_sha256: 'sha256' }],
  conflicts: [{ id: 'uuid', path: 'text', kind: 'text' }],
};
export const Conflict = {
  id: 'uuid', object: '=sync_conflict', source_id: 'uuid', client_id: 'text', path: 'text',
  kind: 'revision|hash|edit_delete|delete_edit|path', status: 'open|resolved',
  '!base': 'object?', local: { content_sha256: 'sha256?', content: 'text?', deleted: 'bool', path: 'text?' },
  remote: {
    document_id: 'uuid?', content_revision: 'int?', content_sha256: 'sha256?', content: 'text?', deleted: 'bool',
    path: 'text?', updated_by: 'object?', updated_at: 'time?',
  },
  resolution: 'text?', created_at: 'time', resolved_at: 'time?', '!result': 'object?', ...links,
};
export const Catalog = {
  capabilities: ['text'], owners: ['text'], roles: ['text'], cost_classes: ['text'], case_count: 'int', suite_count: 'int',
};
export const TestCase = {
  case_id: 'text', title: 'text', description: 'text', capability: 'text', owner: 'text', role: 'text',
  cost_class: 'text', suite_ids: ['text'],
};
export const TestSuite = { suite_id: 'text', title: 'text', runnable: 'bool', case_ids: ['text'] };
export const TestRun = {
  id: 'uuid', object: '=test_run', status: 'queued|running|passed|failed|cancelled', selection_kind: 'cases|suite',
  case_ids: ['text'], suite_id: 'text?', workspace_id: 'uuid?', counts: 'object',
  results: [{ case_id: 'text', status: 'text', message: 'text?', duration_ms: 'int?' }], created_at: 'time',
  started_at: 'time?', finished_at: 'time?', ...links,
};

const page = (item) => ({ data: [item], next_cursor: 'text?' });

export const answers = {
  'auth.start': DeviceAuthorization, 'auth.token': DeviceToken, 'auth.revoke': Revoked, 'me.get': Identity,
  'discovery.get': Discovery, 'workspaces.list': page(Workspace), 'workspaces.create': Workspace,
  'projects.create': Project, 'nodes.move': Node, 'questions.list': page(Question), 'questions.create': Question,
  'questions.get': Question, 'conversations.list': page(Conversation), 'conversations.get': Conversation,
  'search.run': Found, 'docs.list': page(ListedDocument), 'docs.create': Document, 'docs.get': Document,
  'docs.update': Document, 'docs.archive': Archived, 'docs.share': Shares, 'comments.list': Comments,
  'comments.add': Thread, 'comments.reply': Thread, 'comments.set_status': Thread, 'files.upload_start': Upload,
  'files.upload_finish': Asset, 'files.list': { data: [Asset] }, 'files.get': Asset, 'files.organize': FileOperation,
  'files.operation': FileOperation, 'sync.source_create': Source, 'sync.source_get': Source, 'sync.pull': Pull,
  'sync.plan': Plan, 'sync.push': Push, 'sync.commit': Commit, 'sync.conflict_get': Conflict,
  'sync.conflict_resolve': Conflict, 'agents.list': { data: [Agent] }, 'agents.create': AgentCreated,
  'agents.update': Agent, 'agents.rotate': Rotated, 'events.claim': Claimed, 'events.renew': Event,
  'events.complete': Event, 'events.fail': Event, 'tests.catalog': Catalog, 'tests.cases_list': page(TestCase),
  'tests.case_get': TestCase, 'tests.suites_list': page(TestSuite), 'tests.suite_get': TestSuite,
  'tests.runs_list': page(TestRun), 'tests.run_launch': TestRun, 'tests.run_get': TestRun,
};

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const kinds = {
  text: (value) => typeof value === 'string',
  uuid: (value) => uuidForm.test(value),
  int: Number.isInteger,
  number: (value) => typeof value === 'number',
  bool: (value) => typeof value === 'boolean',
  time: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
  sha256: (value) => /^[0-9a-f]{64}$/.test(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  texts: (value) => kinds.object(value) && Object.values(value).every((text) => typeof text === 'string'),
  address: (value) => /^http:\/\/127\.0\.0\.1:\d+\//.test(value),
  null: (value) => value === null,
};

/** What is wrong with `value` beside the shape, each with its place. */
export function mismatches(value, shape, place = '') {
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${place}: no list`];
    return value.flatMap((item, i) => mismatches(item, shape[0], `${place}[${i}]`));
  }
  if (typeof shape === 'string') {
    if (shape.endsWith('?') && value === null) return [];
    const kind = shape.replace(/\?$/, '');
    const fits = kind.startsWith('=') ? value === kind.slice(1)
      : kind.includes('|') ? kind.split('|').includes(value) : kinds[kind](value);
    return fits ? [] : [`${place}: ${JSON.stringify(value)} is no ${kind}`];
  }
  if (!kinds.object(value)) return [`${place}: no object`];
  const wrong = [];
  const known = new Set();
  for (const [key, kind] of Object.entries(shape)) {
    const name = key.replace(/^!/, '');
    known.add(name);
    if (name in value) wrong.push(...mismatches(value[name], kind, `${place}.${name}`));
    else if (!key.startsWith('!')) wrong.push(`${place}.${name}: missing`);
  }
  for (const name of Object.keys(value)) if (!known.has(name)) wrong.push(`${place}.${name}: not in the specification`);
  return wrong;
}
