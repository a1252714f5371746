// Every limit of every parameter and body field, just inside and just outside, counted in code points.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ids, methodOf, operations } from '../data/operations.mjs';
import { Api } from '../lib/api.mjs';
import { missing, queryValuesOf, valuesOf } from '../lib/limits.mjs';
import { World } from '../lib/world.mjs';

let api;
let world;
let checked = 0;
before(async () => {
  api = await Api.start();
  world = await World.build(api);
});
after(() => api.stop());

const tokenOf = (id, fresh) => (operations[id].open ? null : id === 'auth.revoke' ? fresh : undefined);

function ask(id, { body = world.bodies()[id], query = '', headers } = {}) {
  const token = tokenOf(id);
  const path = world.target(id) + query;
  return api.ask(methodOf(id), path, body, { headers, ...(token === null && { token }) });
}

const at = (answer, loc) => (answer.status === 422 ? answer.json.detail : []).filter((entry) => JSON.stringify(entry.loc).startsWith(JSON.stringify(loc).slice(0, -1)));
const show = (value) => (value === missing ? '(left out)' : JSON.stringify(value).slice(0, 60));

function checkEntry(answer, loc, { value, type, ctx, under = [], input = value }) {
  checked += 1;
  assert.equal(answer.status, 422, `${show(value)} was let pass: ${answer.text.slice(0, 300)}`);
  assert.equal(answer.json.code, 'validation_error');
  const entries = answer.json.detail;
  assert.equal(entries.length, 1, `${show(value)}: ${answer.text.slice(0, 600)}`);
  assert.deepEqual(entries[0].loc, [...loc, ...under]);
  if (type) assert.equal(entries[0].type, type, `${show(value)}: ${answer.text.slice(0, 300)}`);
  for (const [name, limit] of Object.entries(ctx ?? {})) assert.equal(entries[0].ctx[name], limit, answer.text.slice(0, 600));
  assert.ok(entries[0].msg.length > 0);
  if (value === missing || input === undefined) return;
  if (typeof input === 'string' && input.length > 200) assert.ok(input.startsWith(entries[0].input.slice(0, 100)));
  else assert.deepEqual(entries[0].input, input);
}

function checkPassed(answer, loc, value) {
  checked += 1;
  const found = at(answer, loc).filter((entry) => entry.type !== 'value_error');
  assert.deepEqual(found, [], `${show(value)} was refused`);
}

test('body fields', async (t) => {
  for (const id of ids.filter((each) => operations[each].body)) {
    for (const [name, type] of Object.entries(operations[id].body)) {
      await t.test(`${id} ${name}`, { skip: world.lacks(id) }, async () => {
        const { good, bad } = valuesOf(type);
        const withValue = (value) => {
          const body = { ...world.bodies()[id], [name]: value };
          if (value === missing) delete body[name];
          return body;
        };
        // Both given is refused for another reason than the limit of either.
        if (id === 'docs.share' && name === 'agent_handle') return;
        for (const value of good) {
          if (id === 'agents.update' && value === 'revoked') continue;
          if (name === 'wait_seconds') await world.queueEvent();
          checkPassed(await ask(id, { body: withValue(value) }), ['body', name], value);
        }
        for (const each of bad) checkEntry(await ask(id, { body: withValue(each.value) }), ['body', name], each);
      });
    }
  }
});

test('query parameters', async (t) => {
  for (const id of ids.filter((each) => operations[each].query)) {
    for (const [name, type] of Object.entries(operations[id].query)) {
      await t.test(`${id} ${name}`, { skip: world.lacks(id) }, async () => {
        const { good, bad } = queryValuesOf(type);
        const query = (value) => `?${name}=${encodeURIComponent(value)}`;
        for (const value of good) checkPassed(await ask(id, { query: query(value) }), ['query', name], value);
        for (const each of bad) checkEntry(await ask(id, { query: query(each.value) }), ['query', name], each);
        const valid = good[0] ?? 'x';
        const twice = await ask(id, { query: `${query(valid)}&${name}=${encodeURIComponent(valid)}` });
        assert.equal(twice.status, 422, 'a scalar given twice');
        assert.deepEqual(twice.json.detail[0].loc, ['query', name]);
      });
    }
  }
});

