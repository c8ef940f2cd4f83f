// The page of the real binary on a real control plane.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changes, holds, launch, live, open, secondsOf, violations } from './pages.js';

/** @type {import('playwright-core').Browser} */ let browser;
/** @type {any} */ let cluster;
/** @type {Awaited<ReturnType<typeof open>>} */ let opened;

/** Sends a command to the control plane. @param {string} line */
async function tell(line) {
  const answer = await cluster.ask(line);
  assert.equal(answer.error, '', `${line}: ${answer.out}`);
  return answer.out;
}

/** Creates n pods on the node. @param {string} name @param {number} n @param {string} [tolerations] */
const pods = (name, n, tolerations = '') => `apply apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: default}
spec:
  replicas: ${n}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations: [${tolerations}]
      nodeSelector: {kubernetes.io/hostname: page-1}
      containers: [{name: c, image: image}]`.replaceAll('\n', '\\n');

before(async () => {
  browser = await launch();
  cluster = await live();
  await tell('node page-1');
  await tell('kubectl wait node page-1 --for=condition=Ready --timeout=30s');
  await tell(pods('slow', 6, '{key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 3600}'));
  await tell('kubectl rollout status deployment/slow --timeout=60s');
  opened = await open(browser, cluster.page);
});
after(async () => { await browser?.close(); await cluster?.stop(); });

test('a quiet cluster is shown as quiet', async () => {
  await opened.page.getByText('All quiet: no node carries a taint that evicts, and nothing is scheduled.').waitFor();
  assert.deepEqual(await violations(opened.page), []);
});

test('a taint appears, and its lane fills', async () => {
  const { page } = opened;
  await tell('kubectl taint node page-1 maintenance=now:NoExecute');
  await holds(page, 'upcoming', 6);
  await holds(page, 'nodes', 1);
  assert.match(await page.locator('#lanes button').innerText(), /page-1\s*6/);
  assert.match(await page.locator('#panel tbody tr').first().innerText(), /scheduled[^]*default\/slow-[^]*Deployment\/slow[^]*page-1[^]*maintenance=now[^]*in (59|1 h)/);
  assert.match(await page.locator('#cluster').innerText(), /^127\.0\.0\.1:\d+$/);
  assert.equal(await page.locator('#method').innerText(), 'method delete, no rate limit');
  assert.deepEqual(await violations(page), []);
});

test('the countdown runs', async () => {
  const cell = opened.page.locator('#panel tbody tr').first().locator('td').nth(6);
  const first = await cell.innerText();
  const next = await changes(cell, first);
  assert.ok(secondsOf(next) < secondsOf(first), `${next} after ${first}`);
});

test('the page continues by itself after a restart, with the same evictions', async () => {
  const { page } = opened;
  // Another process does not know the tag of this one, so it answers with a whole snapshot.
  const whole = page.waitForResponse(
    async (r) => r.url().includes('/api/v1/snapshot') && r.status() === 200 && (await r.json()).kind === 'Snapshot', { timeout: 60_000 });
  await tell('restart');
  await whole;
  await page.locator('#live', { hasText: /^live$/ }).waitFor({ timeout: 30_000 });
  await holds(page, 'upcoming', 6, 30_000);
  await page.getByText('this replica leads').waitFor({ timeout: 60_000 });
});

test('past evictions are shown', async () => {
  const { page } = opened;
  await tell(pods('fast', 2, '{key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 2}'));
  await page.locator('#totals [data-total="evictedLastHour"]', { hasNotText: /^(0|–)$/ }).waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: /Recently evicted/ }).click();
  assert.match(await page.locator('#panel tbody tr').first().innerText(), /default\/fast-/);
  await page.getByRole('tab', { name: /Upcoming/ }).click();
  await tell('kubectl delete deployment fast --wait=true');
});

test('removing a taint empties the lane', async () => {
  const { page } = opened;
  await tell('kubectl taint node page-1 maintenance-');
  await holds(page, 'upcoming', 0);
  await holds(page, 'nodes', 0);
});

/** Creates a budget that keeps n of them. @param {string} name @param {number} n */
const budget = (name, n) => `apply apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep-${name}, namespace: default}
spec: {minAvailable: ${n}, selector: {matchLabels: {app: ${name}}}}`.replaceAll('\n', '\\n');

test('a pod that a budget keeps is blocked, with cause and next try, until the budget is relaxed', async () => {
  const { page } = opened;
  await tell('restart --eviction-method=evict');
  await tell(pods('guarded', 1));
  await tell('kubectl rollout status deployment/guarded --timeout=60s');
  await tell(budget('guarded', 1));
  await tell("kubectl wait pdb/keep-guarded --for=jsonpath={.status.currentHealthy}=1 --timeout=60s");
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  await page.getByText('this replica leads').waitFor({ timeout: 60_000 });

  await tell('kubectl taint node page-1 repair=now:NoExecute');
  const line = page.locator('#stuck tbody tr', { hasText: /blocked[^]*default\/guarded-[^]*page-1[^]*late[^]*pdb: [^]*disruption budget keep-guarded needs 1 healthy pods[^]*in \d+ s/ });
  await line.waitFor();
  await page.locator('#totals [data-total="stuck"]', { hasText: /^1$/ }).waitFor();
  await line.locator('.open').click();
  await page.locator('tr.why', { hasText: /default\/guarded-\S+ was due to be evicted from page-1[^]*A PodDisruptionBudget blocks the eviction[^]*kubectl -n default describe pdb keep-guarded/ }).waitFor();
  assert.deepEqual(await violations(page), []);

  await tell(budget('guarded', 0));
  await page.locator('#totals [data-total="stuck"]', { hasText: /^0$/ }).waitFor();
  await page.getByRole('tab', { name: /Recently evicted/ }).click();
  await page.locator('#panel tbody tr', { hasText: /default\/guarded-/ }).waitFor();
  await tell('kubectl taint node page-1 repair-');
});

test('there was no error in the console', () => {
  // A connection that is refused while nothing listens is not an error of the page.
  assert.deepEqual(opened.complaints.filter((c) => !c.includes('ERR_CONNECTION_REFUSED') && !c.includes('ERR_INCOMPLETE_CHUNKED_ENCODING')), []);
});
