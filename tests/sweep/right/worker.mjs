#!/usr/bin/env node
// Works the event queue of an agent: two mentions, each answered once and completed under its lease.
import {createHash, randomUUID} from 'node:crypto';
import {appendFileSync, existsSync, readFileSync} from 'node:fs';

const base = (process.env.WS_BASE_URL ?? '').replace(/\/+$/, ''), token = process.env.WS_TOKEN ?? '';
const isId = v => typeof v === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(v);
const HANDLE = 'right-worker', LEASE = 30, KEEP = 'worker.done', tasks = new Map();
const sleep = ms => new Promise(done => setTimeout(done, ms));
const sha256 = text => createHash('sha256').update(text).digest('hex');
function failed(what, r) {
  const why = r.why ?? (typeof r.data?.detail === 'string' ? r.data.detail : JSON.stringify(r.data?.detail) ?? '');
  const text = `${what}: status ${r.status}, code ${r.code}, request ${r.rid}: ${why.slice(0, 200)}`;
  return Object.assign(new Error(text.replaceAll(token || '\0', '***').replace(/wsk_[\w-]+/g, '***')), {code: r.code});
}
// One send. Status 0: no whole answer came, the outcome is not known. Never follows a redirect.
async function send(method, path, {body, key, auth = token, ms = 3000, rid = randomUUID()} = {}) {
  const headers = {authorization: `Bearer ${auth}`, accept: 'application/json', 'x-request-id': rid};
  if (body) headers['content-type'] = 'application/json';
  if (key) headers['idempotency-key'] = key;
  const r = {status: 0, code: '-', rid};
  try {
    const init = {method, headers, body: body && JSON.stringify(body), redirect: 'manual', signal: AbortSignal.timeout(ms)};
    const res = await fetch(base + path, init), text = await res.text();
    Object.assign(r, {status: res.status, headers: res.headers, rid: res.headers.get('x-request-id') ?? rid});
    r.data = JSON.parse(text);
  } catch (e) { r.why = e.cause?.code ?? e.cause?.message ?? e.message; }
  r.code = [r.data, r.data?.detail, r.data?.detail?.[0]].map(d => d?.code ?? d?.type).find(c => typeof c === 'string') ?? '-';
  return r;
}
// Milliseconds to wait before send n + 1; undefined: not to be repeated.
function pause(r, n) {
  const again = [0, 408, 425, 429].includes(r.status) || r.status >= 500 || r.bad || r.code === 'idempotency_in_flight';
  const said = r.headers?.get('retry-after')?.trim() ?? '', now = Date.parse(r.headers?.get('date') ?? '') || Date.now();
  const wait = Math.max(50 * 2 ** (n - 1), /^\d+(\.\d+)?$/.test(said) ? said * 1000 : (Date.parse(said) || 0) - now);
  return again && n < 4 && wait <= 30000 ? wait : undefined;
}
// Repeats only what is safe to repeat. Where it would make a double, find looks before every send (and after the last).
async function call(what, method, path, check, {find, open, ...options} = {}) {
  options.rid = randomUUID();
  for (let n = 1, r, wait; ; n++) {
    const found = await find?.(r);
    if (found) return found;
    if (r && wait === undefined) throw failed(what, r);
    if (open && !open()) throw failed(what, {status: 0, code: 'lease_over', rid: '-', why: 'not sent, the lease is over'});
    r = await send(method, path, options);
    if ([200, 201].includes(r.status) && r.data && check(r.data)) return r.data;
    if (r.status < 300 && r.status) Object.assign(r, {bad: true, why: r.why ?? 'unexpected answer'});
    wait = pause(r, n);
    if (wait !== undefined) await sleep(find && !r.status ? Math.max(wait, 500) : wait);
  }
}
async function threadsOf(id) {
  const good = c => c.page_id === id && Array.isArray(c.threads) && c.threads.every(t => isId(t.id) && Array.isArray(t.entries));
  return (await call(`comments of ${id}`, 'GET', `/v1/documents/${id}/comments`, good)).threads;
}
const says = (thread, text) => thread.entries.some(e => typeof e?.body === 'string' && e.body.includes(text));
function close(ev, how, body, auth) { // complete or fail
  let unsure = false; // an earlier send of it may have done it
  const find = r => (r?.code === 'already_finished' && unsure) || void (unsure ||= Boolean(r && ![425, 429].includes(r.status)));
  const options = {find, auth, open: () => Date.now() < ev.until, body: {lease_token: ev.lease_token, ...body}};
  return call(`${how} event ${ev.id}`, 'POST', `/v1/agent-events/${ev.id}:${how}`, d => typeof d === 'object', options);
}
async function handle(ev, auth) { // true: it is closed
  const open = () => Date.now() < ev.until, path = `/v1/documents/${ev.document_id}/comments/${ev.thread_id}/replies`;
  const tag = `[event ${ev.id}]`, body = {body: `Done. ${tag}`, source_event_id: ev.id, source_event_lease_token: ev.lease_token};
  const find = async () => (await threadsOf(ev.document_id)).find(t => t.id === ev.thread_id && says(t, tag));
  try {
    if (typeof ev.kind !== 'string') throw new Error('it names no kind, so that nobody knows what it asks for');
    if (ev.kind === 'comment.mention') await call(`reply to ${ev.id}`, 'POST', path, t => isId(t.id), {body, auth, find, open});
    await close(ev, 'complete', {result: {handled: ev.kind}}, auth);
    return true;
  } catch (e) {
    console.error(`worker: event ${ev.id}: ${e.message}`);
    if (e.code === 'already_finished') return true; // closed, though not by this send
    if (['lease_lost', 'lease_over'].includes(e.code)) return false; // not ours any more: it comes again
    process.exitCode = 1;
    await close(ev, 'fail', {error: e.message.slice(0, 4000) || 'failed', retryable: true}, auth);
    return tasks.delete(ev.thread_id) && false;
  }
}
async function main() {
  if (!/^https?:\/\//.test(base) || !token) throw new Error('WS_BASE_URL and WS_TOKEN must be set');
  const keyOf = body => `worker-${sha256(JSON.stringify(body)).slice(0, 40)}`, isNew = d => isId(d.id);
  const create = (path, body) => call(`create ${body.title}`, 'POST', path, isNew, {body, key: keyOf(body)});
  const project = await create('/v1/projects', {title: 'Worker inbox'});
  const {id: doc} = await create('/v1/documents', {title: 'Worker tasks', content: '# Tasks\n', project_id: project.id});
  const body = {handle: HANDLE, display_name: 'Right worker', permissions: ['read', 'comment']};
  const ours = async () => (await call('list agents', 'GET', '/v1/agents', l => Array.isArray(l.data))).data.find(a => a?.handle === HANDLE);
  const agent = await call('create agent', 'POST', '/v1/agents', isNew, {body, find: ours});
  if (agent.status !== 'active') throw new Error(`agent ${agent.id}: status 200, but it is ${agent.status}`);
  const isSecret = c => typeof c.secret === 'string', renew = `/v1/agents/${agent.id}/credentials:rotate`;
  const auth = agent.credential?.secret ?? (await call('rotate', 'POST', renew, isSecret)).secret;
  for (const text of [`@${HANDLE} task 1, please`, `@${HANDLE} task 2, please`]) {
    const find = async () => (await threadsOf(doc)).find(t => says(t, text));
    const options = {find, body: {body: text, start_new_chain: true}}, path = `/v1/documents/${doc}/comments`;
    const made = await call(`post ${text}`, 'POST', path, isNew, options);
    for (const t of [made, ...(await threadsOf(doc)).filter(t => says(t, text))]) tasks.set(t.id, `${t.id} ${t.created_at}`);
  }
  const path = id => `/v1/documents/${doc}/comments/${id}/status`, done = {body: {status: 'resolved'}};
  const resolve = id => call(`resolve ${id}`, 'POST', path(id), t => t.status === 'resolved', done);
  const known = existsSync(KEEP) ? readFileSync(KEEP, 'utf8').split('\n') : []; // closed, but perhaps not yet resolved
  for (const t of await threadsOf(doc)) if (t.status !== 'resolved' && known.includes(tasks.get(t.id))) await resolve(t.id);
  const isClaim = c => c.event === null || (isId(c.event?.id) && typeof c.event.lease_token === 'string');
  for (const end = Date.now() + LEASE * 1500; ;) { // a resolved thread: its event is known to be completed
    const open = (await threadsOf(doc)).filter(t => tasks.has(t.id) && t.status !== 'resolved');
    const claim = {auth, body: {worker_id: HANDLE, lease_seconds: LEASE}};
    const {event: ev, retry_after_seconds: wait} = await call('claim', 'POST', '/v1/agent-events:claim', isClaim, claim);
    if (!ev && !open.length) return;
    if (!ev && Date.now() > end) { // no lease lives as long: what was answered did not come back, so it is completed
      const missing = open.filter(t => !says(t, '[event '));
      if (missing.length) throw new Error(`no event came for thread ${missing.map(t => t.id)}`);
      for (const t of open) await resolve(t.id);
    } else if (!ev) await sleep((wait ?? 5) * 1000);
    else if (await handle(Object.assign(ev, {until: Date.now() + LEASE * 1000 - 4000}), auth)) { // a send takes 3 s at most
      if (tasks.has(ev.thread_id)) { appendFileSync(KEEP, `${tasks.get(ev.thread_id)}\n`); await resolve(ev.thread_id); }
      console.log(`closed event ${ev.id}`);
    }
  }
}
main().catch(e => { console.error(`worker: ${e.message}`); process.exitCode = 1; });
