// The pages of `ws-mock open` and of `sweep --html`, at the widths of a phone and a desktop, light and dark. With
// SHOTS=FOLDER it leaves pictures there.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startBrowser } from './mock.mjs';

const program = join(process.env.WS_BIN_DIR ?? 'build/dev/bin', 'ws-mock');
const evil = '<img src=x onerror=window.hacked=1>';
const script = `
call() { curl -s -o /dev/null -H "Authorization: Bearer $WS_TOKEN" -H 'Content-Type: application/json' "$@"; }
call -d '{"title": "Tides", "content": "High water at six. ${evil}"}' $WS_BASE_URL/v1/documents
call $WS_BASE_URL/v1/documents/none
call $WS_BASE_URL/v1/me`;
let folder;
let browser;
let opened;
let url;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ws-trace-'));
  const trace = join(folder, 'run.trace');
  assert.equal(spawnSync(program, ['exec', '--trace', trace, '--', 'sh', '-c', script]).status, 0);
  opened = spawn(program, ['open', trace, '--exit-with-parent'], { stdio: ['ignore', 'pipe', 'inherit'] });
  url = await new Promise((resolve) => createInterface({ input: opened.stdout }).once('line', resolve));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  opened?.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

async function show(address, name, look) {
  for (const [width, height, device] of [[390, 844, 'phone'], [1280, 900, 'desktop']]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.context.newPage();
      const failures = [];
      page.setDefaultTimeout(20_000);
      page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
      page.on('pageerror', (error) => failures.push(String(error)));
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.goto(address);
      await look(page);
      if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}-${device}-${colorScheme}.png`), fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${name} is ${wide} px too wide on a ${device}`);
      assert.deepEqual(failures, []);
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      await page.close();
    }
  }
}

test('the slider begins at the first failed request, and shows what each one changed', async () => {
  await show(url, 'trace', async (page) => {
    await page.locator('#title', { hasText: '2: GET /v1/documents/none - 422' }).waitFor();
    await page.locator('#changes', { hasText: 'Nothing.' }).waitFor();
    await page.getByRole('button', { name: 'One request back' }).click();
    await page.locator('#title', { hasText: '1: POST /v1/documents - 201' }).waitFor();
    await page.locator('#changes', { hasText: 'High water at six.' }).waitFor();
    assert.match(await page.locator('#state').innerText(), /as recorded/);
    await page.locator('#after > summary').click();
    await page.locator('#after summary', { hasText: 'documents (11)' }).waitFor();
    await page.locator('#before > summary').click();
    await page.locator('#before summary', { hasText: 'documents (10)' }).waitFor();
  });
});

test('the report of a sweep fits the window and shows the journal of a cell', async () => {
  const report = join(folder, 'sweep.html');
  const client = 'curl -s -f -m 5 --retry 2 -o /dev/null -H "Authorization: Bearer $WS_TOKEN" $WS_BASE_URL/v1/me; exit 0';
  spawnSync(program, ['sweep', '--only', '*-before', '--skip', 'timeout-before', '--html', report, '--', 'sh', '-c', client]);
  await show(pathToFileURL(report).href, 'sweep', async (page) => {
    await page.getByText('me.get').first().waitFor();
  });
});
