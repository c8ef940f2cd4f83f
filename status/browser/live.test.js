// The page of the real binary on a real control plane.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { holds, launch, live, open, violations } from './pages.js';

/** @type {import('playwright-core').Browser} */ let browser;
/** @type {any} */ let cluster;
/** @type {Awaited<ReturnType<typeof open>>} */ let opened;

/** @param {string} line */
async function tell(line) {
  const answer = await cluster.ask(line);
  assert.equal(answer.error, '', `${line}: ${answer.out}`);
  return answer.out;
}

const pods = (/** @type {string} */ name, /** @type {number} */ n, /** @type {string} */ tolerations) => `apply apiVersion: apps/v1
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
  [browser, cluster] = await Promise.all([launch(), live()]);
  await tell('node page-1');
  await tell('kubectl wait node page-1 --for=condition=Ready --timeout=30s');
  await tell(pods('slow', 6, '{key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 3600}'));
  await tell('kubectl rollout status deployment/slow --timeout=60s');
  opened = await open(browser, cluster.page);
});
after(async () => { await browser.close(); await cluster.stop(); });

test('a quiet cluster is said to be quiet', async () => {
  await opened.page.getByText('All quiet: no node carries a NoExecute taint, and nothing is scheduled.').waitFor();
  assert.deepEqual(await violations(opened.page), []);
});

test('a taint appears, and its lane fills', async () => {
  const { page } = opened;
  await tell('kubectl taint node page-1 maintenance=now:NoExecute');
  await holds(page, 'evictions', 6);
  await holds(page, 'nodes', 1);
  assert.match(await page.locator('#lanes button').innerText(), /page-1\s*6/);
  assert.match(await page.locator('tbody tr').first().innerText(), /scheduled[^]*default\/slow-[^]*page-1[^]*maintenance=now[^]*in (59|1 h)/);
  assert.deepEqual(await violations(page), []);
});

test('the countdown runs', async () => {
  const cell = opened.page.locator('tbody tr').first().locator('td').nth(5);
  const first = await cell.innerText();
  await opened.page.waitForTimeout(2200);
  assert.notEqual(await cell.innerText(), first);
});

test('the page goes on by itself after a restart, with the same evictions', async () => {
  const { page } = opened;
  const restarted = tell('restart');
  await page.locator('#live', { hasText: /^stale/ }).waitFor();
  await restarted;
  await page.locator('#live', { hasText: /^live$/ }).waitFor({ timeout: 30_000 });
  await holds(page, 'evictions', 6, 30_000);
  await page.getByText('this replica leads').waitFor({ timeout: 60_000 });
});

test('what was evicted is told', async () => {
  const { page } = opened;
  await tell(pods('fast', 2, '{key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 2}'));
  await page.locator('[data-total="evictedLastHour"]', { hasNotText: /^(0|–)$/ }).waitFor({ timeout: 60_000 });
  await page.getByRole('tab', { name: /Evicted lately/ }).click();
  assert.match(await page.locator('tbody tr').first().innerText(), /default\/fast-/);
  await page.getByRole('tab', { name: /Evictions/ }).click();
  await tell('kubectl delete deployment fast --wait=true');
});

test('a lifted taint empties the lane', async () => {
  const { page } = opened;
  await tell('kubectl taint node page-1 maintenance-');
  await holds(page, 'evictions', 0);
  await holds(page, 'nodes', 0);
});

test('there was no error in the console', () => {
  // A connection that is refused while nobody listens is no fault of the page.
  assert.deepEqual(opened.complaints.filter((c) => !c.includes('ERR_CONNECTION_REFUSED') && !c.includes('ERR_INCOMPLETE_CHUNKED_ENCODING')), []);
});
