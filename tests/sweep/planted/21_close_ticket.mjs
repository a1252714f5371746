#!/usr/bin/env node
// Closes a ticket: marks its document as closed and says so in a comment.
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

const ticket = { title: 'Ticket 1184', content: '# Ticket 1184\n\nStatus: open\n\nThe gate sticks.\n' };
const { id } = await call('POST', '/v1/documents', { body: ticket, key: keyFor(ticket), want: [201] });
const path = `/v1/documents/${id}`, doc = await call('GET', path);

const comment = await call('POST', `${path}/comments`, { body: { body: 'Gate oiled, closing.' }, want: [201] });
console.log(`commented: thread ${comment.id}`);

const closed = { content: doc.content.replace('Status: open', 'Status: closed'), expected_content_revision: doc.content_revision };
call('PUT', path, { body: closed })
  .then(({ content_revision }) => console.log(`revision is now ${content_revision}`))
  .catch(err => console.error(`update: ${err.message}`));
console.log(`closed ${ticket.title}`);
