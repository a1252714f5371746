// The inspector as a person uses it: what happens appears, what they press takes effect, and nothing that a client
// sent becomes part of the page. With SHOTS=FOLDER it leaves pictures there.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { join } from 'node:path';
import { startBrowser, startMock } from './mock.mjs';

const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
let mock;
let browser;
let page;
let failures;

before(async () => {
  mock = await startMock(['--clock', 'frozen:2026-11-20T10:00:00Z']);
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await mock?.stop();
});
beforeEach(async () => {
  await page?.close();
  await mock.call('POST', '/_mock/reset', { to: 'seed' });
  page = await open(`${mock.base_url}/_mock`);
});

async function open(url) {
  failures = [];
  const opened = await browser.context.newPage();
  opened.setDefaultTimeout(10_000);
  opened.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  opened.on('pageerror', (error) => failures.push(String(error)));
  await opened.goto(url);
  return opened;
}
const shot = async (name) => {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
};
const status = (text) => page.locator('#status', { hasText: text }).waitFor();
const login = () => mock.call('POST', '/v1/auth/device-authorizations',
  { client_name: `Terminal ${evil}`, cli_version: '1.4', scopes: ['documents:read', 'comments:write'] });

test('requests appear as they come, with their bodies, secrets left out', async () => {
  await page.getByText('Nothing was asked yet').waitFor();
  await mock.call('POST', '/v1/documents', { title: 'Tides', content: 'High water at six.' });
  await login();
  const first = page.locator('#request-list > li', { hasText: 'docs.create' });
  await first.waitFor();
  assert.match(await first.innerText(), /201\s+POST\s+\/v1\/documents/);
  await first.locator('summary').click();
  await first.getByText('High water at six.').first().waitFor();
  assert.match(await first.innerText(), /\[redacted\]/);
  assert.ok(!(await page.locator('body').innerText()).includes(mock.token));
  await page.locator('#filter').fill('device');
  assert.equal(await page.locator('#request-list > li:visible').count(), 1);
  await page.locator('#filter').fill('');
  await page.getByRole('button', { name: 'Clear' }).click();
  await status('The journal is empty');
  await page.getByText('Nothing was asked yet').waitFor();
  await mock.call('GET', '/v1/me'); // and what comes after that is seen, though it is number 1 again
  await page.locator('#request-list > li', { hasText: 'me.get' }).waitFor();
  assert.deepEqual(failures, []);
});

test('a login is approved for the one that was picked, another denied', async () => {
  const one = await login();
  const two = await login();
  const card = page.locator('#devices li', { hasText: one.user_code });
  await card.getByLabel(`Who approves ${one.user_code}`).selectOption({ label: 'Tomás Okafor, Garden (owner)' });
  await card.getByRole('button', { name: 'Approve' }).click();
  await status(`Approved ${one.user_code}`);
  await card.getByText('approved').waitFor();
  const key = await mock.call('POST', '/v1/auth/device-token', { device_code: one.device_code });
  assert.equal(key.workspace_name, 'Garden');
  await page.getByRole('button', { name: `Deny ${two.user_code}` }).click();
  await page.locator('#devices li', { hasText: two.user_code }).getByText('denied').waitFor();
  assert.equal((await mock.call('POST', '/v1/auth/device-token', { device_code: two.device_code })).code, 'access_denied');
});

test('a fault is added, switched off and on, and removed', async () => {
  await page.locator('#fault-operation').fill('me.get');
  await page.locator('#fault-effect').selectOption('status 503');
  await page.locator('#add-fault').getByRole('button').click();
  const toggle = page.getByRole('switch', { name: 'Fault fault_1' });
  await toggle.waitFor();
  assert.equal((await mock.call('GET', '/v1/me')).code, 'unavailable');
  await toggle.click();
  await page.locator('[role=switch][aria-checked=false]').waitFor();
  assert.equal((await mock.call('GET', '/v1/me')).object, 'identity');
  await toggle.click();
  await page.locator('[role=switch][aria-checked=true]').waitFor();
  assert.equal((await mock.call('GET', '/v1/me')).code, 'unavailable');
  await page.getByRole('button', { name: 'Remove fault fault_1' }).click();
  await page.getByText('Nothing goes wrong on purpose.').waitFor();
});

test('the clock is advanced, and what fell due is told', async () => {
  await login();
  await page.locator('#by').fill('20m');
  await page.getByRole('button', { name: 'Advance' }).click();
  await status('It is 20m later: device_code');
  await page.locator('#now', { hasText: '2026-11-20 10:20:00 UTC' }).waitFor();
  await page.locator('#devices').getByText('expired').waitFor();
  await page.getByRole('button', { name: 'Let it run' }).click();
  await status('The clock runs');
  assert.equal((await mock.call('GET', '/_mock/clock')).clock, 'real');
});

