#!/usr/bin/env node
// Replies to one mention of the porter agent and completes the event.
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

const desk = { title: 'Porter desk', content: 'Mention the porter in a comment.' };
const { id } = await call('POST', '/v1/documents', { body: desk, key: keyFor(desk), want: [201] });
const { data: agents } = await call('GET', '/v1/agents');
if (!agents.some(a => a.handle === 'porter')) {
  await call('POST', '/v1/agents', { body: { handle: 'porter', display_name: 'Porter', permissions: ['read', 'comment'] }, want: [201] });
}
await call('POST', `/v1/documents/${id}/shares`, { body: { agent_handle: 'porter', permission: 'comment' }, want: [200, 201] });
await call('POST', `/v1/documents/${id}/comments`, { body: { body: '@porter is the door open?' }, want: [201] });

for (let n = 0; n < 20; n++) {
  const { event } = await call('POST', '/v1/agent-events:claim', { body: { worker_id: 'porter-1', lease_seconds: 900 } });
  if (event === null) break;
  const { lease_token } = event, result = {}, mention = event.kind === 'comment.mention';
  if (event.kind !== 'document.shared' && !(mention && event.document_id && event.thread_id)) {
    await call('POST', `/v1/agent-events/${event.id}:fail`, {
      body: { lease_token, error: 'not an event for the porter', retryable: false }, safe: true });
    throw new Error(`event ${event.id}: not understood`);
  }
  if (mention) {
    const reply = await call('POST', `/v1/documents/${event.document_id}/comments/${event.thread_id}/replies`, {
      body: { body: 'It is, until six.', source_event_id: event.id, source_event_lease_token: lease_token }, want: [201] });
    result.thread_id = reply.id;
  }
  await call('POST', `/v1/agent-events/${event.id}:complete`, { body: { lease_token, result }, safe: true });
  console.log(`${event.kind} ${event.id}: ${mention ? 'replied' : 'nothing to do'}`);
}
