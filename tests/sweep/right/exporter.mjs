#!/usr/bin/env node
// Writes all documents with their comments to one JSON file (./export.json, or the name given).
import {createHash, randomUUID} from 'node:crypto';
import {open, rename, rm} from 'node:fs/promises';

const base = (process.env.WS_BASE_URL ?? '').replace(/\/+$/, ''), token = process.env.WS_TOKEN ?? '';
const isId = v => typeof v === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(v);
const sleep = ms => new Promise(done => setTimeout(done, ms));
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

// More than one send: only for what is safe to repeat (reads, and creates with an Idempotency-Key).
async function call(what, method, path, ok, check, options = {}) {
  const rid = randomUUID();
  for (let n = 1; ; n++) {
    const r = await send(method, path, {...options, rid});
    const good = ok.includes(r.status);
    if (good && r.data && check(r.data)) return r.data;
    if (good) Object.assign(r, {bad: true, why: r.why ?? 'unexpected shape of the answer'});
    const wait = pause(r, n);
    if (wait === undefined) throw failed(what, r);
    await sleep(wait);
  }
}

const isPage = p => Array.isArray(p.data) && p.data.every(d => isId(d?.id))
  && (p.next_cursor === null || (typeof p.next_cursor === 'string' && p.next_cursor !== ''));
const isDocument = (d, id) => d.id === id && typeof d.content === 'string' && (d.content_sha256 ?? sha256(d.content)) === sha256(d.content);
const isComments = (c, id) => c.page_id === id && Array.isArray(c.threads ?? []) && (c.thread_count ?? 0) === (c.threads ?? []).length;

async function* listed() {
  const seen = new Set(), cursors = new Set();
  for (let cursor = ''; cursor !== null;) {
    const page = await call('list documents', 'GET', `/v1/documents?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, [200], isPage);
    for (const {id} of page.data) if (!seen.has(id)) yield (seen.add(id), id);
    cursor = page.next_cursor;
    if (cursors.has(cursor)) throw new Error('list documents: status 200, but a cursor came a second time: it does not end');
    cursors.add(cursor);
  }
}

async function main() {
  if (!/^https?:\/\//.test(base) || !token) throw new Error('WS_BASE_URL and WS_TOKEN must be set');
  const file = process.argv[2] ?? 'export.json', part = `${file}.part`, documents = [];
  for await (const id of listed()) {
    const document = await call(`read ${id}`, 'GET', `/v1/documents/${id}`, [200], d => isDocument(d, id));
    if (document.status === 'archived') continue; // went away since it was listed
    const comments = await call(`comments of ${id}`, 'GET', `/v1/documents/${id}/comments`, [200], c => isComments(c, id));
    documents.push({...document, comments});
  }
  documents.sort((a, b) => (a.id < b.id ? -1 : 1));
  try {
    const out = await open(part, 'w');
    try {
      await out.writeFile(`${JSON.stringify({documents}, null, 2)}\n`);
      await out.sync();
    } finally { await out.close(); }
    await rename(part, file);
  } finally { await rm(part, {force: true}); }
  console.log(`${documents.length} documents in ${file}`);
}

main().catch(e => { console.error(`exporter: ${e.message}`); process.exitCode = 1; });
