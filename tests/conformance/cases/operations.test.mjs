// Every operation: success, and what is common to each; every exchange against the OpenAPI document.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ids, methodOf, operations, pathOf } from '../data/operations.mjs';
import { answers, mismatches } from '../data/shapes.mjs';
import { Api } from '../lib/api.mjs';
import { nobody, World } from '../lib/world.mjs';

let api;
let world;
before(async () => {
  api = await Api.start();
  world = await World.build(api);
});
after(() => api.stop());

test('the document names every operation with method, path, success status and no other', () => {
  const named = api.contract.operations.map(({ method, path, operation }) => `${operation.operationId} ${method} ${path}`);
  assert.deepEqual(named.sort(), ids.map((id) => `${id} ${operations[id].request}`).sort());
  for (const { operation } of api.contract.operations) {
    assert.ok(operation.responses[String(operations[operation.operationId].success)], operation.operationId);
  }
  assert.equal(api.contract.document.openapi, '3.1.0');
  assert.equal(api.contract.document.info.version, '1.0.0');
  assert.ok(api.contract.document.components.securitySchemes.ServiceApiKey);
});

test('a key used for another request is named where keys are taken, and only there', async () => {
  for (const { operation } of api.contract.operations) {
    const named = operation.responses['422']?.['x-detail-types'] ?? [];
    assert.deepEqual(named, operations[operation.operationId].ik ? ['idempotency_key_reused'] : [], operation.operationId);
  }
  const send = (title) => api.ask('POST', '/v1/projects', { title }, { headers: { 'idempotency-key': 'reused' } });
  assert.equal((await send('one')).status, 201);
  const refused = await send('two');
  assert.equal(refused.status, 422);
  assert.equal(refused.json.detail[0].type, 'idempotency_key_reused');
});

test('each succeeds with its published status and carries exactly the fields of its shape', async (t) => {
  for (const id of ids) {
    await t.test(id, { skip: world.lacks(id) }, async () => {
      const call = await world.succeeding(id);
      const token = operations[id].open ? null : call.token;
      const answer = await api.ask(call.method, call.path, call.body, { token });
      assert.equal(answer.status, operations[id].success, answer.text.slice(0, 1000));
      assert.equal(answer.headers['x-mock-operation'], id);
      if (answers[id]) assert.deepEqual(mismatches(answer.json, answers[id]), []);
      assert.equal(answer.headers['x-mock-warning'], undefined);
    });
  }
});

test('each takes a key: none, a broken one and a stranger\'s are 401, but for the two of the device login', async (t) => {
  for (const id of ids) {
    await t.test(id, async () => {
      const path = world.target(id);
      const body = world.bodies()[id];
      if (operations[id].open) {
        const answer = await api.ask(methodOf(id), path, body, { token: null });
        assert.notEqual(answer.status, 401);
        return;
      }
      for (const [token, headers, code] of [
        [null, {}, 'missing_credential'],
        [null, { authorization: 'Basic abc' }, 'invalid_credential'],
        ['wsk_stranger', {}, 'invalid_credential'],
      ]) {
        const answer = await api.ask(methodOf(id), path, body, { token, headers });
        assert.equal(answer.status, 401);
        assert.equal(answer.json.code, code);
      }
    });
  }
});

test('what is not there is 404 wherever a path names it', async (t) => {
  for (const id of ids.filter((each) => pathOf(each).includes('{'))) {
    await t.test(id, { skip: world.lacks(id) }, async () => {
      const path = pathOf(id).replace(/\{\w+\}/g, nobody);
      const answer = await api.ask(methodOf(id), path, world.bodies()[id]);
      assert.equal(answer.status, 404, answer.text);
      assert.equal(answer.json.code, 'not_found');
      assert.ok(answer.json.detail.length > 0);
      assert.equal(answer.json.request_id, answer.headers['x-request-id']);
    });
  }
});

test('a path that takes a uuid refuses what is none, all places at once', async (t) => {
  for (const id of ids.filter((each) => pathOf(each).includes('{') && !/case_id|suite_id/.test(pathOf(each)))) {
    await t.test(id, async () => {
      const names = [...pathOf(id).matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const answer = await api.ask(methodOf(id), pathOf(id).replace(/\{\w+\}/g, 'no-uuid'), world.bodies()[id]);
      assert.equal(answer.status, 422);
      assert.deepEqual(answer.json.detail.map(({ loc, type, input }) => ({ loc, type, input })),
        names.map((name) => ({ loc: ['path', name], type: 'uuid_parsing', input: 'no-uuid' })));
    });
  }
});

test('every path answers HEAD where it answers GET, OPTIONS, and 405 with Allow to the rest', async (t) => {
  const paths = new Map();
  for (const id of ids) paths.set(world.target(id), [...(paths.get(world.target(id)) ?? []), id]);
  for (const [path, of] of paths) {
    await t.test(path, async () => {
      const methods = of.map(methodOf);
      const allowed = new Set([...methods, 'OPTIONS', ...(methods.includes('GET') ? ['HEAD'] : [])]);
      const stranger = await api.ask('OPTIONS', path, undefined, { token: null, check: false });
      assert.equal(stranger.status, 401);
      assert.equal(stranger.headers.allow, undefined);
      const options = await api.ask('OPTIONS', path);
      assert.equal(options.status, 204);
      assert.deepEqual(new Set(options.headers.allow.split(', ')), allowed);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
        if (allowed.has(method)) continue;
        const answer = await api.ask(method, path, undefined, { check: method !== 'HEAD' });
        assert.equal(answer.status, 405, `${method} ${path}`);
        if (method !== 'HEAD') assert.equal(answer.json.code, 'method_not_allowed');
        assert.deepEqual(new Set(answer.headers.allow.split(', ')), allowed);
      }
      if (!methods.includes('GET') || world.lacks(of[0]) || path.includes(nobody)) return;
      const got = await api.ask('GET', path);
      const head = await api.ask('HEAD', path);
      assert.equal(head.status, got.status);
      assert.equal(head.body.length, 0);
      assert.equal(head.headers['content-length'], got.headers['content-length']);
      assert.equal(head.headers['content-type'], got.headers['content-type']);
    });
  }
});

