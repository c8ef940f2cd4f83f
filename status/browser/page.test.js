// The page over a made-up cluster: what people do with it.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { count, holds, launch, open, synthetic, violations } from './pages.js';

/** @type {import('playwright-core').Browser} */ let browser;
/** @type {any} */ let cluster;
before(async () => { [browser, cluster] = await Promise.all([launch(), synthetic('-scheduled=300', '-nodes=24', '-rate=0.4')]); });
after(async () => { await browser.close(); await cluster.stop(); });

/** Runs a test on a page, which must not complain. @param {string} name @param {(page: import('playwright-core').Page) => Promise<void>} body @param {object} [options] */
function on(name, body, options = {}) {
  test(name, async () => {
    const { page, complaints, close } = await open(browser, cluster.page, options);
    try {
      await body(page);
      assert.deepEqual(complaints, []);
    } finally {
      await close();
    }
  });
}

test('the countdown runs every second, though nothing is heard', async () => {
  const still = await synthetic('-scheduled=20', '-nodes=2', '-rate=0');
  const { page, complaints, close } = await open(browser, still.page);
  const cell = page.locator('tbody tr', { hasText: 'scheduled' }).last().locator('td').nth(5);
  const seen = [];
  for (let i = 0; i < 4; i++) {
    seen.push(await cell.innerText());
    await page.waitForTimeout(1100);
  }
  assert.equal(new Set(seen).size, 4, seen.join(', '));
  assert.deepEqual(complaints, []);
  await close();
  await still.stop();
});

on('marks move to the left with the clock', async (page) => {
  const picture = () => page.locator('#canvas').evaluate((c) => /** @type {HTMLCanvasElement} */ (c).toDataURL());
  const first = await picture();
  await page.waitForTimeout(3000);
  assert.notEqual(await picture(), first);
});

on('a filter by node, taint, state and words narrows lists and timeline', async (page) => {
  const all = await count(page);
  await page.getByLabel('Node', { exact: true }).fill('node-003');
  await page.locator('#lanes button').nth(1).waitFor({ state: 'detached' });
  const one = await count(page);
  assert.ok(one > 0 && one < all, `${one} of ${all}`);
  assert.deepEqual([...new Set(await page.locator('tbody tr td:nth-child(3)').allInnerTexts())], ['node-003']);
  await page.keyboard.press('Escape');
  await page.getByLabel('Taint', { exact: true }).fill('maintenance');
  assert.ok((await page.locator('tbody tr td:nth-child(4)').allInnerTexts()).every((t) => t.startsWith('maintenance=')));
  await page.keyboard.press('Escape');
  await page.locator('#states button', { hasText: 'scheduled' }).click();
  assert.ok(!(await page.locator('tbody tr td:nth-child(1)').allInnerTexts()).some((t) => t.includes('scheduled')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('payments/ingest');
  assert.ok((await page.locator('tbody tr td:nth-child(2)').allInnerTexts()).every((t) => t.includes('payments/ingest')));
});

on('a filter outlives a reload', async (page) => {
  await page.getByLabel('Namespace').fill('shop');
  const some = await count(page);
  await page.reload();
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  assert.equal(await page.getByLabel('Namespace').inputValue(), 'shop');
  assert.ok(Math.abs((await count(page)) - some) <= 3);
});

on('a column sorts up and down, and says so', async (page) => {
  const header = page.getByRole('columnheader', { name: 'Pod' });
  const names = async () => (await page.locator('tbody tr td:nth-child(2) .open').allInnerTexts());
  await header.getByRole('button').click();
  const up = await names();
  assert.deepEqual(up, [...up].sort());
  assert.equal(await header.getAttribute('aria-sort'), 'ascending');
  await header.getByRole('button').click();
  const down = await names();
  assert.ok(down[0] > up[0]);
  assert.equal(await header.getAttribute('aria-sort'), 'descending');
});

on('a pod opens its explanation, with the keyboard alone', async (page) => {
  await page.getByRole('tab', { name: /Evictions/ }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.getByRole('tab', { selected: true }).innerText(), 'Held up 7');
  const pod = page.locator('.open').first();
  for (let i = 0; i < 30 && !(await pod.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const why = page.locator('tr.why');
  await why.waitFor();
  assert.match(await why.innerText(), /was to be evicted from node-\d+ at .*: taint .*Next try.*The node has.*kubectl -n \S+ describe pod/s);
  assert.equal(await pod.getAttribute('aria-expanded'), 'true');
  await page.waitForTimeout(2500); // it stays open, and focused, while the list changes
  assert.ok(await pod.evaluate((e) => e === document.activeElement));
  await page.keyboard.press('Enter');
  await why.waitFor({ state: 'detached' });
});

on('the focus stays with its pod while the list is put in another order', async (page) => {
  await page.getByRole('tab', { name: /Held up/ }).click();
  await page.getByRole('columnheader', { name: 'Next try' }).getByRole('button').click();
  const second = page.locator('.open').nth(1);
  const name = await second.innerText();
  await second.focus();
  await page.waitForFunction((is) => document.querySelector('.open')?.textContent === is, name, { timeout: 30_000 });
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), name);
});

on('the timeline moves and zooms by keyboard and buttons', async (page) => {
  const note = page.locator('#timeline-note');
  await page.locator('#stage').focus();
  const first = await note.innerText();
  await page.keyboard.press('+');
  await page.waitForFunction((text) => document.getElementById('timeline-note')?.textContent !== text, first);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('0');
  await page.getByRole('button', { name: 'Show all that is scheduled' }).click();
  await page.waitForFunction((text) => document.getElementById('timeline-note')?.textContent === text, first);
});

on('a click on a mark shows what it stands for', async (page) => {
  const box = /** @type {any} */ (await page.locator('#canvas').boundingBox());
  const all = await count(page);
  for (let x = 0.3; x < 0.9 && !(await page.locator('#clear').isVisible()); x += 0.02) {
    await page.mouse.click(box.x + box.width * x, box.y + 34 + 14);
  }
  const text = await page.locator('#clear').innerText();
  assert.match(text, /Clear the filter \(\d\d:\d\d:\d\d to /);
  assert.ok((await count(page)) < all);
  await page.locator('#clear').click();
  assert.ok((await count(page)) > all - 20);
});

for (const colorScheme of ['light', 'dark']) {
  on(`axe finds nothing wrong, ${colorScheme}`, async (page) => {
    assert.deepEqual(await violations(page), []);
    await page.locator('.open').first().click();
    await page.getByRole('tab', { name: /Nodes/ }).click();
    assert.deepEqual(await violations(page), []);
    await page.locator('#help').click();
    assert.deepEqual(await violations(page), []);
  }, { colorScheme });
}

on('a theme that is chosen stays', async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', { name: /Theme/ }).click(); // light
  await page.getByRole('button', { name: /Theme/ }).click(); // dark
  assert.notEqual(await ground(), light);
  await page.reload();
  assert.notEqual(await ground(), light);
});

on('a phone shows all without scrolling sideways', async (page) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `${wide} pixels wide`);
  assert.ok(await page.locator('#panel').evaluate((e) => e.scrollWidth <= e.clientWidth), 'the list scrolls sideways');
  await page.locator('.open').first().click();
  await page.locator('tr.why').waitFor();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  assert.deepEqual(await violations(page), []);
}, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });

