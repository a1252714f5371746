// The inspector: asks the control calls beside this page and shows what they say. Whatever comes from there is put in
// as text, never as HTML.
const control = new URL('_mock/', document.baseURI);
const tokenKey = `ws-mock-token ${control}`;
const most = 500; // requests shown
const $ = (id) => document.getElementById(id);

/** An element with attributes, properties (functions are listeners) and children; strings become text. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== ''));
  return node;
}
const tag = (text, kind = '') => el('span', { class: `tag ${kind}` }, String(text));
const pretty = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function say(text, bad = false) {
  clearTimeout(announcing);
  announcing = 0;
  $('status').textContent = text;
  $('status').classList.toggle('bad', bad);
}

class NeedsToken extends Error {}

/** A control call. Throws with the server's own words. */
async function call(method, path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(tokenKey);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const text = body === undefined ? undefined : JSON.stringify(body);
  // "clock:advance" alone would be an address of a scheme of its own.
  const answer = await fetch(new URL(`./${path}`, control), { method, headers, body: text, signal });
  if (answer.status === 401) throw new NeedsToken();
  const said = answer.status === 204 ? null : await answer.json();
  if (answer.ok) return said;
  const detail = said?.detail;
  throw new Error(Array.isArray(detail) ? detail.map((one) => one.msg).join('; ') : (detail ?? `status ${answer.status}`));
}

/** What a button does: the call, what is said of it, and a look at how things stand then. */
async function act(done, work) {
  try {
    const result = await work();
    say(typeof done === 'function' ? done(result) : done);
  } catch (error) {
    if (error instanceof NeedsToken) return askForToken();
    say(error.message, true);
  }
  await refresh();
}

// --- requests --------------------------------------------------------------------------------------------------------
let lastSeq = 0;
let watching = new AbortController();

