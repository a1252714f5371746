// The real ws-mock and a headless browser, for the tests of its pages.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

/** `{base_url, token, call(method, path, body), stop()}`. */
export async function startMock(flags = []) {
  const folder = mkdtempSync(join(tmpdir(), 'ws-pages-'));
  const ready = join(folder, 'ready.json');
  const program = join(process.env.WS_BIN_DIR ?? 'build/dev/bin', 'ws-mock');
  const child = spawn(program, ['--ready-file', ready, '--log', 'off', '--exit-with-parent', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', reject);
    ended.then((code) => reject(new Error(`ws-mock ended with ${code}`)));
  });
  const told = JSON.parse(readFileSync(ready, 'utf8'));
  return {
    ...told,
    async call(method, path, body, token = path.startsWith('/_mock') ? told.control_token : told.token) {
      const answer = await fetch(told.base_url + path, {
        method,
        headers: { ...(token && { Authorization: `Bearer ${token}` }), ...(body && { 'Content-Type': 'application/json' }) },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      return text === '' ? null : JSON.parse(text);
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A browser with nothing of anybody's in it; `close` takes its profile along. */
export async function startBrowser(flags = []) {
  const profile = mkdtempSync(join(tmpdir(), 'ws-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', ...flags,
    ],
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
