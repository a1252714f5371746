// Prism makes a server from the document alone: it answers examples and remembers nothing. `ws-mock diff` before it.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ids } from '../../conformance/data/operations.mjs';
import { modules } from '../lib/generated.mjs';

const mock = join(process.env.WS_BIN_DIR ?? 'build/dev/bin', 'ws-mock');
const servers = [];
let folder;

/** Exit code and output; no code other than those of the manual. */
function run(...words) {
  const env = { ...process.env, WS_TOKEN: '' };
  return new Promise((resolve, reject) => {
    execFile(mock, words, { maxBuffer: 1 << 26, env }, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

const diff = (url, ...words) => run('diff', '--against', url, '--token-file', join(folder, 'key'), ...words);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Its base URL, once it answers. */
async function startPrism(...flags) {
  const port = await freePort();
  const words = ['mock', '--multiprocess', 'false', '--host', '127.0.0.1', '--port', String(port), ...flags];
  const child = spawn(join(modules, '.bin', 'prism'), [...words, join(folder, 'openapi.json')], { stdio: 'ignore' });
  servers.push(child);
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 200))) {
    assert.equal(child.exitCode, null, 'prism ended before it answered');
    if (await fetch(url).then(() => true, () => false)) return url;
  }
  throw new Error('prism does not answer');
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ws-prism-'));
  writeFileSync(join(folder, 'key'), 'anything\n');
  const { code, stdout } = await run('openapi');
  assert.equal(code, 0);
  writeFileSync(join(folder, 'openapi.json'), stdout);
});
after(() => {
  for (const server of servers) server.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** The switch's value as the table of the text report has it. */
const shown = (text, key) => text.match(new RegExp(`^${key} +(\\S+)`, 'm'))?.[1];

test('diff before Prism', async (t) => {
  const url = await startPrism();

  await t.test('reading: what differs, by operation, and exit 1', async () => {
    const { code, stdout, stderr } = await diff(url);
    assert.equal(code, 1, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, new RegExp(`^${url}: \\d+ exchanges$`, 'm'));
    assert.match(stdout, /^\d+ differences from the mock:$/m);
    // Prism sends no request ids, and refuses before it looks at parameters.
    assert.match(stdout, /^ +header +header\/x-request-id: missing; the mock sends it$/m);
    assert.equal(shown(stdout, 'auth_order'), 'auth_first');
    assert.equal(shown(stdout, 'question_created'), '-', 'nothing was sent that makes something');
    assert.doesNotMatch(stdout, /Not complete/);
  });

  await t.test('as JSON: the same, every operation by its id', async () => {
    const { code, stdout, stderr } = await diff(url, '--json');
    assert.equal(code, 1, stderr);
    const report = JSON.parse(stdout);
    const operations = new Set(report.differences.map(({ operation }) => operation));
    assert.ok(operations.size > 5);
    for (const id of operations) assert.ok(ids.includes(id), id);
  });

  await t.test('writing: it ends within a minute, and the files that it writes can be used', async () => {
    const assumptions = join(folder, 'assumptions.yaml');
    const junit = join(folder, 'junit.xml');
    const { code, stdout, stderr } =
      await diff(url, '--scratch', '--yes', '--assumptions', assumptions, '--junit', junit);
    assert.equal(code, 1, stderr);
    assert.equal(stderr, '');
    assert.equal(shown(stdout, 'question_created'), '200');
    assert.match(readFileSync(junit, 'utf8'), /<testsuite/);
    const told = await run('exec', '--assume-file', assumptions, '--', 'true');
    assert.equal(told.code, 0, told.stderr);
  });
});

test('diff before nobody, or without a key: exit 2 and one sentence', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const refused = await diff(nobody);
  assert.equal(refused.code, 2);
  assert.equal(refused.stdout, '');
  assert.match(refused.stderr, new RegExp(`^ws-mock: .*${nobody}.*cannot connect.*\n$`));
  const keyless = await run('diff', '--against', nobody);
  assert.equal(keyless.code, 2);
  assert.match(keyless.stderr, /^ws-mock: no key to call the service is given\n/);
});
