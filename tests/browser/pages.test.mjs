// The pages for people who have never seen this server: the one at its address, and the one that decides a login. On
// the first screen of a laptop and of a telephone the device page shows its buttons, whatever a login asks for and
// however many people there are. With SHOTS=FOLDER it leaves pictures there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { join } from 'node:path';
import { startBrowser, startMock } from './mock.mjs';

const sizes = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];
const scopes = ['questions:write', 'search:read', 'documents:read', 'documents:write', 'documents:share', 'assets:read',
  'assets:write', 'workspaces:write', 'admin_support:read', 'admin_content:read', 'agent_events:read', 'agent_events:write'];
const people = Array.from({ length: 40 }, (_, i) => `person${i}@example.test`);
let folder;
let browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ws-pages-'));
  writeFileSync(join(folder, 'many.json'), JSON.stringify({
    people: people.map((email, i) => ({ email, name: `Person Number ${i} of a Large Company` })),
    workspaces: [1, 2, 3].map((i) => ({
      name: `Workspace ${i}`, members: people.map((person, at) => ({ person, role: at ? 'editor' : 'owner' })),
    })),
  }));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(url, size) {
  const page = await browser.context.newPage();
  page.setDefaultTimeout(30_000);
  page.failures = [];
  // A browser asks for an icon of its own accord beside a text that names none, as /openapi.json.
  const is_icon = (message) => message.location().url.endsWith('/favicon.ico');
  page.on('console', (message) => message.type() === 'error' && !is_icon(message) && page.failures.push(message.text()));
  page.on('pageerror', (error) => page.failures.push(String(error)));
  await page.setViewportSize(size);
  await page.goto(url);
  return page;
}
const shot = async (page, name) => {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
};
const fits_in_width = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

const worlds = {
  'the built-in world': () => [],
  'forty people in three Workspaces, and a control token': () => ['--fixtures', join(folder, 'many.json'), '--control-token', 'turnkey'],
};
for (const [world, flags] of Object.entries(worlds)) {
  for (const size of sizes) {
    test(`the device page shows Approve and Deny on the first screen of ${size.width}x${size.height}: ${world}`, async (t) => {
      const mock = await startMock(flags());
      try {
        const { user_code: code } = await mock.call('POST', '/v1/auth/device-authorizations',
          { client_name: 'A program with a name as long as is permitted '.padEnd(100, 'and some more '), cli_version: '1.4.0', scopes });
        const page = await open(`${mock.base_url}/device?user_code=${code}`, size);
        for (const name of ['Approve', 'Deny']) {
          const { x, y, width, height } = await page.getByRole('button', { name }).boundingBox();
          t.diagnostic(`${name}: ${Math.round(y)} to ${Math.round(y + height)} of ${size.height}`);
          assert.ok(y >= 0 && y + height <= size.height, `${name} ends at ${y + height}`);
          assert.ok(x >= 0 && x + width <= size.width, `${name} reaches to ${x + width}`);
        }
        for (const scope of scopes) { // what is asked for stands above the buttons
          const box = await page.locator('main code', { hasText: scope }).first().boundingBox();
          assert.ok(box.y + box.height <= (await page.getByRole('button', { name: 'Approve' }).boundingBox()).y);
        }
        assert.ok(await fits_in_width(page));
        await shot(page, `device-${flags().length}-${size.width}`);
        if (flags().length) await page.getByLabel('--control-token').fill('turnkey');
        await page.getByRole('button', { name: 'Approve' }).click();
        await page.getByRole('status').getByText('approved').waitFor();
        assert.deepEqual(page.failures, []);
        await page.close();
      } finally {
        await mock.stop();
      }
    });
  }
}

test('a Workspace, or all of a person, is picked with the keyboard', async () => {
  const mock = await startMock();
  try {
    const login = async () => mock.call('POST', '/v1/auth/device-authorizations',
      { client_name: 'Terminal', cli_version: '1.4.0', scopes: ['documents:read'] });
    const one = await login();
    const page = await open(`${mock.base_url}/device?user_code=${one.user_code}`, sizes[1]);
    const list = page.getByLabel('pick one Workspace');
    await list.focus();
    await page.keyboard.press('End');
    assert.match(await list.locator('option:checked').innerText(), /Tomás Okafor: all Workspaces/);
    await page.keyboard.press('Home');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('approved').waitFor();
    const key = await mock.call('POST', '/v1/auth/device-token', { device_code: one.device_code });
    assert.equal(key.workspace_name, 'Harbour crew');
    await page.close();
  } finally {
    await mock.stop();
  }
});

test('the address of the server is a page that leads everywhere', async () => {
  const mock = await startMock();
  try {
    for (const size of sizes) {
      const page = await open(mock.base_url, size);
      const text = await page.locator('main').innerText();
      assert.match(text, /ws-mock/);
      assert.ok(text.includes(`ws login --base-url ${mock.base_url}`), text);
      assert.ok(await fits_in_width(page));
      await shot(page, `root-${size.width}`);
      for (const [link, where] of [['Inspector', '/_mock'], ['API document', '/openapi.json'], ['Device page', '/device']]) {
        await page.getByRole('link', { name: link }).click();
        await page.waitForURL(mock.base_url + where);
        await page.goBack();
      }
      assert.deepEqual(page.failures, []);
      await page.close();
    }
    const told = await fetch(mock.base_url + '/'); // Accept: */*
    assert.equal(told.status, 404);
    assert.match(told.headers.get('content-type'), /json/);
  } finally {
    await mock.stop();
  }
});
