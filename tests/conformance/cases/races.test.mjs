// Many at once over real sockets, and answers that got lost: one wins, one object is made, nothing is held twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { operations } from '../data/operations.mjs';
import { Api } from '../lib/api.mjs';
import { sha256, World } from '../lib/world.mjs';

let api;
let world;
before(async () => {
  api = await Api.start();
  world = await World.build(api);
});
after(() => api.stop());

const many = (count, make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const tally = (answers) => answers.reduce((counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }), {});
const keyed = Object.keys(operations).filter((id) => operations[id].ik);

test('of 32 writers with one expected revision exactly one wins', async () => {
  for (let round = 0; round < 5; round++) {
    const document = await world.newDocument();
    const path = `/v1/documents/${document.id}`;
    const answers = await many(32, (i) => api.ask('PUT', path, { content: `writer ${i}`, expected_content_revision: 1 }));
    assert.deepEqual(tally(answers), { 200: 1, 409: 31 });
    const won = answers.findIndex(({ status }) => status === 200);
    const now = await api.expect(200, 'GET', path);
    assert.equal(now.content, `writer ${won}`);
    assert.equal(now.content_revision, 2);
  }
});

test('of 8 clients that commit a change of one document exactly one is applied, the others are conflicts', async () => {
  const made = (await world.publish([{ path: 'raced.md', action: 'push_create', content: 'one' }])).applied[0];
  const commits = await many(8, async (i) => {
    const content = `client ${i}`;
    const plan = await world.newPlan();
    const push = await api.expect(200, 'POST', '/v1/sync/push', {
      source_id: world.source.id, plan_id: plan.plan_id,
      items: [{
        path: 'raced.md', action: 'push_update', document_id: made.document_id, content, content_sha256: sha256(content),
        expected_content_revision: made.content_revision,
      }],
    });
    return api.expect(200, 'POST', '/v1/sync/commit', {
      source_id: world.source.id, plan_id: plan.plan_id, push_ids: [push.push_id], expected_revision: plan.revision, client_id: `client ${i}`,
    });
  });
  assert.equal(commits.filter(({ applied }) => applied.length === 1).length, 1);
  assert.equal(commits.filter(({ conflicts }) => conflicts.length === 1).length, 7);
});

/** The id that a repeated call must answer with again. */
const idOf = (answer) => answer.json.id;

test('12 calls at once with one key make one object, for each of the six operations', async (t) => {
  for (const id of keyed) {
    await t.test(id, async () => {
      const { method, path, body } = await world.succeeding(id);
      const headers = { 'idempotency-key': `twelve-${id}` };
      const answers = await many(12, () => api.ask(method, path, body, { headers }));
      const done = answers.filter(({ status }) => status === operations[id].success);
      assert.equal(new Set(done.map(idOf)).size, 1);
      for (const answer of answers) {
        if (answer.status !== operations[id].success) assert.equal(answer.json.code, 'idempotency_in_flight');
      }
      assert.equal(done.filter(({ headers: sent }) => !('idempotent-replayed' in sent)).length, 1);
    });
  }
});

test('an answer that got lost, and the same key again: one object, the same id, Idempotent-Replayed', async (t) => {
  for (const id of keyed) {
    await t.test(id, async () => {
      const { method, path, body } = await world.succeeding(id);
      const headers = { 'idempotency-key': `lost-${id}` };
      await api.control('POST', '/faults', { operation: id, nth: 1, phase: 'after', effect: { close_without_answer: {} } });
      await assert.rejects(() => api.ask(method, path, body, { headers }));
      await api.control('DELETE', '/faults');
      const again = await api.ask(method, path, body, { headers });
      assert.equal(again.status, operations[id].success, again.text);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      const third = await api.ask(method, path, body, { headers });
      assert.equal(idOf(third), idOf(again));
      assert.equal(third.text, again.text);
    });
  }
  // What can be listed is there once.
  const titled = (await api.expect(200, 'GET', '/v1/documents?limit=100')).data.filter(({ title }) => title === world.bodies()['docs.create'].title);
  assert.equal(titled.length, 2); // one of the twelve, one of the lost
  const cellars = (await api.expect(200, 'GET', '/v1/workspaces', undefined, { token: await api.key({ audience: 'user' }) })).data;
  assert.equal(cellars.filter(({ name }) => name === world.bodies()['workspaces.create'].name).length, 2);
});

