// What each assumption switch does to the answers that decisions.md names, and that they say so in X-Mock-Assumed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answers, mismatches } from '../data/shapes.mjs';
import { Api } from '../lib/api.mjs';
import { World, nobody } from '../lib/world.mjs';

let api;
let world;
before(async () => {
  api = await Api.start(['--clock', 'frozen:2026-11-20T10:00:00Z']);
  world = await World.build(api);
});
after(() => api.stop());

const assumed = (answer) => (answer.headers['x-mock-assumed'] ?? '').split(', ').filter(Boolean);
const restsOn = (answer, ...wanted) => {
  for (const each of wanted) assert.ok(assumed(answer).includes(each), `X-Mock-Assumed: ${assumed(answer)} lacks ${each} (${answer.method} ${answer.path} ${answer.status})`);
  assert.equal(new Set(assumed(answer)).size, assumed(answer).length, `${assumed(answer)}`);
};

async function assuming(switches, body) {
  await api.assume(switches);
  try {
    await body();
  } finally {
    await api.assume({
      error_style: 'plain', device_pending: 'error_400', revision_mismatch: '409', question_created: '200', question_async: 'no',
      pull_filter: 'honoured', auth_order: 'auth_first', list_extra: 'none', assumed_fields: 'full', sync_conflict_status: 'in_body',
      renew_from: 'end', workspace_create: 'visible', test_runs: 'timed',
    });
  }
}

/** One refusal of each kind that the default rules make. */
async function refusals() {
  const document = await world.newDocument();
  const poor = await api.key({ scopes: ['documents:read'] });
  return {
    401: await api.ask('GET', '/v1/me', undefined, { token: null }),
    403: await api.ask('POST', '/v1/search', { query: 'x' }, { token: poor }),
    404: await api.ask('GET', `/v1/documents/${nobody}`),
    405: await api.ask('PATCH', '/v1/me'),
    409: await api.ask('PUT', `/v1/documents/${document.id}`, { expected_content_revision: 9 }),
    415: await api.ask('POST', '/v1/search', 'x', { headers: { 'content-type': 'text/plain' } }),
  };
}

test('error_style=plain: a sentence, a code and the request id', async () => {
  for (const [status, answer] of Object.entries(await refusals())) {
    assert.equal(answer.status, Number(status));
    restsOn(answer, 'error_style=plain');
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(typeof answer.json.detail, 'string');
    assert.match(answer.json.code, /^[a-z_]+$/);
    assert.equal(answer.json.request_id, answer.headers['x-request-id']);
  }
});

test('error_style=problem: the same members as application/problem+json, with type, title and status', async () => {
  await assuming({ error_style: 'problem' }, async () => {
    for (const [status, answer] of Object.entries(await refusals())) {
      restsOn(answer, 'error_style=problem');
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.equal(answer.json.status, Number(status));
      assert.equal(typeof answer.json.type, 'string');
      assert.ok(answer.json.title.length > 0);
      assert.equal(typeof answer.json.detail, 'string');
      assert.match(answer.json.code, /^[a-z_]+$/);
      assert.equal(answer.json.request_id, answer.headers['x-request-id']);
      if (status === '409') assert.equal(answer.json.current_content_revision, 1);
    }
  });
});

test('error_style=detail_object: code and message in detail', async () => {
  await assuming({ error_style: 'detail_object' }, async () => {
    for (const answer of Object.values(await refusals())) {
      restsOn(answer, 'error_style=detail_object');
      assert.match(answer.json.detail.code, /^[a-z_]+$/);
      assert.ok(answer.json.detail.message.length > 0);
    }
  });
});

test('error_style=html: a page', async () => {
  await assuming({ error_style: 'html' }, async () => {
    for (const [status, answer] of Object.entries(await refusals())) {
      restsOn(answer, 'error_style=html');
      assert.match(answer.headers['content-type'], /^text\/html/);
      assert.ok(answer.text.includes(status));
    }
  });
});

