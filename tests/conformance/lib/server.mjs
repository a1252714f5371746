// The real ws-mock, started for one test file and stopped at its end.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Starts it on a free loopback port; `flags` are further words. Answers with where it is, its token, and `stop`. */
export async function startMock(flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'ws-conformance-'));
  const ready = join(folder, 'ready.json');
  // The key of the ready file is for one Workspace; the cases try each operation with it.
  const words = ['--listen', '127.0.0.1:0', '--ready-file', ready, '--log', 'off', '--exit-with-parent',
    '--assume', 'workspace_create=visible', ...flags];
  const program = join(process.env.WS_BIN_DIR ?? 'build/dev/bin', 'ws-mock');
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const failed = new Promise((_, reject) => child.once('error', reject));
  const lines = createInterface({ input: child.stdout });
  const first = new Promise((resolve) => lines.once('line', resolve));
  const gone = ended.then(({ code }) => Promise.reject(new Error(`ws-mock ended with ${code} before it answered`)));
  gone.catch(() => {});
  await Promise.race([first, failed, gone]);
  const { base_url: baseUrl, port, token } = JSON.parse(readFileSync(ready, 'utf8'));
  return {
    baseUrl,
    port,
    token,
    async stop() {
      child.kill('SIGTERM');
      const end = await ended;
      rmSync(folder, { recursive: true, force: true });
      return end;
    },
  };
}
