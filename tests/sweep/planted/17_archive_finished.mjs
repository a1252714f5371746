#!/usr/bin/env node
// Archives every document whose title ends with "[done]".
import { createHash } from 'node:crypto';

const base = process.env.WS_BASE_URL.replace(/\/+$/, ''), token = process.env.WS_TOKEN;
const sleep = ms => new Promise(done => setTimeout(done, ms));
const keyFor = (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

async function pause(value, attempt) {
  const s = value == null ? attempt : /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  if (!(s <= 30)) throw new Error(`asked to wait ${value}, giving up`);
  await sleep(Math.max(0, s) * 1000);
}

async function call(method, path, { body, key, safe, want = [200] } = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  if (key) headers['idempotency-key'] = key;
  let status, head, text;
  for (let n = 1; ; n++) {
    try {
      const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(5000) });
      text = await answer.text();
      [status, head] = [answer.status, answer.headers];
    } catch { [status, head] = [0, new Headers()]; }
    const again = status === 429 || ([0, 502, 503, 504].includes(status) && (method === 'GET' || key || safe))
      || (status === 409 && key && head.has('retry-after'));
    if (!again || n === 4) break;
    await pause(head.get('retry-after'), n);
  }
  if (!want.includes(status)) throw new Error(`${method} ${path}: status ${status}`);
  try { return JSON.parse(text); } catch { throw new Error(`${method} ${path}: not JSON`); }
}

for (const n of [1, 2, 3]) {
  const doc = { title: `Task ${n} [done]`, content: `Task ${n} was finished.` };
  await call('POST', '/v1/documents', { body: doc, key: keyFor(doc), want: [201] });
}

const finished = [];
for (let cursor = null; ;) {
  const page = await call('GET', `/v1/documents?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
  finished.push(...page.data.filter(d => d.title?.endsWith('[done]')));
  cursor = page.next_cursor;
  if (!cursor) break;
}
for (const { id, title } of finished) {
  const gone = await call('DELETE', `/v1/documents/${id}`, { safe: true });
  if (gone.id && gone.id !== id) throw new Error(`asked to archive ${id}, the answer names ${gone.id}`);
  console.log(`archived ${id} ${title}`);
}
console.log(`archived ${finished.length} finished tasks`);
