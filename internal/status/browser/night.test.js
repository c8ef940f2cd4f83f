// What the page is for at three in the morning: what is wrong comes first, and can be handed on.

import assert from 'node:assert/strict';
import { changes, count, holds, open, over, violations } from './pages.js';

const clusters = {
  busy: over('-scheduled=60', '-nodes=6', '-rate=2'), calm: over('-scheduled=60', '-nodes=6', '-rate=0', '-scene=calm'),
  trouble: over('-scheduled=60', '-nodes=6', '-rate=0', '-scene=trouble'),
};

/** @param {keyof typeof clusters} scene @param {Parameters<typeof clusters.busy.on>} test */
const on = (scene, ...test) => clusters[scene].on(...test);

/** @param {import('playwright-core').Locator} part */
const box = async (part) => /** @type {{x: number, y: number, width: number, height: number}} */ (await part.boundingBox());
const phone = { viewport: { width: 390, height: 664 }, isMobile: true, hasTouch: true };
/** @param {import('playwright-core').Page} page */
const dot = (page) => page.locator('#live').evaluate((e) => getComputedStyle(e, '::before').color);

// What is wrong comes first.

on('busy', 'stuck pods come before totals and timeline, and only there', async (page) => {
  assert.ok((await box(page.locator('#stuck'))).y < (await box(page.locator('#totals'))).y);
  assert.ok((await box(page.locator('#totals'))).y < (await box(page.locator('#stage'))).y);
  assert.equal(await page.locator('#stuck tbody tr').count(), 5);
  assert.equal(await page.locator('#stuck-note').innerText(), '3 blocked, 2 refused, 2 delayed');
  for (const text of await page.locator('#panel tbody tr').allInnerTexts()) assert.doesNotMatch(text, /blocked|refused|delayed/);
  assert.match(await page.title(), /^7 stuck · \d+ scheduled · /);
});

on('busy', 'stuck pods that the filter hides are counted', async (page) => {
  await page.locator('#states button', { hasText: 'blocked' }).click();
  await page.locator('#stuck-note', { hasText: '3 blocked, 2 refused, 2 delayed; the filter hides 3' }).waitFor();
  await page.getByLabel('Search').fill('no such pod');
  await page.getByText('No stuck evictions match the filter.').waitFor();
  assert.equal(await page.locator('#totals [data-total="stuck"]').innerText(), '7');
});

on('calm', 'while nothing is wrong, there is a green live and nothing red', async (page) => {
  assert.ok(!(await page.locator('#stuck').isVisible()));
  const green = await dot(page);
  assert.equal(await page.locator('#live').innerText(), 'live');
  const busy = await open(clusters.busy.shared.browser, clusters.busy.shared.cluster.page);
  assert.equal(await busy.page.locator('#live').innerText(), 'live');
  assert.notEqual(await dot(busy.page), green, 'it is green although pods are stuck');
  await busy.close();
});

