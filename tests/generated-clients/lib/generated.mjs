// Generates a client, has it compiled with calls to every operation, and runs these against a fresh ws-mock.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { operations } from '../../conformance/data/operations.mjs';
import { answers, mismatches } from '../../conformance/data/shapes.mjs';
import { Api } from '../../conformance/lib/api.mjs';
import { prepareCalls } from './calls.mjs';

export const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Runs a program of an npm package in `folder`; what it prints is shown when it fails. */
export async function run(folder, program, ...words) {
  const options = { cwd: folder, maxBuffer: 1 << 26, env: { ...process.env, NO_COLOR: '1', DO_NOT_TRACK: '1' } };
  try {
    return await promisify(execFile)(join(modules, '.bin', program), words, options);
  } catch (error) {
    throw new Error(`${program} ${words.join(' ')}: ${error.code}\n${error.stdout}${error.stderr}`);
  }
}

/** `docs.set_status` as generators write it for a function: docsSetStatus. */
export const functionName = (id) => id.replace(/[._](\w)/g, (_, letter) => letter.toUpperCase());
export const literal = (value) => JSON.stringify(value);
/** Generated types have no member where an operation takes nothing in that place. */
export const filled = (values) => (Object.keys(values).length > 0 ? values : undefined);

/** Generated code and calls, checked as strictly as tsc can; compiled only if nothing is wrong. */
async function compile(folder) {
  const compilerOptions = {
    strict: true, noEmitOnError: true, skipLibCheck: true, target: 'es2022', module: 'node16',
    lib: ['es2022', 'dom', 'dom.iterable'], types: [], outDir: 'out',
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['calls.ts'] }));
  await run(folder, 'tsc', '-p', '.');
  return createRequire(import.meta.url)(join(folder, 'out', 'calls.js'));
}

/** A module of `answers`, each with its generated type, and `calls`, a table of functions. */
function source(client, calls, document) {
  const lines = [client.head, '', 'export const answers = {'];
  for (const call of calls) {
    if (call.answer === undefined) continue;
    const success = operations[call.id].success;
    lines.push(`  ${literal(call.id)}: ${literal(call.answer)} satisfies ${client.answerType(call, success)},`);
  }
  lines.push('};', '', 'export const calls = (baseUrl: string, token: string) => {', ...client.setup, '  return {');
  for (const call of calls) lines.push(`    ${literal(call.id)}: () => ${client.call(call, document)},`);
  lines.push('  };', '};', '');
  return lines.join('\n');
}

/** What the server saw of the call is what was meant. */
function checkRequest(call, seen) {
  const path = call.template.replace(/\{(\w+)\}/g, (_, name) => call.path[name]);
  assert.equal(seen.operation, call.id);
  assert.equal(seen.method, call.method);
  assert.equal(decodeURIComponent(seen.path), path);
  const query = Object.fromEntries(new URLSearchParams(seen.query ?? ''));
  const meant = Object.entries(call.query ?? {}).map(([name, value]) => [name, String(value)]);
  assert.deepEqual(query, Object.fromEntries(meant));
  for (const [name, value] of Object.entries(call.headers)) {
    assert.equal(seen.request_headers[name.toLowerCase()], value);
  }
}

function checkAnswer(call, answer) {
  assert.equal(answer.status, operations[call.id].success, literal(answer.data));
  if (call.answer === undefined) assert.equal(answer.data, '# Moon\n\nPull');
  else if (answers[call.id]) assert.deepEqual(mismatches(answer.data, answers[call.id]), []);
}

/**
 * The tests of one generator. `client`:
 * - `generate(folder, baseUrl)`: writes the client; the document is there as openapi.json
 * - `head`: the imports; `setup`: lines before the table of calls
 * - `answerType(call, status)`: the generated type of an answer
 * - `call(call, document)`: an expression, a promise of { status, data }
 */
export function testClient(name, client) {
  let api;
  let folder;
  let calls;
  before(async () => {
    api = await Api.start();
    folder = mkdtempSync(join(tmpdir(), 'ws-generated-'));
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(api.contract.document));
    calls = await prepareCalls(api);
  });
  after(async () => {
    await api?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  test(`${name}: a client that compiles and calls every operation`, async (t) => {
    await client.generate(folder, api.server.baseUrl);
    writeFileSync(join(folder, 'calls.ts'), source(client, calls, api.contract.document));
    const compiled = (await compile(folder)).calls(api.server.baseUrl, api.token);
    for (const call of calls) {
      await t.test(call.id, async () => {
        await api.control('DELETE', '/requests');
        checkAnswer(call, await compiled[call.id]());
        const seen = (await api.control('GET', '/requests')).data;
        assert.equal(seen.length, 1);
        checkRequest(call, seen[0]);
      });
    }
  });
}
