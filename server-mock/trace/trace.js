// The page of `ws-mock open`: asks for one moment at a time, and shows texts of the trace as texts, never as markup.
const part = (id) => document.getElementById(id);
const near = 20; // requests shown on each side of the moment
let trace;
let at = 0;
let asked = 0;

async function ask(path) {
  const answer = await fetch(path);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error?.message ?? `The answer was ${answer.status}`);
  return value;
}

function element(name, text, classes = '') {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = classes;
  return made;
}

const statusOf = (request) => request.status ?? 'none';
const failed = (request) => request.status === null || request.status >= 400;

function showList() {
  const items = trace.requests.slice(Math.max(0, at - 1 - near), at + near).map((request) => {
    const button = element('button', '');
    button.type = 'button';
    button.append(element('span', request.n, 'soft mono'),
      element('span', statusOf(request), failed(request) ? 'failed mono' : 'fine mono'),
      element('span', `${request.method} ${request.target}`, 'target'));
    if (request.n === at) button.setAttribute('aria-current', 'true');
    button.addEventListener('click', () => go(request.n));
    const item = document.createElement('li');
    item.append(button);
    return item;
  });
  part('list').replaceChildren(...items);
}

function showChanges(changes) {
  const shown = changes.map((change) => {
    const box = element('div', '', 'change');
    const what = change.table === '*' ? 'The whole state was replaced'
      : change.before === null ? `${change.table}: a row was added`
        : change.after === null ? `${change.table}: a row was deleted` : `${change.table}: a row was changed`;
    box.append(element('h4', what));
    if (change.before !== null) box.append(element('pre', JSON.stringify(change.before, null, 1), 'was'));
    if (change.after !== null) box.append(element('pre', JSON.stringify(change.after, null, 1), 'is'));
    return box;
  });
  part('changes').replaceChildren(...(shown.length ? shown : [element('p', 'Nothing.', 'soft')]));
}

function showMoment(moment) {
  const request = trace.requests[moment.n - 1];
  part('title').textContent = request ? `${request.n}: ${request.method} ${request.target} - ${statusOf(request)}` : 'Before the first request';
  part('cut').hidden = !moment.cut;
  if (moment.cut) {
    part('cut').textContent = `The trace has ${moment.cut.kept} of the ${moment.cut.size} bytes of this body: what came of it may differ from here on.`;
  }
  part('state').textContent = moment.same ? `state ${moment.state}, as recorded`
    : `state ${moment.state}, but ${moment.recorded} was recorded (the first difference is at request ${moment.first_difference})`;
  part('state').classList.toggle('bad', !moment.same);
  showChanges(moment.changes);
  part('journal').textContent = moment.journal ? JSON.stringify(moment.journal, null, 1) : 'Not in the journal: a control call, or a request that still waits.';
  part('serve').textContent = `${trace.serve} --at ${moment.n}`;
  part('before').hidden = moment.n === 0;
  for (const [id, n] of [['before', moment.n - 1], ['after', moment.n]]) {
    part(id).open = false;
    part(id).dataset.moment = n;
    part(id).querySelector('.tables').replaceChildren();
  }
}

async function showState(details) {
  const place = details.querySelector('.tables');
  if (!details.open || place.childElementCount > 0) return;
  const { tables } = await ask(`_trace/${details.dataset.moment}/state`);
  place.replaceChildren(...Object.entries(tables).filter(([, rows]) => rows.length > 0).map(([name, rows]) => {
    const table = document.createElement('details');
    table.append(element('summary', `${name} (${rows.length})`));
    table.addEventListener('toggle', () => {
      if (table.childElementCount === 1) table.append(element('pre', rows.map((row) => JSON.stringify(row)).join('\n')));
    });
    return table;
  }));
}

async function go(moment) {
  at = Math.min(Math.max(0, Number(moment) || 0), trace.requests.length);
  part('moment').value = at;
  part('number').value = at;
  part('back').disabled = at === 0;
  part('ahead').disabled = at === trace.requests.length;
  showList();
  history.replaceState(null, '', `#${at}`);
  const mine = ++asked;
  try {
    const answer = await ask(`_trace/${at}`);
    if (mine !== asked) return;
    showMoment(answer);
    part('status').textContent = '';
  } catch (error) {
    part('status').textContent = error.message;
  }
}

async function start() {
  trace = await ask('_trace');
  part('name').textContent = trace.name;
  part('about').textContent = `${trace.command ?? ''} - begun ${trace.started_at}, ${trace.exit === null ? 'not ended' : `ended with ${trace.exit}`}`;
  part('moment').max = trace.requests.length;
  part('number').max = trace.requests.length;
  part('all').textContent = trace.requests.length;
  part('failed').hidden = trace.first_failed === null;
  part('failed').addEventListener('click', () => go(trace.first_failed));
  part('moment').addEventListener('input', () => go(part('moment').value));
  part('number').addEventListener('change', () => go(part('number').value));
  part('back').addEventListener('click', () => go(at - 1));
  part('ahead').addEventListener('click', () => go(at + 1));
  for (const id of ['before', 'after']) part(id).addEventListener('toggle', () => showState(part(id)));
  await go(location.hash.slice(1) || (trace.first_failed ?? trace.requests.length));
}

start().catch((error) => { part('status').textContent = error.message; });
