// What the page shows of policies and guards, over a synthetic cluster.

import assert from 'node:assert/strict';
import { over, violations } from './pages.js';

const { shared, on, elsewhere } = over('-scheduled=60', '-nodes=6', '-rate=0', '-scene=policies');

on('banners say that evictions are paused, which breaker is tripped, and which can never trip', async (page) => {
  const banners = page.locator('#banners');
  await banners.getByText('Paused: no eviction starts').waitFor();
  assert.doesNotMatch(await page.locator('#backlog').innerText(), /rate|in sight/, 'an end is shown during a pause');
  await banners.getByText('Breaker zone-outage is tripped for eu-1a since').waitFor();
  await banners.getByText('Note: breaker databases can never trip: its nodeSelector selects no node.').waitFor();
  assert.deepEqual(await violations(page), []);
});

on('the list is filtered by policy, and a row names policy, hold and time of deletion', async (page) => {
  const all = await (await fetch(`${shared.cluster.page}api/v1/evictions?policy=quarantine&limit=1000`)).json();
  assert.ok(all.total > 10 && all.items.every((/** @type {any} */ e) => e.state === 'held' && e.heldBy === 'policy quarantine'));
  await page.locator('#policy').fill('quarantine');
  await page.waitForFunction((n) => document.querySelectorAll('#panel tbody tr').length === n, Math.min(all.total, 50));
  assert.match(await page.locator('#panel tbody tr').first().innerText(), /held/);
  await page.locator('#panel tbody tr button').first().click();
  await page.getByText('is held on node-', { exact: false }).first().waitFor();
  await page.locator('#policy').fill('maintenance-databases');
  await page.waitForFunction(() => !/held/.test(document.querySelector('#panel tbody')?.textContent ?? 'held'));
  await page.locator('#panel tbody tr button').first().click();
  await page.getByText('maintenance-databases, method evict').waitFor();
  await page.getByText('if its eviction is still refused').waitFor();
  assert.match(page.url(), /policy=maintenance-databases/);
});

on('an eviction that waits for a rate says so, and groups are made by policy', async (page) => {
  await page.locator('#search').fill('dead-nodes-by-zone');
  await page.getByText('waiting for rate dead-nodes-by-zone').first().waitFor();
  await page.locator('#search').fill('');
  await page.locator('#group').selectOption('policy');
  await page.getByText('no policy').first().waitFor();
});

elsewhere('without policies nothing of them is shown', ['-scheduled=20', '-nodes=2', '-rate=0'], async (page) => {
  await page.locator('#panel tbody tr').first().waitFor();
  assert.equal(await page.locator('.of-policies:visible').count(), 0);
});
