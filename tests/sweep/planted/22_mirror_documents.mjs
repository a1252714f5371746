#!/usr/bin/env node
// Mirrors all documents into $OUT_DIR/mirror and removes local copies of archived ones.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';

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
        redirect: 'manual', signal: AbortSignal.timeout(5000) });
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

const dir = `${process.env.OUT_DIR ?? 'out'}/mirror`;
mkdirSync(dir, { recursive: true });
for (const n of [1, 2, 3, 4, 5]) {
  const doc = { title: `Map sheet ${n}`, content: `Sheet ${n}, scale 1:${n}0000.` };
  await call('POST', '/v1/documents', { body: doc, key: keyFor(doc), want: [201] });
}

const present = new Set();
for (let cursor = null; ;) {
  let page;
  try {
    page = await call('GET', `/v1/documents?limit=3${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
  } catch (err) { console.error(`end of list: ${err.message}`); break; }
  for (const { id } of page.data) {
    const { content } = await call('GET', `/v1/documents/${id}`);
    writeFileSync(`${dir}/.part`, content); renameSync(`${dir}/.part`, `${dir}/${id}.md`);
    present.add(`${id}.md`);
  }
  cursor = page.next_cursor;
  if (!cursor) break;
}
const stale = readdirSync(dir).filter(name => name.endsWith('.md') && !present.has(name));
for (const name of stale) unlinkSync(`${dir}/${name}`);
console.log(`mirrored ${present.size} documents, removed ${stale.length} local copies`);
