#!/usr/bin/env node
// Asks a question once, polls for its answer (10 s in all) and prints it.
import {createHash, randomUUID} from 'node:crypto';

const base = (process.env.WS_BASE_URL ?? '').replace(/\/+$/, ''), token = process.env.WS_TOKEN ?? '';
const isId = v => typeof v === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(v);
const deadline = Date.now() + 10000, left = () => deadline - Date.now();
async function sleep(ms) {
  if (ms >= left()) throw new Error(`no answer within 10 s (last: ${last})`);
  await new Promise(done => setTimeout(done, ms));
}
let last = 'nothing was sent';
const sha256 = text => createHash('sha256').update(text).digest('hex');

function failed(what, r) {
  const why = r.why ?? (typeof r.data?.detail === 'string' ? r.data.detail : JSON.stringify(r.data?.detail) ?? '');
  const text = `${what}: status ${r.status}, code ${r.code}, request ${r.rid}: ${why.slice(0, 200)}`;
  return Object.assign(new Error(text.replaceAll(token || '\0', '***')), {code: r.code});
}

// One send. Status 0: no whole answer came, the outcome is not known. Never follows a redirect.
async function send(method, path, {body, key, auth = token, ms = 3000, rid = randomUUID()} = {}) {
  const headers = {authorization: `Bearer ${auth}`, accept: 'application/json', 'x-request-id': rid};
  if (body) headers['content-type'] = 'application/json';
  if (key) headers['idempotency-key'] = key;
  const r = {status: 0, code: '-', rid};
  try {
    const init = {method, headers, body: body && JSON.stringify(body), redirect: 'manual', signal: AbortSignal.timeout(Math.max(1, Math.min(ms, left())))};
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

// More than one send: only for what is safe to repeat (reads, and creates with an Idempotency-Key).
async function call(what, method, path, ok, check, options = {}) {
  const rid = randomUUID();
  for (let n = 1; ; n++) {
    const r = await send(method, path, {...options, rid});
    const good = ok.includes(r.status);
    if (good && r.data && check(r.data)) return r.data;
    if (good) Object.assign(r, {bad: true, why: r.why ?? 'unexpected shape of the answer'});
    const wait = pause(r, n);
    last = failed(what, r).message;
    if (wait === undefined) throw new Error(last);
    await sleep(wait);
  }
}

const isQuestion = q => isId(q.id) && typeof q.status === 'string';

async function answerOf(q) {
  if (typeof q.answer === 'string' && q.answer.trim()) return q.answer;
  const kept = (q.artifacts ?? []).find(a => a?.kind === 'document' && isId(a.document_id));
  if (!kept) throw new Error(`question ${q.id}: status 200, ${q.status}, but there is no answer and no artifact`);
  const path = `/v1/documents/${kept.document_id}`;
  const d = await call(`read the answer of ${q.id}`, 'GET', path, [200], d => d.id === kept.document_id && typeof d.content === 'string');
  return d.content;
}

async function main() {
  if (!/^https?:\/\//.test(base) || !token) throw new Error('WS_BASE_URL and WS_TOKEN must be set');
  const body = {prompt: process.env.QUESTION ?? 'When does the ferry leave the harbour?', sources: ['workspace']};
  const key = `asker-${sha256(JSON.stringify(body)).slice(0, 40)}`;
  let q = await call('ask', 'POST', '/v1/questions', [200, 201], isQuestion, {body, key});
  const {id} = q;
  for (let wait = 100; q.status !== 'completed'; wait = Math.min(wait * 1.6, 2000)) {
    last = `question ${id}: status 200, ${q.status}`;
    if (/^(failed|error|cancell?ed|expired)$/.test(q.status)) throw new Error(last);
    await sleep(wait);
    q = await call(`read question ${id}`, 'GET', `/v1/questions/${id}`, [200], x => isQuestion(x) && x.id === id);
  }
  console.log(await answerOf(q));
}

main().catch(e => { console.error(`asker: ${e.message}`); process.exitCode = 1; });