test('a colon may come as %3A', async (t) => {
  for (const id of ids.filter((each) => pathOf(each).includes(':'))) {
    await t.test(id, async () => {
      for (const colon of ['%3A', '%3a']) {
        const answer = await api.ask(methodOf(id), world.target(id).replace(':', colon), world.bodies()[id], { token: null });
        assert.equal(answer.headers['x-mock-operation'], id);
        assert.equal(answer.status, 401);
      }
    });
  }
});

test('a body that does not say it is JSON is 415, before it is looked at', async (t) => {
  for (const id of ids.filter((each) => operations[each].body)) {
    await t.test(id, async () => {
      const token = operations[id].open ? null : undefined;
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
        const answer = await api.ask(methodOf(id), world.target(id), '{', { headers: { 'content-type': type }, ...(token === null && { token }) });
        assert.equal(answer.status, 415, type);
        assert.equal(answer.json.code, 'unsupported_media_type');
      }
    });
  }
});

test('checks come in their order: credential, path, method, scope, content type, form, existence, key, state', async (t) => {
  const poor = await api.key({ scopes: [] });
  for (const id of ids.filter((each) => !operations[each].open && operations[each].body)) {
    await t.test(id, async () => {
      const path = pathOf(id).replace(/\{\w+\}/g, nobody);
      const names = path !== pathOf(id);
      const text = { headers: { 'content-type': 'text/plain' } };
      const ask = (body, options) => api.ask(methodOf(id), path, body, options);
      assert.equal((await api.ask('TRACE', path, undefined, { check: false })).status, 405);
      assert.equal((await api.ask('TRACE', path, undefined, { token: null, check: false })).status, 401);
      assert.equal((await ask('{', { ...text, token: null })).status, 401);
      assert.equal((await ask('{', { ...text, token: poor })).status, 403);
      assert.equal((await ask('{', text)).status, 415);
      assert.equal((await ask('{')).status, 422);
      assert.equal((await ask({ ...world.bodies()[id], ...(names && { [Object.keys(operations[id].body)[0]]: [7] }) })).status, names ? 422 : (await ask(world.bodies()[id])).status);
    });
  }
  const headers = { 'idempotency-key': 'in order' };
  const move = (node, body) => api.ask('POST', `/v1/nodes/${node}:move`, body, { headers });
  const { node_id: node } = await world.newDocument();
  assert.equal((await move(node, { parent_node_id: null })).status, 200);
  assert.equal((await move(nobody, { parent_node_id: null })).status, 404, 'existence before the key');
  assert.equal((await move(node, { parent_node_id: world.project.node_id })).status, 422, 'the key before state');
  const document = await world.newDocument();
  const path = `/v1/documents/${document.id}`;
  await api.expect(200, 'DELETE', path);
  const viewer = await api.key({ role: 'commenter' });
  assert.equal((await api.ask('PUT', path, { expected_content_revision: 9 }, { token: viewer })).status, 403, 'role before state');
  assert.equal((await api.ask('POST', `${path}/comments`, { body: 'x' }, { token: viewer })).status, 404, 'existence before state');
  assert.equal((await api.ask('PUT', path, { expected_content_revision: 0 })).status, 422, 'form before state');
  assert.equal((await api.ask('PUT', path, { expected_content_revision: 9 })).json.code, 'archived', 'archived before the revision');
});

test('a body in JSON with a charset, or a structured suffix, is taken', async () => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.proof+json']) {
    const answer = await api.ask('POST', '/v1/search', { query: 'tide' }, { headers: { 'content-type': type } });
    assert.equal(answer.status, 200, type);
  }
});

test('no other path is there', async () => {
  for (const path of ['/v1/', '/v2', '/', '/v1/documents/', `/v1/documents/${nobody}/nothing`, '/v1/nothing', '/v1//documents']) {
    const answer = await api.ask('GET', path, undefined, { check: false });
    assert.equal(answer.status, 404, path);
  }
});