test('a 422 has its published form under every error_style', async () => {
  for (const style of ['plain', 'problem', 'detail_object', 'html']) {
    await assuming({ error_style: style }, async () => {
      const answer = await api.ask('GET', '/v1/documents?limit=0');
      assert.equal(answer.status, 422);
      assert.deepEqual(answer.json.detail[0].loc, ['query', 'limit']);
      assert.ok(!assumed(answer).some((each) => each.startsWith('error_style')));
    });
  }
});

test('device_pending: the five ways to say "not yet"', async () => {
  // The document keeps to what is published of a 200: that there is a secret in it.
  const poll = (device_code, check) => api.ask('POST', '/v1/auth/device-token', { device_code }, { token: null, check });
  const expected = {
    error_400: [400, (body) => assert.equal(body.error, 'authorization_pending')],
    detail_400: [400, (body) => assert.equal(body.error, undefined)],
    status_428: [428, () => {}],
    status_202: [202, (body) => assert.equal(body?.secret, undefined)],
    ok_without_secret: [200, (body) => assert.equal(body?.secret, undefined)],
  };
  for (const [value, [status, check]] of Object.entries(expected)) {
    await assuming({ device_pending: value }, async () => {
      const code = await world.newDeviceCode(false);
      const first = await poll(code, value !== 'ok_without_secret');
      assert.equal(first.status, status);
      check(first.json);
      restsOn(first, `device_pending=${value}`);
      const fast = await poll(code, value !== 'ok_without_secret');
      assert.equal(fast.status, status, 'slow_down comes the same way');
      restsOn(fast, `device_pending=${value}`);
      const approved = await poll(await world.newDeviceCode(true));
      assert.equal(approved.status, 200);
      assert.ok(approved.json.secret.startsWith('wsk_'));
    });
  }
});

test('revision_mismatch: 409 or 412, with what is there now, for documents and for conflicts', async () => {
  for (const value of ['409', '412']) {
    await assuming({ revision_mismatch: value }, async () => {
      const document = await world.newDocument();
      const refused = await api.ask('PUT', `/v1/documents/${document.id}`, { content: 'x', expected_content_revision: 5 });
      assert.equal(refused.status, Number(value));
      assert.equal(refused.json.code, 'revision_conflict');
      assert.equal(refused.json.current_content_revision, 1);
      assert.equal(refused.json.current_content_sha256, document.content_sha256);
      assert.equal(refused.json.expected_content_revision, 5);
      restsOn(refused, `revision_mismatch=${value}`, 'error_style=plain');
      const conflict = await world.newConflict();
      const late = await api.ask('POST', `/v1/sync/conflicts/${conflict.id}:resolve`, { resolution: 'keep_remote', expected_content_revision: 99 });
      assert.equal(late.status, Number(value));
      restsOn(late, `revision_mismatch=${value}`);
    });
  }
});

test('question_created: 200 or 201, and a repeated call the same', async () => {
  for (const value of ['200', '201']) {
    await assuming({ question_created: value }, async () => {
      const ask = () => api.ask('POST', '/v1/questions', { prompt: 'tide?', sources: ['workspace'] }, { headers: { 'idempotency-key': `q${value}` } });
      const first = await ask();
      assert.equal(first.status, Number(value));
      restsOn(first, `question_created=${value}`, 'question_async=no');
      const again = await ask();
      assert.equal(again.status, Number(value));
      assert.equal(again.json.id, first.json.id);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      restsOn(again, `question_created=${value}`);
    });
  }
});

