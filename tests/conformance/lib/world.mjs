// One of everything, made through the API, and for each operation a request that succeeds.
import { createHash } from 'node:crypto';
import { methodOf, pathOf, scopes } from '../data/operations.mjs';
import { send } from './wire.mjs';

export const sha256 = (text) => createHash('sha256').update(text).digest('hex');
export const nobody = '00000000-0000-7000-8000-00000000dead';

export class World {
  static async build(api) {
    const world = new World(api);
    await world.fill();
    return world;
  }

  constructor(api) {
    this.api = api;
  }

  async fill() {
    const { api } = this;
    this.me = await api.expect(200, 'GET', '/v1/me');
    this.project = await api.expect(201, 'POST', '/v1/projects', { title: 'Proof' });
    this.document = await this.newDocument();
    this.thread = await this.newThread(this.document.id);
    const handle = `proof-${Date.now().toString(36)}`;
    this.agent = await api.expect(201, 'POST', '/v1/agents', { handle, display_name: 'Proof', permissions: ['read', 'comment'] });
    this.question = await api.expect(200, 'POST', '/v1/questions', { prompt: 'What is a tide?', sources: ['workspace'] });
    this.source = await api.expect(201, 'POST', '/v1/sync/sources', { name: 'notes' });
    this.plan = await this.newPlan();
    this.case = (await api.expect(200, 'GET', '/v1/admin/tests/cases?limit=1')).data[0];
    this.suite = (await api.expect(200, 'GET', '/v1/admin/tests/suites?limit=1')).data[0];
    this.run = await api.expect(202, 'POST', '/v1/admin/tests/runs', { selection_kind: 'cases', case_ids: [this.case.case_id] });
    const upload = await api.ask('POST', '/v1/files/uploads', { file_name: 'a.md', mime_type: 'text/markdown', size_bytes: 12 }, { check: false });
    this.hasFiles = upload.status !== 501;
    if (this.hasFiles) this.asset = await this.newAsset('# Moon\n\nPull');
  }

  /** Whether this server does not have the operation yet. */
  lacks(id) {
    return id.startsWith('files.') && !this.hasFiles;
  }

  newDocument(more = {}) {
    return this.api.expect(201, 'POST', '/v1/documents', {
      title: 'Tide tables', content: '# Tides\n\nThe tide turns twice a day.', project_id: this.project.id, ...more,
    });
  }

  newThread(documentId, body = 'Is that so?') {
    return this.api.expect(201, 'POST', `/v1/documents/${documentId}/comments`, { body, selection: { quote: 'The tide turns' } });
  }

  newPlan(entries = []) {
    return this.api.expect(200, 'POST', '/v1/sync/plan', {
      source_id: this.source.id, base_revision: 0, client_id: 'proof', complete: false, entries,
    });
  }

  /** Plans, pushes and commits these items; the commit's answer. */
  async publish(items) {
    const entries = items.map((item) => ({
      path: item.path, document_id: item.document_id ?? null, content_sha256: item.content === undefined ? null : sha256(item.content),
      size_bytes: Buffer.byteLength(item.content ?? ''), base_content_revision: item.expected_content_revision ?? null,
    }));
    const plan = await this.newPlan(entries);
    const staged = items.map((item) => ({
      document_id: null, expected_content_revision: null, content: null, ...item,
      content_sha256: item.content === undefined ? null : sha256(item.content),
    }));
    const push = await this.api.expect(200, 'POST', '/v1/sync/push', { source_id: this.source.id, plan_id: plan.plan_id, items: staged });
    return this.api.expect(200, 'POST', '/v1/sync/commit', {
      source_id: this.source.id, plan_id: plan.plan_id, push_ids: [push.push_id], expected_revision: plan.revision, client_id: 'proof',
    });
  }

  /** A text that two sides changed. */
  async newConflict() {
    const path = `${Math.random().toString(36).slice(2)}.md`;
    const made = (await this.publish([{ path, action: 'push_create', content: 'one' }])).applied[0];
    await this.api.expect(200, 'PUT', `/v1/documents/${made.document_id}`, { content: 'two', expected_content_revision: made.content_revision });
    const commit = await this.publish([
      { path, action: 'push_update', document_id: made.document_id, content: 'three', expected_content_revision: made.content_revision },
    ]);
    return this.api.expect(200, 'GET', `/v1/sync/conflicts/${commit.conflicts[0].id}`);
  }

  async newUpload(bytes, fileName = 'moon.md') {
    const started = await this.api.expect(201, 'POST', '/v1/files/uploads', { file_name: fileName, mime_type: 'text/markdown', size_bytes: Buffer.byteLength(bytes) });
    const put = await this.put(started, bytes);
    if (put.status !== 200) throw new Error(`PUT ${started.upload_url}: ${put.status} ${put.text}`);
    return started;
  }

  put(started, bytes) {
    const { pathname, search } = new URL(started.upload_url);
    return send(this.api.server.port, { method: 'PUT', path: pathname + search, body: Buffer.from(bytes), headers: started.upload_headers });
  }

  finish(started, bytes, fileName = 'moon.md') {
    return {
      upload_id: started.upload_id, blob_name: started.blob_name, file_name: fileName, mime_type: 'text/markdown',
      size_bytes: Buffer.byteLength(bytes),
    };
  }

  async newAsset(bytes) {
    return this.api.expect(201, 'POST', '/v1/files/uploads:finalize', this.finish(await this.newUpload(bytes), bytes));
  }

