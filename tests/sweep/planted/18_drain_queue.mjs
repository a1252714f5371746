#!/usr/bin/env node
// Keeps a journal of the events of the clerk agent in $OUT_DIR/events.jsonl.
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';

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

const out = process.env.OUT_DIR ?? 'out', doc = { title: 'Inbox of the clerk', content: 'Shared with the clerk.' };
mkdirSync(out, { recursive: true });
const { id } = await call('POST', '/v1/documents', { body: doc, key: keyFor(doc), want: [201] });
const { data: agents } = await call('GET', '/v1/agents');
if (!agents.some(a => a.handle === 'clerk')) {
  await call('POST', '/v1/agents', { body: { handle: 'clerk', display_name: 'Clerk', permissions: ['read'] }, want: [201] });
}
await call('POST', `/v1/documents/${id}/shares`, { body: { agent_handle: 'clerk', permission: 'read' }, want: [200, 201] });

let seen = 0;
for (const end = Date.now() + 20000; seen === 0 && Date.now() < end;) {
  const claim = await call('POST', '/v1/agent-events:claim', { body: { worker_id: 'journal-1', lease_seconds: 60 } });
  if (claim.event === null) { await sleep(claim.retry_after_seconds * 1000); continue; }
  const { lease_token, ...event } = claim.event, at = `/v1/agent-events/${event.id}`;
  try {
    appendFileSync(`${out}/events.jsonl`, JSON.stringify(event) + '\n');
  } catch (err) {
    await call('POST', `${at}:fail`, { body: { lease_token, error: String(err) }, safe: true });
    throw err;
  }
  await call('POST', `${at}:complete`, { body: { lease_token, result: { journal: true } }, safe: true });
  console.log(`event ${event.id} (${event.kind ?? 'unknown kind'}) is in the journal`); seen++;
}
if (!seen) throw new Error('no event within 20 s');
