// The script survives a sample of the faults: `node --test recipes/sweep/`
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('publish_notes.sh', import.meta.url));

test('no fault is hidden behind a green exit', () => {
  const flags = ['--json', '--sample', '6', '--skip', 'timeout-before'];
  const sweep = spawnSync('ws-mock', ['sweep', ...flags, '--', script], { encoding: 'utf8' });
  assert.ok([0, 1].includes(sweep.status), sweep.stderr);
  const found = JSON.parse(sweep.stdout).rows.flatMap((row) => row.findings);
  assert.deepEqual(found.map((one) => `${one.id}: ${one.sentence}`), []);
});