test('question_async=yes: running at first, completed 2 s later, without answer but with its artifact', async () => {
  await assuming({ question_async: 'yes' }, async () => {
    const asked = await api.ask('POST', '/v1/questions', { prompt: 'When does the tide turn?', sources: ['workspace'] });
    assert.equal(asked.json.status, 'running');
    assert.ok(!('answer' in asked.json));
    assert.equal(asked.json.completed_at, null);
    assert.deepEqual(asked.json.artifacts, []);
    restsOn(asked, 'question_async=yes');
    const path = `/v1/questions/${asked.json.id}`;
    await api.control('POST', '/clock:advance', { seconds: 1 });
    const early = await api.ask('GET', path);
    assert.equal(early.json.status, 'running');
    restsOn(early, 'question_async=yes');
    await api.control('POST', '/clock:advance', { seconds: 1 });
    const late = await api.ask('GET', path);
    assert.equal(late.json.status, 'completed');
    assert.ok(!('answer' in late.json));
    assert.equal(late.json.completed_at, '2026-11-20T10:00:02.000Z');
    restsOn(late, 'question_async=yes');
    const artifact = await api.expect(200, 'GET', `/v1/documents/${late.json.artifacts[0].document_id}`);
    assert.ok(artifact.content.length > 0);
    assert.equal(artifact.content_revision, late.json.artifacts[0].content_revision);
    restsOn(await api.ask('GET', '/v1/questions'), 'question_async=yes');
  });
  restsOn(await api.ask('GET', `/v1/questions/${world.question.id}`), 'question_async=no');
});

test('pull_filter=ignored: everything, whatever is asked for, and no cursor', async () => {
  await world.publish([{ path: 'one.md', action: 'push_create', content: 'one' }, { path: 'two.md', action: 'push_create', content: 'two' }]);
  const path = `/v1/sync/sources/${world.source.id}/pull`;
  const honoured = await api.ask('GET', `${path}?limit=1&include_content=false`);
  assert.equal(honoured.json.data.length, 1);
  assert.equal(honoured.json.data[0].content, null);
  assert.notEqual(honoured.json.next_cursor, null);
  restsOn(honoured, 'pull_filter=honoured');
  await assuming({ pull_filter: 'ignored' }, async () => {
    const all = await api.ask('GET', `${path}?limit=1&include_content=false&since_revision=1&cursor=nonsense`);
    assert.equal(all.status, 200);
    assert.ok(all.json.data.length >= 2);
    assert.equal(all.json.next_cursor, null);
    restsOn(all, 'pull_filter=ignored');
  });
});

test('auth_order: which of two wrongs is told first', async () => {
  const stranger = { token: 'wsk_stranger' };
  const poor = { token: await api.key({ scopes: ['search:read'] }) };
  const cases = [
    [['GET', '/v1/documents?limit=0'], 422],
    [['GET', '/v1/documents/no-uuid'], 422],
    [['POST', '/v1/documents', '{'], 422],
    [['POST', '/v1/documents', 'x', { 'content-type': 'text/plain' }], 415],
  ];
  for (const [[method, path, body, headers], wrong] of cases) {
    assert.equal((await api.ask(method, path, body, { headers, ...stranger })).status, 401);
    assert.equal((await api.ask(method, path, body, { headers, ...poor })).status, 403);
    await assuming({ auth_order: 'validation_first' }, async () => {
      for (const who of [stranger, poor]) {
        const answer = await api.ask(method, path, body, { headers, ...who });
        assert.equal(answer.status, wrong);
        restsOn(answer, 'auth_order=validation_first');
      }
      assert.equal((await api.ask('GET', '/v1/documents', undefined, stranger)).status, 401);
      assert.equal((await api.ask('GET', '/v1/nothing', undefined, stranger)).status, 404);
    });
  }
});

test('list_extra=unknown_fields: every resource carries fields nobody knows', async () => {
  await assuming({ list_extra: 'unknown_fields' }, async () => {
    for (const [method, path, body] of [
      ['GET', '/v1/documents'], ['GET', `/v1/documents/${world.document.id}`], ['GET', `/v1/documents/${world.document.id}/comments`],
      ['GET', '/v1/agents'], ['GET', '/v1/me'], ['POST', '/v1/search', { query: 'tide' }], ['GET', '/v1/questions'],
      ['GET', `/v1/sync/sources/${world.source.id}/pull`], ['GET', '/v1/admin/tests/cases'], ['GET', '/v1/conversations'],
    ]) {
      const answer = await api.ask(method, path, body, { which: 'open' });
      assert.equal(answer.status, 200);
      restsOn(answer, 'list_extra=unknown_fields');
      const unknown = (object) => Object.keys(object).some((name) => name.startsWith('x_unknown'));
      assert.ok(unknown(answer.json), path);
      for (const item of answer.json.data ?? []) assert.ok(unknown(item), path);
    }
  });
});