on('trouble', 'a broken watch is not live, and nothing is claimed to be 0', async (page) => {
  assert.equal(await page.locator('#live').innerText(), 'watch broken');
  assert.match(await page.title(), /^watch broken · 7 stuck · /);
  await page.locator('#banners', { hasText: /^Watch broken: pods can't be watched since \d\d:\d\d:\d\d UTC: connection refused/ }).waitFor();
  for (const total of ['due', 'inFlight']) assert.equal(await page.locator(`#totals [data-total="${total}"]`).innerText(), '–');
  assert.ok((await box(page.locator('#banners'))).y < (await box(page.locator('#stuck'))).y);
  assert.deepEqual(await violations(page), []);
});

on('trouble', 'on a phone a broken watch and a stuck pod, with its reason, are on the first screen', async (page) => {
  const { y, height } = await box(page.locator('#stuck tbody tr').first());
  assert.ok(y + height <= 664, `the first stuck pod ends at ${y + height}`);
  assert.match(await page.locator('#stuck tbody tr').first().innerText(), /blocked, .*: pdb: Cannot evict pod/);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
}, phone);

on('calm', 'on a phone the list comes within the first screen, and the filter unfolds', async (page) => {
  const { y, height } = await box(page.locator('#panel tbody tr').first());
  assert.ok(y + height <= 664, `the first line of the list ends at ${y + height}`);
  const search = page.getByLabel('Search');
  assert.ok(!(await search.isVisible()));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await search.fill('web');
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  assert.deepEqual(await violations(page), []);
}, phone);

// One zone of time.

on('trouble', 'all times are in the zone that is chosen, also in words of the manager', async (page) => {
  await page.locator('#stuck .open').first().click();
  await page.getByRole('tab', { name: /Nodes/ }).click();
  const utc = /UTC|\d\dT\d\d:/;
  for (const part of ['#banners', 'tr.why', '#panel']) assert.match(await page.locator(part).innerText(), utc);
  await page.locator('#zone').click();
  for (const part of ['header', '#banners', '#stuck', '#panel', '#list']) assert.doesNotMatch(await page.locator(part).innerText(), utc, part);
  for (const part of ['#banners', 'tr.why', '#panel']) assert.match(await page.locator(part).innerText(), /\d\d:\d\d:\d\d GMT\+9/);
}, { timezoneId: 'Asia/Tokyo' });

// The address.

on('busy', 'the address holds the open pod, the filter, the zone and what the timeline shows', async (page) => {
  const stuck = page.locator('#stuck .open').nth(2);
  const name = await stuck.innerText();
  await stuck.click();
  await page.getByLabel('Node', { exact: true }).fill('node-00');
  await page.locator('#states button', { hasText: 'held' }).click();
  await page.getByLabel('Group by').selectOption('owner');
  await page.getByRole('tab', { name: /Nodes/ }).click();
  await page.locator('#zone').click();
  await page.locator('#closer').click();
  await page.locator('#earlier').click();
  await page.waitForFunction(() => /across=.*moved=/.test(location.hash));
  const other = await open(clusters.busy.shared.browser, page.url(), { timezoneId: 'Asia/Tokyo' });
  assert.equal(other.page.url(), page.url());
  await other.page.locator('tr.why', { hasText: `${name} was due to be evicted` }).waitFor();
  assert.match(await other.page.locator('#clock').innerText(), /GMT\+9$/);
  assert.equal(await other.page.getByLabel('Node', { exact: true }).inputValue(), 'node-00');
  assert.equal(await other.page.getByLabel('Group by').inputValue(), 'owner');
  assert.equal(await other.page.getByRole('tab', { selected: true }).innerText(), await page.getByRole('tab', { selected: true }).innerText());
  assert.equal(await other.page.locator('#timeline-note').innerText(), await page.locator('#timeline-note').innerText());
  await other.close();
}, { timezoneId: 'Asia/Tokyo' });

on('calm', 'the address holds the range that a mark has opened', async (page) => {
  await page.locator('#rows > :first-child .mark.s-scheduled').last().click();
  assert.match(page.url(), /range=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\/\d{4}-/);
  const other = await open(clusters.busy.shared.browser, page.url());
  assert.equal(await other.page.locator('#clear').innerText(), await page.locator('#clear').innerText());
  assert.equal(await count(other.page), await count(page));
  await other.close();
});

on('calm', 'an address that is opened in place of another is shown, on the page of its pod', async (page) => {
  const { items } = await (await fetch(`${clusters.calm.shared.cluster.page}api/v1/evictions?state=scheduled`)).json();
  const { uid, namespace, pod } = items.at(-1); // of 60, so that it is on the second page
  await page.evaluate((hash) => { location.hash = hash; }, `open=${uid}`);
  await page.locator('#panel tr.why', { hasText: `${namespace}/${pod} will be evicted` }).waitFor();
  assert.match(await page.locator('#panel .pager').innerText(), /51–(\d+) of \1 lines/);
  await page.evaluate(() => { location.hash = 'range=x/y&across=x&list=x&group=x&zone=x&search=auth'; });
  await page.locator('#clear').waitFor();
  assert.match(page.url(), /#search=auth&zone=UTC$/);
});

on('busy', 'a pod that an address opens is found where it was evicted, and missed where it is not', async (page) => {
  const { evicted } = await (await fetch(`${clusters.busy.shared.cluster.page}api/v1/snapshot`)).json();
  const { uid, namespace, pod } = evicted[0];
  await page.evaluate((hash) => { location.hash = hash; }, `open=${uid}`);
  await page.locator('#panel tr.why', { hasText: `${namespace}/${pod} was evicted from` }).waitFor();
  assert.match(await page.getByRole('tab', { selected: true }).innerText(), /^Recently evicted/);
  await page.evaluate(() => { location.hash = 'open=nobody'; });
  await page.getByText('The pod of this address is not listed').waitFor();
});

on('busy', 'a pod that goes while it is open is said to have gone', async (page) => {
  await page.locator('#panel tbody tr', { hasText: 'scheduled' }).first().locator('.open').click();
  await page.locator('#banners', { hasText: /was evicted from node-\d+ at \d\d:\d\d:\d\d UTC/ }).waitFor({ timeout: 60_000 });
});

// Things to do.

on('busy', 'each command has a button that copies it, which outlives the changes around it', async (page) => {
  await page.locator('#stuck .open').first().click();
  const lines = page.locator('tr.why .command');
  const copy = lines.last().getByRole('button');
  assert.equal(await lines.count(), await page.locator('tr.why code').count());
  const handle = await copy.elementHandle();
  const sentence = page.locator('tr.why p').first();
  await changes(sentence, await sentence.innerText());
  assert.ok(await handle?.evaluate((e) => e.isConnected), 'the button was replaced');
  await copy.click();
  await lines.last().getByText('Copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await lines.last().locator('code').innerText());
  await lines.last().getByText('Copy', { exact: true }).waitFor();
}, { permissions: ['clipboard-read', 'clipboard-write'] });

on('busy', '"Recently evicted" stands still under the pointer, and says how many are newer', async (page) => {
  await page.getByRole('tab', { name: /Recently evicted/ }).click();
  const line = page.locator('#panel tbody tr').nth(3);
  const names = () => page.locator('#panel tbody .open').allInnerTexts();
  await line.hover();
  await page.waitForTimeout(1200); // what was under way
  const first = await names();
  await page.locator('.later:visible', { hasText: /^Stands still while you are in it; [1-9]\d* newer$/ }).waitFor();
  assert.deepEqual(await names(), first);
  await page.mouse.move(0, 0);
  await page.waitForFunction((was) => document.querySelector('#panel .open')?.textContent !== was, first[0]);
  assert.equal(await page.locator('#panel .later').innerText(), '');
});

on('calm', 'nodes are chosen by a list with commas, of names and parts of names', async (page) => {
  await page.getByLabel('Node', { exact: true }).fill('node-001, node-002,');
  await page.waitForFunction(() => document.querySelectorAll('#lanes button').length === 2);
  assert.deepEqual([...new Set(await page.locator('#panel tbody tr td:nth-child(4)').allInnerTexts())].sort(), ['node-001', 'node-002']);
  assert.equal(await page.locator('#lanes [aria-pressed="true"]').count(), 2);
  await page.getByLabel('Node', { exact: true }).fill('003,-002');
  await page.waitForFunction(() => [...document.querySelectorAll('#lanes button')].every((b) => /node-00[23]/.test(b.textContent ?? '')));
});

on('busy', 'the search finds states', async (page) => {
  for (const [word, n] of [['blocked', 3], ['stuck', 7], ['delayed timeout', 2]]) {
    await page.getByLabel('Search').fill(String(word));
    await page.waitForFunction((count) => {
      const shown = document.querySelectorAll('#stuck tbody tr').length;
      return shown === Math.min(Number(count), 5);
    }, n);
  }
  await page.getByLabel('Search').fill('scheduled');
  await page.getByText('No stuck evictions match the filter.').waitFor();
});

on('busy', 'a node whose pods are all stuck leads to them', async (page) => {
  await page.getByLabel('Search').fill('blocked');
  await page.getByRole('tab', { name: /Nodes/ }).click();
  await page.locator('#panel tbody tr', { has: page.locator('td:nth-child(5)', { hasText: /^[1-9]/ }) }).first().locator('.lead').click();
  await page.getByText('All that the filter lets through is stuck, and listed above.').waitFor();
  assert.ok(await page.evaluate(() => document.activeElement?.matches('#stuck .open')));
});

on('calm', 'a node leads to its pods', async (page) => {
  await page.getByRole('tab', { name: /Nodes/ }).click();
  const line = page.locator('#panel tbody tr').first();
  const [name, pending] = [await line.locator('td').first().innerText(), Number(await line.locator('td').nth(3).innerText())];
  await line.getByRole('button', { name }).click();
  await holds(page, 'upcoming', pending);
  assert.match(await page.getByRole('tab', { selected: true }).innerText(), /^Upcoming/);
  assert.equal(await page.getByLabel('Node', { exact: true }).inputValue(), name);
  assert.match(page.url(), new RegExp(`node=${name}`));
});