test('the header Idempotency-Key: 128 characters at most, on the six operations that list it', async (t) => {
  const keyed = ids.filter((id) => operations[id].ik);
  assert.equal(keyed.length, 6);
  for (const id of keyed) {
    await t.test(id, async () => {
      const inside = await ask(id, { headers: { 'idempotency-key': `${id}${'k'.repeat(128 - id.length)}` } });
      assert.equal(inside.status, operations[id].success, inside.text);
      const outside = await ask(id, { headers: { 'idempotency-key': 'k'.repeat(129) } });
      checkEntry(outside, ['header', 'Idempotency-Key'], { value: 'k'.repeat(129), type: 'string_too_long', ctx: { max_length: 128 } });
    });
  }
});

test('every error of a request comes at once, in the order of path, query, header, body', async () => {
  const answer = await api.ask('PUT', '/v1/documents/no-uuid', { title: '', content: 7 });
  assert.deepEqual(answer.json.detail.map(({ loc, type }) => [loc.join('.'), type]), [
    ['path.document_id', 'uuid_parsing'], ['body.title', 'string_too_short'], ['body.content', 'string_type'],
    ['body.expected_content_revision', 'missing'],
  ]);
  const empty = await api.ask('POST', '/v1/agent-events:claim', { lease_seconds: 29, wait_seconds: 31 });
  assert.deepEqual(empty.json.detail.map(({ loc, type }) => [loc.join('.'), type]), [
    ['body.worker_id', 'missing'], ['body.lease_seconds', 'greater_than_equal'], ['body.wait_seconds', 'less_than_equal'],
  ]);
  const query = await api.ask('GET', '/v1/admin/tests/cases?limit=0&query=' + 'q'.repeat(201) + '&role=' + 'r'.repeat(81));
  assert.deepEqual(new Set(query.json.detail.map(({ loc }) => loc.join('.'))), new Set(['query.limit', 'query.query', 'query.role']));
});

test('what is left out has its default', async () => {
  await api.expect(200, 'PATCH', `/v1/agents/${world.agent.id}`, { status: 'active' });
  const agent = await api.expect(201, 'POST', '/v1/agents', { handle: 'plain', display_name: 'Plain' });
  assert.equal(agent.provider, 'custom');
  assert.equal(agent.avatar_url, null);
  for (let i = 0; i < 51; i++) await world.newDocument({ title: `d${i}` });
  assert.equal((await api.expect(200, 'GET', '/v1/documents')).data.length, 50);
  const claimed = await api.expect(200, 'POST', '/v1/agent-events:claim', { worker_id: 'w' });
  assert.equal(claimed.retry_after_seconds, 5);
  const event = await world.newEvent();
  const lease = Date.parse(event.lease_expires_at) - Date.now();
  assert.ok(lease > 290_000 && lease <= 300_000, `${lease}`);
  const pull = await api.expect(200, 'GET', world.target('sync.pull'));
  assert.equal(pull.since_revision, 0);
  for (let i = 0; i < 21; i++) await api.expect(200, 'POST', '/v1/questions', { prompt: `q ${i}`, sources: ['workspace'] });
  assert.equal((await api.expect(200, 'GET', '/v1/questions')).data.length, 20);
  assert.equal((await api.expect(200, 'GET', '/v1/conversations')).data.length, 20);
});

test('null is not the same as absent: only where the document writes "or null"', async () => {
  const before = (await api.expect(200, 'PATCH', `/v1/agents/${world.agent.id}`, {}));
  const patched = await api.expect(200, 'PATCH', `/v1/agents/${world.agent.id}`, { display_name: null, avatar_url: null, status: null, permissions: null });
    assert.deepEqual(patched, before);
  assert.equal((await api.ask('POST', world.target('comments.add'), { body: 'x', start_new_chain: null })).status, 422);
  assert.equal((await api.ask('POST', world.target('comments.add'), { body: 'x', selection: null })).status, 422);
  assert.equal((await api.ask('POST', world.target('comments.add'), { body: 'x', entry_point: null })).status, 201);
});

test('so many were checked that a list left out would be noticed', () => {
  assert.ok(checked > 880, `${checked}`);
});