  /** Something to claim, so that nobody waits. */
  async queueEvent() {
    await this.api.expect(200, 'PATCH', `/v1/agents/${this.agent.id}`, { status: 'active' });
    await this.newThread((await this.newDocument()).id, `@${this.agent.handle} please look`);
  }

  async newEvent() {
    await this.queueEvent();
    // Older events of the same agent come first: whichever it is, it is held now.
    const claimed = await this.api.expect(200, 'POST', '/v1/agent-events:claim', { worker_id: 'proof' });
    return claimed.event;
  }

  async newDeviceCode(approve = true) {
    const started = await this.api.expect(201, 'POST', '/v1/auth/device-authorizations', {
      client_name: 'proof', cli_version: '1', scopes: ['documents:read'],
    }, { token: null });
    if (approve) await this.api.control('POST', `/devices/${started.user_code}:approve`, {});
    return started.device_code;
  }

  /** The ids that stand in paths. */
  places() {
    return {
      document_id: this.document.id, thread_id: this.thread.id, node_id: this.document.node_id, question_id: this.question.id,
      conversation_id: this.question.conversation_id, asset_id: this.asset?.id ?? nobody, operation_id: nobody,
      source_id: this.source.id, conflict_id: nobody, agent_id: this.agent.id, event_id: nobody,
      case_id: this.case.case_id, suite_id: this.suite.suite_id, run_id: this.run.id,
    };
  }

  /** The body of a request that the rules of form let pass; it may still name what is not there. */
  bodies() {
    const lease_token = 'x'.repeat(32);
    return {
      'auth.start': { client_name: 'proof', cli_version: '1.0', scopes: [scopes[0]] },
      'auth.token': { device_code: 'd'.repeat(32) },
      'workspaces.create': { name: 'Cellar' },
      'projects.create': { title: 'Attic' },
      'nodes.move': { parent_node_id: this.project.node_id },
      'questions.create': { prompt: 'When does the tide turn?', sources: ['workspace', 'memory'] },
      'search.run': { query: 'tide' },
      'docs.create': { title: 'Moon', content: '# Moon' },
      'docs.update': { title: 'Moon', expected_content_revision: this.document.content_revision },
      'docs.share': { email: 'tomas@example.com', permission: 'read' },
      'comments.add': { body: 'Well' },
      'comments.reply': { body: 'Indeed' },
      'comments.set_status': { status: 'resolved' },
      'files.upload_start': { file_name: 'a.bin', size_bytes: 3 },
      'files.upload_finish': { upload_id: nobody, blob_name: 'b', file_name: 'a.bin', size_bytes: 3 },
      'files.organize': { instruction: 'By headings' },
      'sync.source_create': { name: 'diary' },
      'sync.plan': { source_id: this.source.id, base_revision: 0, client_id: 'c', complete: true, entries: [] },
      'sync.push': { source_id: this.source.id, plan_id: this.plan.plan_id, items: [] },
      'sync.commit': { source_id: this.source.id, plan_id: this.plan.plan_id, push_ids: [], expected_revision: 0, client_id: 'proof' },
      'sync.conflict_resolve': { resolution: 'keep_remote', expected_content_revision: 1 },
      'agents.create': { handle: `h${Math.random().toString(36).slice(2)}`, display_name: 'H' },
      'agents.update': { display_name: 'Proof' },
      'events.claim': { worker_id: 'proof' },
      'events.renew': { lease_token },
      'events.complete': { lease_token, result: {} },
      'events.fail': { lease_token, error: 'broke' },
      'tests.run_launch': { selection_kind: 'cases', case_ids: [this.case.case_id] },
    };
  }

  target(id, places = {}) {
    const all = { ...this.places(), ...places };
    return pathOf(id).replace(/\{(\w+)\}/g, (_, name) => all[name]);
  }

  /** Method, path and body of a call that succeeds; what it uses up is made for it alone. */
  async succeeding(id) {
    const places = {};
    let body = this.bodies()[id];
    let token;
    if (id === 'auth.revoke') token = await this.api.key({});
    if (id === 'auth.token') body = { device_code: await this.newDeviceCode() };
    if (id.startsWith('docs.') || id.startsWith('comments.') || id === 'nodes.move') {
      const document = await this.newDocument();
      Object.assign(places, { document_id: document.id, node_id: document.node_id });
      if (id === 'docs.update') body.expected_content_revision = document.content_revision;
      if (id === 'comments.reply' || id === 'comments.set_status') places.thread_id = (await this.newThread(document.id)).id;
    }
    if (['events.renew', 'events.complete', 'events.fail'].includes(id)) {
      const event = await this.newEvent();
      places.event_id = event.id;
      body.lease_token = event.lease_token;
    }
    if (id === 'events.claim') await this.queueEvent();
    if (id.startsWith('sync.conflict')) {
      const conflict = await this.newConflict();
      places.conflict_id = conflict.id;
      if (body) body.expected_content_revision = conflict.remote.content_revision;
    }
    if (id === 'sync.commit') body.plan_id = (await this.newPlan()).plan_id;
    if (id === 'files.upload_finish') body = this.finish(await this.newUpload('# Moon'), '# Moon');
    if (id === 'files.operation') {
      const started = await this.api.expect(202, 'POST', this.target('files.organize'), { instruction: 'By headings' });
      places.operation_id = started.operation_id;
    }
    return { method: methodOf(id), path: this.target(id, places), body, token };
  }
}
