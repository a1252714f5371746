// A page of another origin tries all that a page can: nothing of the mock's changes, and it reads nothing.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { startBrowser, startMock } from './mock.mjs';

let mock;
let browser;
let elsewhere; // a server of somebody else's, on another port of this machine
let page;

before(async () => {
  mock = await startMock(['--device', 'manual']);
  elsewhere = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end('<!doctype html><p>hello'));
  await new Promise((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  // Names of the attacker's that lead to this machine: what DNS rebinding comes to.
  browser = await startBrowser(['--host-resolver-rules=MAP evil.example 127.0.0.1, MAP rebound.example 127.0.0.1']);
});
after(async () => {
  await browser?.close();
  elsewhere?.close();
  await mock?.stop();
});
beforeEach(async () => {
  await page?.close();
  page = await browser.context.newPage();
  page.setDefaultTimeout(10_000);
});

const port = () => elsewhere.address().port;
const state = async () => JSON.stringify(await mock.call('GET', '/_mock/state'));
const login = () => mock.call('POST', '/v1/auth/device-authorizations',
  { client_name: 'Terminal', cli_version: '1.4', scopes: ['documents:read'] });

/** What a script in the page gets of each request: "blocked", or the status and text that it could read. */
const attempts = (requests) => page.evaluate((list) => Promise.all(list.map(async ([url, options]) => {
  try {
    const answer = await fetch(url, options);
    return answer.type === 'opaque' ? 'opaque' : `${answer.status} ${await answer.text()}`;
  } catch {
    return 'blocked';
  }
})), requests);

for (const host of ['evil.example', '127.0.0.1', 'localhost']) {
  test(`a page at http://${host} of another port resets, stops and approves nothing`, async () => {
    const { user_code: code } = await login();
    await mock.call('POST', '/v1/documents', { title: 'Mine', content: 'Stays.' });
    const before = await state();
    await page.goto(`http://${host}:${port()}/`);
    const body = JSON.stringify({ to: 'empty' });
    const got = await attempts(['/_mock/reset', '/_mock/shutdown', `/_mock/devices/${code}:approve`, '/device']
      .flatMap((path) => [
        [mock.base_url + path, { method: 'POST', mode: 'no-cors' }],
        [mock.base_url + path, { method: 'POST', mode: 'no-cors', body, headers: { 'Content-Type': 'text/plain' } }],
        [mock.base_url + path, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ to: 'empty' }).toString() }],
        [mock.base_url + path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }],
        [mock.base_url + path, { method: 'POST', body, headers: { 'Content-Type': 'text/plain' }, credentials: 'include' }],
      ]));
    await page.evaluate(({ url, sent }) => navigator.sendBeacon(url, sent), { url: `${mock.base_url}/_mock/reset`, sent: body });
    assert.ok(got.every((one) => one === 'blocked' || one === 'opaque'), JSON.stringify(got));
    assert.equal(await state(), before);
  });

  test(`a page at http://${host} of another port reads nothing`, async () => {
    await page.goto(`http://${host}:${port()}/`);
    const paths = ['/_mock/state', '/_mock/requests', '/_mock/devices', '/_mock/inspect', '/device', '/v1', '/openapi.json'];
    const got = await attempts(paths.flatMap((path) => [
      [mock.base_url + path, {}],
      [mock.base_url + path, { headers: { Authorization: `Bearer ${mock.token}` } }],
    ]));
    assert.ok(got.every((one) => one === 'blocked'), JSON.stringify(got));
    const loaded = await page.evaluate((url) => new Promise((resolve) => {
      const script = document.createElement('script');
      script.src = url;
      script.onload = () => resolve('loaded');
      script.onerror = () => resolve('refused');
      document.head.append(script);
    }), `${mock.base_url}/_mock/state`);
    assert.equal(loaded, 'refused');
  });

  test(`a form of a page at http://${host} posted to the mock decides and resets nothing`, async () => {
    const { user_code: code } = await login();
    const before = await state();
    for (const [action, type] of [['/device', 'application/x-www-form-urlencoded'], ['/_mock/reset', 'text/plain']]) {
      await page.goto(`http://${host}:${port()}/`);
      await Promise.all([page.waitForNavigation(), page.evaluate(({ url, enctype, user_code }) => {
        const form = Object.assign(document.createElement('form'), { method: 'post', action: url, enctype });
        for (const [name, value] of Object.entries({ user_code, decision: 'approve', '{"to": "empty", "x": "': '"}' })) {
          form.append(Object.assign(document.createElement('input'), { name, value }));
        }
        document.body.append(form);
        form.submit();
      }, { url: mock.base_url + action, enctype: type, user_code: code })]);
      assert.match(await page.locator('body').innerText(), /foreign_origin/);
    }
    assert.equal(await state(), before);
  });

  test(`a frame within a page at http://${host} stays empty`, async () => {
    const { user_code: code } = await login();
    await page.goto(`http://${host}:${port()}/`);
    for (const path of ['/_mock', `/device?user_code=${code}`]) {
      const frame = await page.evaluateHandle((url) => new Promise((resolve) => {
        const made = Object.assign(document.createElement('iframe'), { src: url });
        made.onload = () => resolve(made);
        document.body.append(made);
      }), mock.base_url + path);
      const inside = await frame.contentFrame();
      assert.ok(!/Approve|Requests/.test(await inside.locator('body').innerText().catch(() => '')));
    }
  });
}

test('a name that was made to lead here is refused, though to the browser it is one origin', async () => {
  const { user_code: code } = await login();
  const before = await state();
  const url = mock.base_url.replace('127.0.0.1', 'rebound.example');
  await page.goto(`${url}/openapi.json`);
  assert.match(await page.locator('body').innerText(), /foreign_host/);
  const got = await attempts([
    [`${url}/_mock/state`, {}],
    [`${url}/_mock`, {}],
    [`${url}/_mock/keys`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }],
    [`${url}/_mock/reset`, { method: 'POST' }],
    [`${url}/device?user_code=${code}`, {}],
    [`${url}/v1/me`, { headers: { Authorization: `Bearer ${mock.token}` } }],
    [`${url}/v1/auth/device-authorizations`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }],
  ]);
  assert.ok(got.every((one) => one.startsWith('403') && one.includes('foreign_host')), JSON.stringify(got));
  assert.equal(await state(), before);
});

test('our own pages still work: a person approves a login in the form, and sees the inspector', async () => {
  const started = await login();
  await page.goto(`${mock.base_url}/device?user_code=${started.user_code}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('status').getByText('approved').waitFor();
  await page.goto(`http://evil.example:${port()}/`);
  await page.evaluate((url) => { document.body.innerHTML = `<a href="${url}">inspector</a>`; }, `${mock.base_url}/_mock`);
  await page.getByText('inspector').click();
  await page.getByText(/docs|device|Nothing was asked yet/).first().waitFor();
  assert.equal(page.url(), `${mock.base_url}/_mock`);
});