test('documents show their revisions, threads and events what they hold; all of it stays text', async () => {
  const project = await mock.call('POST', '/v1/projects', { title: `A project ${evil}` });
  const text = { title: `A title ${evil}`, content: `first ${evil}`, project_id: project.id };
  const made = await mock.call('POST', '/v1/documents', text);
  await mock.call('PUT', `/v1/documents/${made.id}`, { content: 'second text', expected_content_revision: 1 });
  await mock.call('POST', `/v1/documents/${made.id}/comments`, { body: `@scout, look ${evil}` });
  await mock.call('POST', '/_mock/faults', { id: 'x<b>', operation: 'me.get', effect: { status: { status: 500, body: { detail: evil } } } });
  await mock.call('GET', `/v1/me?${encodeURIComponent(evil)}`);
  await login();
  const document = page.locator('#documents li', { hasText: 'A title <img' });
  await document.locator('summary').click();
  await document.getByText('second text').waitFor();
  await document.getByLabel(/Revision of/).selectOption('1');
  await document.getByText('first <img').waitFor();
  await page.locator('#threads li', { hasText: 'A title' }).locator('summary').click();
  await page.locator('#threads').getByText('@scout, look <img').waitFor();
  await page.locator('#events', { hasText: 'comment.mention → @scout' }).waitFor();
  await page.getByRole('switch', { name: 'Fault x<b>' }).waitFor();
  await page.locator('#request-list > li', { hasText: 'fault x<b>' }).locator('summary').click();
  await page.locator('#request-list').getByText('Response body').first().waitFor();
  for (const item of await page.locator('#request-list summary').all()) await item.click();
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 1);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.deepEqual(failures, []);
  await shot('inspector-desktop-light');
});

test('all of it is within reach of the keyboard, and what is looked at stays where it is', async () => {
  const { user_code: code } = await login();
  await page.getByRole('button', { name: `Approve ${code}` }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the requests');
  await page.locator('#by').focus();
  await page.keyboard.press('Enter');
  await status('It is 5m later');
  for (let i = 0; i < 40; ++i) {
    if ((await page.evaluate(() => document.activeElement.getAttribute('aria-label'))) === `Approve ${code}`) break;
    await page.keyboard.press('Tab');
  }
  await mock.call('POST', '/v1/auth/device-authorizations', { client_name: 'another', cli_version: '1', scopes: ['documents:read'] });
  await page.locator('#devices-count', { hasText: '2' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), `Approve ${code}`);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid');
  await page.keyboard.press('Enter');
  await status(`Approved ${code}`);
  const named = await page.evaluate(() => [...document.querySelectorAll('button, input, select')].filter((one) =>
    !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)).map((one) => one.outerHTML));
  assert.deepEqual(named, []);
});

test('sandboxes are opened and closed here, each with an inspector of its own', async () => {
  await page.getByRole('button', { name: 'Open one' }).click();
  const link = page.getByRole('link', { name: 'Inspector of s' });
  await link.click();
  await page.locator('#world', { hasText: 'sandbox s' }).waitFor();
  assert.ok(await page.locator('#sandboxes').isHidden());
  await page.locator('#by').fill('1h');
  await page.getByRole('button', { name: 'Advance' }).click();
  await status('It is 1h later');
  assert.equal((await mock.call('GET', '/_mock/clock')).now, '2026-11-20T10:00:00.000Z');
  await page.goBack();
  await page.getByRole('button', { name: 'Close sandbox' }).click();
  await page.getByText('Each test can have a world of its own.').waitFor();
  assert.deepEqual(failures, []);
});

test('nothing is wider than a phone; both schemes have contrast enough', async () => {
  await login();
  await mock.call('POST', '/v1/documents', { title: 'A'.repeat(200), content: 'x' });
  await mock.call('POST', '/_mock/events', { kind: 'agent.ping' });
  await mock.call('POST', '/_mock/faults', { operation: 'docs.create', effect: { status: 503 } });
  await page.locator('#request-list > li').nth(1).waitFor();
  await page.locator('#faults-count', { hasText: '1' }).waitFor();
  for (const [width, height, scheme] of [[390, 844, 'light'], [390, 844, 'dark'], [1280, 900, 'dark'], [1280, 900, 'light']]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} of ${width}`);
    assert.deepEqual(await page.evaluate(poorContrast), [], `${scheme} at ${width}`);
    await shot(`inspector-${width}-${scheme}`);
  }
});

/** Visible texts with less than 4.5:1 against what lies behind them. Runs in the page. */
function poorContrast() {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll('body *')) {
    const text = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
    if (!text || node.closest('[hidden], .hidden, .skip, noscript') || node.getClientRects().length === 0) continue;
    const [a, b] = [light(channels(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(`${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 30)}`);
  }
  return poor;
}

test('with a control token the page asks for it, and keeps it for this tab', async () => {
  const guarded = await startMock(['--control-token', 'turnkey']);
  try {
    await page.close();
    page = await open(`${guarded.base_url}/_mock`);
    const field = page.getByLabel('Control token', { exact: true });
    await field.fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('That is not the token.').waitFor();
    assert.ok(await page.locator('#main').isHidden());
    await shot('inspector-token');
    await field.fill('turnkey');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.locator('#documents li').first().waitFor();
    await guarded.call('GET', '/v1/me');
    await page.locator('#request-list > li', { hasText: 'me.get' }).waitFor();
    await page.reload();
    await page.locator('#documents li').first().waitFor();
  } finally {
    await guarded.stop();
  }
});