on('nothing comes from outside, and nothing is inline', async (page) => {
  const origins = await page.evaluate(() => performance.getEntriesByType('resource').map((e) => new URL(e.name).origin));
  assert.deepEqual([...new Set(origins)], [new URL(cluster.page).origin]);
  assert.equal(await page.locator('[style]:not(#canvas, #tip), script:not([src])').count(), 0);
});

test('a standby says so, and who leads', async () => {
  const standby = await synthetic('-scheduled=10', '-nodes=2', '-rate=0', '-scene=standby');
  const { page, close } = await open(browser, standby.page);
  await page.getByText('This replica stands by; taint-manager-6c9f7-b8w1z leads.').waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
  await standby.stop();
});

test('trouble and dry run are told', async () => {
  for (const [scene, words] of [['trouble', 'The cluster can’t be watched: pods can\'t be watched since'], ['dry-run', 'A dry run: nobody is evicted.']]) {
    const cluster = await synthetic('-scheduled=10', '-nodes=2', '-rate=0', `-scene=${scene}`);
    const { page, close } = await open(browser, cluster.page);
    await page.getByText(words).waitFor();
    await close();
    await cluster.stop();
  }
});

test('a stream that breaks is told to be stale, and goes on when it can', async () => {
  const first = await synthetic('-scheduled=20', '-nodes=2', '-rate=0');
  const { page, close } = await open(browser, first.page);
  await holds(page, 'evictions', 20);
  await first.stop();
  await page.locator('#live', { hasText: /^stale, as of \d\d:\d\d:\d\d UTC$/ }).waitFor();
  await page.getByText('What is shown may be of the past.').waitFor();
  assert.equal(await count(page), 20);
  const second = await synthetic('-scheduled=31', '-nodes=2', '-rate=0', `-address=${new URL(first.page).host}`);
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  await holds(page, 'evictions', 31);
  await close();
  await second.stop();
});
