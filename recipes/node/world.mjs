// node:test: each test gets a world of its own. When it fails, its requests are printed, and kept as a trace.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const packaged = fileURLToPath(new URL('bin/ws-mock', import.meta.url));
const program = process.env.WS_MOCK ?? (existsSync(packaged) ? packaged : 'ws-mock');
let server;

/** The base URL of one server for all tests of this process. */
function started() {
  server ??= new Promise((resolve, reject) => {
    const mock = spawn(program, ['--exit-with-parent', '--log', 'off'], { stdio: ['ignore', 'pipe', 'inherit'] });
    mock.once('error', reject).once('exit', (code) => reject(new Error(`ws-mock ended with ${code}`)));
    mock.stdout.once('data', (line) => {
      mock.unref(); // it ends with this process, which need not wait for it
      mock.stdout.unref();
      resolve(String(line).trim());
    });
  });
  return server;
}

async function control(url, method = 'GET', body = undefined) {
  const headers = body && { 'Content-Type': 'application/json' };
  const text = await (await fetch(url, { method, headers, body: body && JSON.stringify(body) })).text();
  return text === '' ? null : JSON.parse(text);
}

/** A test whose body gets {base_url, token, control_url}. */
export function worldTest(name, body) {
  test(name, async (t) => {
    const url = `${await started()}/_mock/sandboxes`;
    const world = await control(url, 'POST', {});
    try {
      await body(world, t);
    } catch (error) {
      const requests = (await control(`${world.control_url}/requests`)).data;
      for (const one of requests) console.log(one.time, one.status, one.method, one.path, one.fault ?? '');
      await mkdir('ws-mock-traces', { recursive: true });
      const trace = { requests, state: await control(`${world.control_url}/state`) };
      await writeFile(`ws-mock-traces/${name.replace(/[^\w.-]+/g, '-')}.json`, JSON.stringify(trace, null, 1));
      throw error;
    } finally {
      await control(`${url}/${world.id}`, 'DELETE');
    }
  });
}