test('no event is held by two workers, and each is had by one', async () => {
  const document = await world.newDocument();
  for (let i = 0; i < 30; i++) await world.newThread(document.id, `@${world.agent.handle} number ${i}`);
  const claimed = (await many(40, (i) => api.expect(200, 'POST', '/v1/agent-events:claim', { worker_id: `w${i}` }))).map(({ event }) => event).filter(Boolean);
  const own = claimed.filter(({ document_id }) => document_id === document.id);
  assert.equal(own.length, 30);
  assert.equal(new Set(claimed.map(({ id }) => id)).size, claimed.length);
  assert.equal(new Set(claimed.map(({ lease_token }) => lease_token)).size, claimed.length);
  // Who holds nothing can end nothing.
  const wrong = await many(10, (i) => api.ask('POST', `/v1/agent-events/${own[i].id}:complete`, { lease_token: own[i + 10].lease_token, result: {} }));
  assert.deepEqual(tally(wrong), { 409: 10 });
  const ended = await many(20, (i) => api.ask('POST', `/v1/agent-events/${own[i % 10].id}:complete`, { lease_token: own[i % 10].lease_token, result: {} }));
  assert.deepEqual(tally(ended), { 200: 10, 409: 10 });
});

test('of 10 waiting claims one is woken by an event, and the others hold up nobody', async () => {
  const document = await world.newDocument();
  let waiting = many(10, (i) => api.expect(200, 'POST', '/v1/agent-events:claim', { worker_id: `w${i}`, wait_seconds: 2 }));
  const started = Date.now();
  assert.equal((await api.ask('GET', '/v1/me')).status, 200);
  assert.ok(Date.now() - started < 1000);
  await world.newThread(document.id, `@${world.agent.handle} wake up`);
  const events = (await waiting).map(({ event }) => event).filter(Boolean);
  assert.equal(events.length, 1);
  assert.equal(events[0].document_id, document.id);
});

test('the old secret is dead with the answer to the rotation, however many calls are under way', async () => {
  const agent = await api.expect(201, 'POST', '/v1/agents', { handle: 'turning', display_name: 'T' });
  let { secret } = agent.credential;
  for (let round = 0; round < 5; round++) {
    const old = secret;
    const under = many(10, () => api.ask('GET', '/v1/me', undefined, { token: old }));
    secret = (await api.expect(200, 'POST', `/v1/agents/${agent.id}/credentials:rotate`)).secret;
    const late = await many(10, () => api.ask('GET', '/v1/me', undefined, { token: old }));
    assert.deepEqual(tally(late), { 401: 10 });
    assert.equal(late[0].json.code, 'revoked_credential');
    assert.equal((await api.ask('GET', '/v1/me', undefined, { token: secret })).status, 200);
    await under;
  }
});

test('one upload becomes one file, however often it is finished', async () => {
  const started = await world.newUpload('# Moon');
  const answers = await many(8, () => api.ask('POST', '/v1/files/uploads:finalize', world.finish(started, '# Moon')));
  assert.deepEqual(tally(answers), { 201: 1, 409: 7 });
  const made = answers.find(({ status }) => status === 201).json.id;
  for (const { status, json } of answers) {
    if (status !== 409) continue;
    assert.equal(json.code, 'upload_consumed');
    assert.equal(json.asset_id, made);
  }
});

test('of 8 agents of one handle one is made', async () => {
  const answers = await many(8, () => api.ask('POST', '/v1/agents', { handle: 'wanted', display_name: 'W' }));
  assert.deepEqual(tally(answers), { 201: 1, 409: 7 });
  assert.equal(answers.find(({ status }) => status === 409).json.code, 'handle_taken');
});