const statusKind = (status) => (status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');
const part = (title, value) => (value === null || value === undefined ? [] : [el('h3', {}, title), el('pre', { tabindex: '0' }, pretty(value))]);

function requestItem(entry) {
  const path = entry.path + (entry.query === null ? '' : `?${entry.query}`);
  const more = el('div', { class: 'more' });
  const details = el('details', {}, el('summary', {},
    tag(entry.status ?? 'none', statusKind(entry.status)),
    el('span', { class: 'method' }, entry.method),
    el('span', { class: 'mono grow' }, path),
    el('span', { class: 'soft' }, `${entry.operation ?? 'no operation'} · ${entry.duration_ms.toFixed(1)} ms · ${entry.time.slice(11, 19)}`),
    entry.fault ? tag(`fault ${entry.fault}`, 'bad') : '',
    entry.warning ? tag('warning', 'warn') : ''), more);
  // Bodies are put in when somebody looks: most are never looked at.
  details.addEventListener('toggle', () => {
    if (!details.open || more.childElementCount > 0) return;
    more.append(el('p', { class: 'soft' }, `#${entry.seq}, ${entry.time}`),
      ...part('Warning', entry.warning), ...part('Request headers', entry.request_headers),
      ...part('Request body', entry.request_body), ...part('Response body', entry.response_body));
  });
  const item = el('li', { class: 'new' }, details);
  item.dataset.text = `${entry.method} ${path} ${entry.operation ?? ''} ${entry.status ?? ''} ${entry.fault ?? ''}`.toLowerCase();
  return item;
}

function filterRequests() {
  const wanted = $('filter').value.trim().toLowerCase().split(/\s+/);
  for (const item of $('request-list').children) item.hidden = !wanted.every((word) => item.dataset.text.includes(word));
}

function countRequests() {
  $('requests-count').textContent = String($('request-list').childElementCount);
  $('no-requests').hidden = $('request-list').childElementCount > 0;
}

function forgetRequests() {
  lastSeq = 0;
  $('request-list').replaceChildren();
  countRequests();
}

// Of a storm of them one in three seconds: a screen reader would say nothing else.
let latest;
let announced = 0;
let announcing = 0;
function announce() {
  announcing = 0;
  announced = Date.now();
  say(`Latest: ${latest.status ?? 'no answer'} ${latest.method} ${latest.path}`);
}

function addRequests(entries) {
  const list = $('request-list');
  for (const entry of entries) {
    list.prepend(requestItem(entry));
    lastSeq = entry.seq;
  }
  while (list.childElementCount > most) list.lastElementChild.remove();
  filterRequests();
  countRequests();
  latest = entries.at(-1);
  if (announcing === 0) announcing = setTimeout(announce, Math.max(0, announced + 3000 - Date.now()));
}

async function watch() {
  for (;;) {
    watching = new AbortController();
    try {
      const said = await call('GET', `requests?since=${lastSeq}&wait=25`, undefined, watching.signal);
      if (said.data.length > 0) {
        addRequests(said.data);
        await refresh();
      }
    } catch (error) {
      if (error instanceof NeedsToken) return askForToken();
      if (error.name === 'AbortError') continue;
      say(`The server does not answer: ${error.message}`, true);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

// --- panels ----------------------------------------------------------------------------------------------------------
const shown = new Map();

/** Puts new content into a panel if it is new; what was open or had the focus still is or has. */
function fill(name, total, value, render, nothing) {
  $(`${name}-count`).textContent = String(total);
  const text = JSON.stringify(value);
  if (shown.get(name) === text) return;
  shown.set(name, text);
  const body = $(`${name}-body`);
  const open = new Set([...body.querySelectorAll('details[open]')].map((one) => one.dataset.key));
  const focus = body.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const items = value.map((one) => el('li', {}, render(one)));
  body.replaceChildren(items.length > 0 ? el('ul', { class: 'list' }, ...items) : el('p', { class: 'empty' }, nothing));
  for (const one of body.querySelectorAll('details')) one.open = open.has(one.dataset.key);
  if (focus) [...body.querySelectorAll('[data-key]')].find((one) => one.dataset.key === focus)?.focus();
}

let people = [];
const chosen = new Map(); // by user code: who approves
function deviceItem(device) {
  const code = device.user_code;
  const pending = device.status === 'pending';
  const who = el('select', { 'aria-label': `Who approves ${code}`, 'data-key': `who ${code}`, change: () => chosen.set(code, who.value) },
    ...people.map((one, i) => el('option', { value: String(i) }, `${one.name}, ${one.workspace} (${one.role})`)));
  if (chosen.has(code)) who.value = chosen.get(code);
  const decide = (word, done, body) => act(`${done} ${code}`, () => call('POST', `devices/${encodeURIComponent(code)}:${word}`, body()));
  const asPerson = () => ({ user_id: people[who.value]?.user_id, workspace_id: people[who.value]?.workspace_id });
  return el('div', { class: 'entry' },
    el('div', { class: 'row' }, el('strong', { class: 'mono' }, code), tag(device.status, { approved: 'good', consumed: 'good', pending: 'warn' }[device.status] ?? 'bad')),
    el('p', {}, device.client_name, el('span', { class: 'soft' }, ` ${device.cli_version} · expires ${device.expires_at.slice(11, 19)}`)),
    el('p', { class: 'soft' }, device.scopes.join(', ')),
    pending ? el('div', { class: 'row' }, who, el('span', { class: 'row' },
      el('button', { type: 'button', 'data-key': `approve ${code}`, 'aria-label': `Approve ${code}`, click: () => decide('approve', 'Approved', asPerson) }, 'Approve'),
      el('button', { type: 'button', class: 'deny', 'data-key': `deny ${code}`, 'aria-label': `Deny ${code}`, click: () => decide('deny', 'Denied', () => ({})) }, 'Deny'))) : '');
}

function faultItem(rule) {
  const { id, matched, fired, on, effect, ...when } = rule;
  const path = `faults/${encodeURIComponent(id)}`;
  return el('div', { class: 'entry' },
    el('div', { class: 'row' }, el('strong', { class: 'mono' }, id), el('span', { class: 'row' },
      el('button', { type: 'button', role: 'switch', class: on ? '' : 'plain', 'aria-checked': String(on), 'aria-label': `Fault ${id}`, 'data-key': `switch ${id}`,
        click: () => act(`Fault ${id} is ${on ? 'off' : 'on'}`, () => call('POST', `${path}:${on ? 'off' : 'on'}`)) }, on ? 'On' : 'Off'),
      el('button', { type: 'button', class: 'deny', 'data-key': `remove ${id}`, 'aria-label': `Remove fault ${id}`,
        click: () => act(`Fault ${id} is gone`, () => call('DELETE', path)) }, 'Remove'))),
    el('p', { class: 'mono' }, JSON.stringify(when), ' → ', JSON.stringify(effect)),
    el('p', { class: 'soft' }, `met ${matched}, fired ${fired}`));
}

function documentItem(one) {
  const more = el('div', { class: 'more' });
  const details = el('details', { 'data-key': one.id }, el('summary', { 'data-key': `sum ${one.id}` },
    el('span', { class: 'grow' }, one.title), tag(`revision ${one.content_revision}`),
    one.status === 'active' ? '' : tag(one.status, 'warn'),
    el('span', { class: 'soft' }, `${one.updated_by}, ${one.updated_at.slice(0, 19).replace('T', ' ')}`)), more);
  details.addEventListener('toggle', async () => {
    if (!details.open || more.childElementCount > 0) return;
    try {
      const { revisions } = await call('GET', `inspect/documents/${one.id}`);
      const text = el('pre', { tabindex: '0' }, revisions[0].content);
      const pick = el('select', { 'aria-label': `Revision of ${one.title}`, change: () => { text.textContent = revisions[pick.value].content; } },
        ...revisions.map((r, i) => el('option', { value: String(i) }, `revision ${r.content_revision} · ${r.content_sha256.slice(0, 12)}`)));
      more.replaceChildren(el('p', { class: 'soft mono' }, one.id), el('p', {}, pick), text);
    } catch (error) {
      more.replaceChildren(el('p', { class: 'bad' }, error.message));
    }
  });
  return details;
}

function threadItem(thread) {
  return el('details', { 'data-key': thread.id }, el('summary', { 'data-key': `sum ${thread.id}` },
    el('span', { class: 'grow' }, thread.document), tag(thread.status, { open: 'warn', resolved: 'good' }[thread.status] ?? 'bad'),
    el('span', { class: 'soft' }, `${thread.entries.length} said`)),
  el('div', { class: 'more' }, thread.quote ? el('blockquote', {}, thread.quote) : '',
    ...thread.entries.map((entry) => el('p', {}, el('strong', {}, `${entry.by}: `), entry.body))));
}

const eventKinds = { queued: 'warn', leased: 'warn', completed: 'good', failed: 'bad', dead: 'bad' };
function eventItem(event) {
  const when = event.status === 'leased' ? `${event.worker} until ${event.lease_expires_at.slice(11, 19)}` : `from ${event.available_at.slice(11, 19)}`;
  return el('details', { 'data-key': event.id }, el('summary', { 'data-key': `sum ${event.id}` },
    el('span', { class: 'grow' }, `${event.kind} → @${event.agent}`), tag(event.status, eventKinds[event.status]),
    el('span', { class: 'soft' }, `attempt ${event.attempt}, ${when}`)),
  el('div', { class: 'more' }, ...part('Payload', event.payload), ...part('Error', event.error)));
}

function sandboxItem(one) {
  return el('div', { class: 'entry row' },
    el('a', { href: new URL(`_s/${one.id}/_mock`, document.baseURI).href, 'data-key': `link ${one.id}` }, `Inspector of ${one.id}`),
    el('span', { class: 'row' }, el('span', { class: 'soft' }, `${one.requests} requests`),
      el('button', { type: 'button', class: 'deny', 'data-key': `close ${one.id}`, 'aria-label': `Close sandbox ${one.id}`,
        click: () => act(`Sandbox ${one.id} is closed`, () => call('DELETE', `sandboxes/${one.id}`)) }, 'Close')));
}

let frozen = false;
function showClock(clock, now) {
  frozen = clock.startsWith('frozen');
  $('now').textContent = `${now.slice(0, 10)} ${now.slice(11, 19)} UTC`;
  $('clock-mode').textContent = frozen ? 'stands still' : clock;
  $('freeze').textContent = frozen ? 'Let it run' : 'Freeze';
}

async function refresh() {
  const [seen, devices, faults] = await Promise.all(['inspect', 'devices', 'faults'].map((path) => call('GET', path)));
  if (seen.last_seq < lastSeq) {
    forgetRequests();
    watching.abort();
  }
  people = seen.people;
  showClock(seen.clock, seen.now);
  $('world').textContent = seen.sandbox === null ? '' : `sandbox ${seen.sandbox}`;
  $('address').textContent = seen.base_url;
  fill('devices', devices.data.length, devices.data.toReversed(), deviceItem, 'No program is waiting to be let in.');
  fill('faults', faults.data.length, faults.data, faultItem, 'Nothing goes wrong on purpose.');
  fill('documents', seen.documents.total, seen.documents.data, documentItem, 'There is no document.');
  fill('threads', seen.threads.total, seen.threads.data, threadItem, 'Nobody has commented.');
  fill('events', seen.events.total, seen.events.data, eventItem, 'No agent has work.');
  const atRoot = seen.sandbox === null;
  $('sandboxes').hidden = $('sandboxes-link').hidden = !atRoot;
  if (!atRoot) return;
  const sandboxes = (await call('GET', 'sandboxes')).data;
  fill('sandboxes', sandboxes.length, sandboxes, sandboxItem, 'Each test can have a world of its own.');
}

// --- turning things --------------------------------------------------------------------------------------------------
const effects = [
  ['status 503', { status: 503 }], ['status 500', { status: 500 }], ['status 429', { status: 429, retry_after: 1 }],
  ['2 s late', { delay_ms: 2000 }], ['no answer', { close_without_answer: true }], ['connection reset', { reset: true }],
  ['hangs', { hang: true }], ['broken JSON', { bad_json: true }], ['cut short', { truncate_at: 10 }],
  ['answer lost after it is done', { close_without_answer: true }, 'after'],
];
$('fault-effect').append(...effects.map(([name], i) => el('option', { value: String(i) }, name)));
$('add-fault').addEventListener('submit', (event) => {
  event.preventDefault();
  const [name, effect, phase] = effects[$('fault-effect').value];
  const rule = { operation: $('fault-operation').value, effect, ...(phase ? { phase } : {}) };
  act(`Fault added: ${name}`, () => call('POST', 'faults', rule));
});
$('clock').addEventListener('submit', (event) => {
  event.preventDefault();
  const by = $('by').value;
  act((said) => `It is ${by} later${said.fired.length > 0 ? `: ${said.fired.map((one) => one.kind).join(', ')}` : ''}`,
    () => call('POST', 'clock:advance', { by }));
});
$('freeze').addEventListener('click', () => act(frozen ? 'The clock runs' : 'The clock stands still',
  () => call('PUT', 'clock', frozen ? { clock: 'real' } : { frozen: true })));
$('clear').addEventListener('click', () => act('The journal is empty', () => call('DELETE', 'requests')));
$('filter').addEventListener('input', filterRequests);
$('open-sandbox').addEventListener('click', () => act((said) => `Sandbox ${said.id} is open at ${said.base_url}`, () => call('POST', 'sandboxes', {})));

function askForToken() {
  const had = sessionStorage.getItem(tokenKey) !== null;
  sessionStorage.removeItem(tokenKey);
  $('main').hidden = $('nav').hidden = $('clock').hidden = true;
  $('token-form').hidden = false;
  $('token-wrong').textContent = had ? 'That is not the token.' : '';
  $('token').focus();
}
$('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(tokenKey, $('token').value);
  $('token').value = '';
  start();
});

async function start() {
  try {
    await refresh();
  } catch (error) {
    if (error instanceof NeedsToken) return askForToken();
    say(error.message, true);
  }
  $('main').hidden = $('nav').hidden = $('clock').hidden = false;
  $('token-form').hidden = true;
  say('Watching');
  watch();
  return undefined;
}
// What a program does over the control calls is in no journal: a look now and then.
setInterval(() => {
  if (!document.hidden && $('token-form').hidden) refresh().catch(() => {});
}, 2000);
start();
