// Tests against the mock server, without packages: a process a file, a sandbox a test, all of them side by side.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

let folder;
let mock;
let controlUrl;

async function call(url, { method, body, token } = {}) {
  const answer = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body && { 'Content-Type': 'application/json' }), ...(token && { Authorization: `Bearer ${token}` }) },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notes-'));
  const ready = join(folder, 'ready.json');
  mock = spawn(process.env.WS_MOCK ?? 'ws-mock', ['--ready-file', ready, '--exit-with-parent', '--log', 'off'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  for (;;) {
    const text = await readFile(ready, 'utf8').catch(() => null); // written whole, by rename
    if (text !== null) {
      controlUrl = JSON.parse(text).control_url;
      return;
    }
    assert.equal(mock.exitCode, null, 'ws-mock ended');
    await sleep(10);
  }
});

after(async () => {
  mock.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a test in a world of its own. */
async function inSandbox(test) {
  const { body: sandbox } = await call(`${controlUrl}/sandboxes`, { body: {} });
  const api = (path, options = {}) => call(sandbox.base_url + path, { ...options, token: sandbox.token });
  const control = (path, options) => call(sandbox.control_url + path, options);
  try {
    await test(api, control);
  } finally {
    await call(`${controlUrl}/sandboxes/${sandbox.id}`, { method: 'DELETE' });
  }
}

describe('notes', { concurrency: true }, () => {
  it('a note is created once', () => inSandbox(async (api, control) => {
    const made = await api('/v1/documents', { body: { title: 'Tides', content: 'High water at six.' } });
    assert.equal(made.status, 201);
    assert.equal((await api(made.body.links.self)).body.content, 'High water at six.');
    const verified = await control('/requests:verify', { body: { match: { operation: 'docs.create' }, times: 1 } });
    assert.equal(verified.status, 200, JSON.stringify(verified.body));
  }));

  it('somebody else was faster', () => inSandbox(async (api, control) => {
    const { id } = (await api('/v1/documents', { body: { title: 'Tides', content: 'one' } })).body;
    await control('/faults', { body: { operation: 'docs.update', nth: 1, effect: { bump_revision: true } } });
    const update = { method: 'PUT', body: { content: 'two', expected_content_revision: 1 } };
    const refused = await api(`/v1/documents/${id}`, update);
    assert.equal(refused.status, 409);
    assert.equal(refused.body.current_content_revision, 2);
  }));

  it('the world is the one that the test asked for', async () => {
    const fixtures = { people: [{ email: 'ada@example.com' }], documents: [{ title: 'One' }] };
    const { body: sandbox } = await call(`${controlUrl}/sandboxes`, { body: { fixtures } });
    const list = await call(`${sandbox.base_url}/v1/documents`, { token: sandbox.token });
    assert.deepEqual(list.body.data.map((one) => one.title), ['One']);
  });
});
