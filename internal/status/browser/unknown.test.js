// The page while it has no data: nothing is shown as 0.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds, open, over, synthetic } from './pages.js';

const quiet = ['-scheduled=0', '-nodes=1', '-rate=0'];
const { shared, elsewhere } = over(...quiet);

/** Returns all numbers on the page: totals, states, lists, plots and title. @param {import('playwright-core').Page} page */
const said = (page) => page.evaluate(() => ({
  totals: Object.fromEntries([...document.querySelectorAll('#totals [data-total]')].map((e) => [e.getAttribute('data-total'), e.textContent])),
  states: Object.fromEntries([...document.querySelectorAll('#states button')].map((e) => [e.getAttribute('data-state'), e.querySelector('b')?.textContent])),
  lists: Object.fromEntries([...document.querySelectorAll('[role=tab]')].map((e) => [e.id.slice(4), e.querySelector('b')?.textContent])),
  plots: ['rate-text', 'late-text'].map((id) => document.getElementById(id)?.textContent),
  empty: /** @type {HTMLElement} */ (document.querySelector('#panel table')).hidden ? document.querySelector('#panel .empty')?.textContent : '',
  title: document.title,
}));

/** @param {import('playwright-core').Page} page */
async function noZero(page) {
  const all = await said(page);
  for (const part of [all.totals, all.states, all.lists]) for (const [name, text] of Object.entries(part)) assert.notEqual(text, '0', name);
  for (const text of all.plots) assert.match(text ?? '', /not known/);
  assert.doesNotMatch(all.title, /\b0\b/);
  return all;
}

test('before the first snapshot nothing is shown as 0', async () => {
  const context = await shared.browser.newContext();
  const page = await context.newPage();
  await page.route('**/api/v1/snapshot', () => {}); // never answered
  await page.goto(shared.cluster.page);
  await page.waitForTimeout(600);
  const all = await noZero(page);
  assert.equal(all.empty, 'Waiting for the first snapshot…');
  assert.equal(await page.locator('#live').innerText(), 'connecting');
  await context.close();
});

elsewhere('while it starts, the manager has no data, and nothing is shown as 0', [...quiet, '-scene=starting'], async (page) => {
  const all = await noZero(page);
  assert.match(all.empty ?? '', /nothing is decided before that/);
});

test('a quiet cluster that is stale is not shown as quiet, and 0 is known again after a message', async () => {
  const first = await synthetic(...quiet);
  const { page, close } = await open(shared.browser, first.page);
  await holds(page, 'upcoming', 0);
  const live = await said(page);
  assert.equal(live.totals.stuck, '0');
  assert.match(live.empty ?? '', /^Nothing is scheduled/);
  await first.stop();
  await page.locator('#live', { hasText: /^stale/ }).waitFor();
  await page.locator('#totals [data-total="stuck"]', { hasText: '–' }).waitFor();
  const stale = await noZero(page);
  assert.equal(stale.empty, 'Scheduled evictions are unknown.');
  assert.match(stale.title, /^stale/);
  const second = await synthetic(...quiet, `-address=${new URL(first.page).host}`);
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  await page.locator('#totals [data-total="stuck"]', { hasText: '0' }).waitFor();
  await close();
  await second.stop();
});

elsewhere('a standby does not claim that nothing is stuck or was evicted, as only the leader knows', [...quiet, '-scene=standby'], async (page) => {
  await holds(page, 'upcoming', 0);
  const all = await said(page);
  assert.deepEqual([all.totals.scheduled, all.totals.stuck, all.totals.evictedLastHour, all.totals.inFlight], ['0', '–', '–', '–']);
  assert.deepEqual([all.lists.upcoming, all.lists.evicted, all.lists.nodes], ['0', '–', '1']);
  assert.ok(!(await page.locator('#stuck').isVisible()));
});
