// Approves or denies a device login as a person would: opens the page, picks who they are, reads what is asked for,
// presses the button. Prints what the page said, as JSON. Usage: node device_page.mjs URL approve|deny [SCREENSHOT.png]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, decision, screenshot] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), 'ws-browser-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync',
  ],
});
try {
  const page = await context.newPage();
  const failures = [];
  page.on('console', (message) => message.type() === 'error' && failures.push(message.text()));
  page.on('pageerror', (error) => failures.push(String(error)));
  await page.goto(url);
  const asked = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  if (screenshot) await page.screenshot({ path: screenshot, fullPage: true });
  await page.getByRole('button', { name: decision === 'deny' ? /deny/i : /approve/i }).click();
  const said = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  if (screenshot) await page.screenshot({ path: screenshot.replace('.png', '-after.png'), fullPage: true });
  console.log(JSON.stringify({ asked, said, failures }));
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