test('assumed_fields: what only decisions.md names is null or missing; published fields and ids stay', async () => {
  for (const value of ['null', 'missing']) {
    await assuming({ assumed_fields: value }, async () => {
      const document = (await api.ask('GET', `/v1/documents/${world.document.id}`)).json;
      assert.equal(document.id, world.document.id);
      assert.equal(document.content, world.document.content);
      assert.equal(document.content_revision, 1);
      if (value === 'null') assert.equal(document.title, null);
      else assert.ok(!('title' in document));
      const agents = await api.ask('GET', '/v1/agents');
      assert.deepEqual(mismatches(agents.json, answers['agents.list']), []);
      restsOn(agents, `assumed_fields=${value}`);
      const comments = await api.ask('GET', `/v1/documents/${world.document.id}/comments`);
      assert.deepEqual(mismatches(comments.json, answers['comments.list']), []);
      const conversations = await api.ask('GET', '/v1/conversations');
      assert.deepEqual(mismatches(conversations.json, answers['conversations.list']), []);
      const question = (await api.ask('GET', `/v1/questions/${world.question.id}`)).json;
      for (const name of ['id', 'status', 'conversation_id', 'source_document_ids', 'artifacts', 'links']) assert.ok(question[name] !== undefined && question[name] !== null, name);
      assert.ok(!question.answer);
      const list = (await api.ask('GET', '/v1/documents')).json;
      assert.ok(list.data.every(({ id }) => id));
    });
  }
});

test('sync_conflict_status=409: the same body as a refusal; what was applied stays applied, also when repeated', async () => {
  for (const value of ['in_body', '409']) {
    await assuming({ sync_conflict_status: value }, async () => {
      const path = `clash-${value}.md`;
      const made = (await world.publish([{ path, action: 'push_create', content: 'one' }])).applied[0];
      await api.expect(200, 'PUT', `/v1/documents/${made.document_id}`, { content: 'two', expected_content_revision: made.content_revision });
      const plan = await world.newPlan();
      const { createHash } = await import('node:crypto');
      const item = (name, content, more) => ({ path: name, content, content_sha256: createHash('sha256').update(content).digest('hex'), document_id: null, expected_content_revision: null, ...more });
      const push = await api.expect(200, 'POST', '/v1/sync/push', {
        source_id: world.source.id, plan_id: plan.plan_id,
        items: [
          item(path, 'three', { action: 'push_update', document_id: made.document_id, expected_content_revision: made.content_revision }),
          item(`fresh-${value}.md`, 'new', { action: 'push_create' }),
        ],
      });
      const commit = () => api.ask('POST', '/v1/sync/commit', {
        source_id: world.source.id, plan_id: plan.plan_id, push_ids: [push.push_id], expected_revision: plan.revision, client_id: 'proof',
      }, { which: 'open' });
      const first = await commit();
      assert.equal(first.status, value === '409' ? 409 : 200, first.text);
      assert.equal(first.json.status, 'partly_conflicted');
      assert.equal(first.json.conflicts.length, 1);
      assert.equal(first.json.applied.length, 1);
      if (value === '409') assert.equal(first.json.code, 'sync_conflict');
      restsOn(first, `sync_conflict_status=${value}`);
      const again = await commit();
      assert.equal(again.status, first.status);
      assert.equal(again.json.commit_id, first.json.commit_id);
      await api.expect(200, 'GET', `/v1/documents/${first.json.applied[0].document_id}`);
      assert.ok(!assumed(await api.ask('POST', '/v1/sync/plan', world.bodies()['sync.plan'])).some((each) => each.startsWith('sync_conflict')));
    });
  }
});

test('answers under default switches name nothing that they do not rest on', async () => {
  for (const path of ['/v1/me', '/v1', '/v1/documents', `/v1/documents/${world.document.id}`, '/v1/agents', '/v1/workspaces']) {
    assert.deepEqual(assumed(await api.ask('GET', path)), [], path);
  }
});
