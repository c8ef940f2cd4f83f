// How the page asks the manager, and what it shows while there is no answer.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { holds, open, over } from './pages.js';

const { shared } = over('-scheduled=5', '-nodes=1', '-rate=0', '-scene=calm');

/** Opens the page and counts its requests for the state. */
async function counted() {
  const opened = await open(shared.browser, shared.cluster.page);
  /** @type {string[]} */ const asked = [];
  opened.page.on('request', (r) => { if (r.url().includes('/api/v1/snapshot')) asked.push(new URL(r.url()).search); });
  return { ...opened, asked };
}

// They mostly wait, so they wait together.
describe('the page asks', { concurrency: true }, () => {
  test('it asks once a second for what has changed, and nothing has', async () => {
    const { page, asked, complaints, close } = await counted();
    /** @type {number[]} */ const codes = [];
    page.on('response', (r) => { if (r.url().includes('since=')) codes.push(r.status()); });
    await page.waitForTimeout(6000);
    assert.ok(asked.length >= 3 && asked.length <= 7, `${asked.length} requests in 6 s`);
    assert.ok(asked.every((search) => search.startsWith('?since=')), asked.join(' '));
    assert.ok(codes.length >= 2 && codes.slice(1).every((code) => code === 204 || code === 200) && codes.includes(204), codes.join(' '));
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a tab that nobody sees does not ask, and asks at once when it is seen again', async () => {
    const { page, asked, close } = await counted();
    const see = (/** @type {boolean} */ seen) => page.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { value: !is, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, seen);
    await see(false);
    await page.waitForTimeout(1500); // a request may be under way
    asked.length = 0;
    await page.waitForTimeout(3000);
    assert.equal(asked.length, 0);
    await see(true);
    await page.waitForTimeout(500);
    assert.equal(asked.length, 1);
    await close();
  });

  test('a tab that has not asked for long is stale until it is answered', async () => {
    const { page, close } = await counted();
    await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
    await page.waitForFunction(() => /^stale/.test(document.title), undefined, { timeout: 25_000 });
    assert.match(await page.locator('#live').innerText(), /^stale, as of \d\d:\d\d:\d\d UTC$/);
    await page.evaluate(() => { delete /** @type {any} */ (document).hidden; document.dispatchEvent(new Event('visibilitychange')); });
    await page.locator('#live', { hasText: /^live$/ }).waitFor();
    await close();
  });

  test('while the manager does not answer it asks less and less often', async () => {
    const { page, asked, close } = await counted();
    await page.route('**/api/v1/snapshot*', (route) => route.abort());
    await page.locator('#live', { hasText: /^stale/ }).waitFor();
    asked.length = 0;
    await page.waitForTimeout(9000); // after 2, 4 and 8 seconds
    assert.ok(asked.length >= 1 && asked.length <= 3, `${asked.length} requests in 9 s`);
    await page.unroute('**/api/v1/snapshot*');
    await page.locator('#live', { hasText: /^live$/ }).waitFor();
    await holds(page, 'upcoming', 5);
    await close();
  });

  test('a refusal is shown with the message of the manager', async () => {
    const { page, close } = await counted();
    await page.route('**/api/v1/snapshot*', (route) => route.fulfill({
      status: 503, contentType: 'application/json', body: JSON.stringify({ kind: 'Error', message: 'the page has stopped; evictions continue' }),
    }));
    await page.locator('#banners', { hasText: 'This page is out of date: the page has stopped; evictions continue.' }).waitFor();
    await close();
  });

  test('an answer that is cut off changes nothing', async () => {
    const { page, close } = await counted();
    await page.route('**/api/v1/snapshot*', (route) => route.fulfill({ contentType: 'application/json', body: '{"kind":"Snapshot","tag":"x","evictions":[' }));
    await page.locator('#live', { hasText: /^stale/ }).waitFor();
    await holds(page, 'upcoming', 5);
    await close();
  });
});
