// The context that an operator needs: cluster, method, rate, owners, the end of a backlog, local time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { over, violations } from './pages.js';

const { shared, on, elsewhere } = over('-scheduled=300', '-nodes=24', '-rate=0.4', '-limit=0.5');

on('cluster, method and rate are named', async (page) => {
  assert.equal(await page.locator('#cluster').innerText(), 'prod-eu-1');
  assert.equal(await page.locator('#method').innerText(), 'method evict, at most 30 a minute');
  assert.match(await page.title(), /· prod-eu-1 · taint-manager$/);
});

on('each pod has its owner, in the list and in its explanation, and can be found by it', async (page) => {
  for (const text of await page.locator('#panel tbody tr td:nth-child(3)').allInnerTexts()) assert.match(text, /^Deployment\/[a-z]+$/);
  await page.getByLabel('Search').fill('deployment/web');
  for (const text of await page.locator('#panel tbody tr td:nth-child(3)').allInnerTexts()) assert.equal(text, 'Deployment/web');
  // The last one stays: the first may be evicted before it is explained.
  await page.locator('#panel .open').last().click();
  await page.locator('tr.why dd', { hasText: 'Deployment/web' }).waitFor();
});

for (const by of ['owner', 'budget', 'node', 'taint']) {
  on(`the list is grouped by ${by}`, async (page) => {
    const api = await (await fetch(`${shared.cluster.page}api/v1/evictions?limit=10000`)).json();
    await page.getByLabel('Group by').selectOption(by);
    const part = page.locator(by === 'budget' ? '#stuck' : '#panel');
    const names = await part.locator('tr.group .open').allInnerTexts();
    const nameOf = (/** @type {any} */ e) => ({
      owner: `${e.namespace}/${e.owner.kind}/${e.owner.name}`, budget: e.budget ? `${e.namespace}/${e.budget}` : 'no budget known', node: e.node, taint: e.taint,
    }[by]);
    const all = new Set(api.items.filter((/** @type {any} */ e) => (by === 'budget') === /^(blocked|refused|delayed)$/.test(e.state)).map(nameOf));
    assert.ok(names.length > 0 && names.length <= 50 && names.every((n) => all.has(n)), names.join(', '));
    // By its name, as groups change places.
    const first = part.locator('tr.group', { has: page.getByText(names[0], { exact: true }) });
    assert.match(await first.innerText(), /\d+ pods?(, \d+ stuck)?, the first /);
    await first.locator('.open').click();
    assert.equal(await first.locator('.open').getAttribute('aria-expanded'), 'true');
    const n = Number(/(\d+) pods?/.exec(await first.locator('span').innerText())?.[1]);
    const inside = await part.locator('tbody tr:not(.group)').count();
    assert.ok(Math.abs(inside - Math.min(n, by === 'budget' ? 4 : 49)) <= 2, `${inside} lines of ${n}`);
    if (by === 'owner') assert.deepEqual(await violations(page), []);
    await page.reload();
    await page.locator('#panel tr.group').first().waitFor();
    assert.equal(await page.getByLabel('Group by').inputValue(), by);
  });
}

on('a blocked pod names its budget', async (page) => {
  await page.locator('#stuck tbody tr', { hasText: 'blocked' }).first().locator('.open').click();
  assert.match(await page.locator('tr.why').innerText(), /kubectl -n \S+ describe pdb web[^]*Budget\s+web/);
});

elsewhere('the end of a backlog at the present rate is shown', ['-scheduled=600', '-nodes=10', '-rate=10', '-scene=backlog'], async (page) => {
  const line = page.locator('#backlog');
  await line.getByText(/At the present rate/).waitFor();
  await page.waitForTimeout(8000); // so that the rate is accurate
  const text = await line.innerText();
  const [, due, perSecond, minutes, seconds] = /^Backlog: ([\d,]+) pods are due\. At the present rate, ([\d.]+) a second, it is done in about (?:(\d+) min )?(\d+) s, at \d\d:\d\d:\d\d UTC\.$/.exec(text) ?? [];
  assert.ok(Number(perSecond) > 1 && Number(perSecond) < 13, text); // 10, and fewer on a busy machine
  const left = Number(minutes ?? 0) * 60 + Number(seconds);
  assert.ok(Math.abs(left - Number(due) / Number(perSecond)) < 3 + left / 20, text); // the rate is rounded
});

on('the end of a backlog counts what comes due meanwhile, and is not guessed where nothing goes', async (page) => {
  const told = await page.evaluate(async () => {
    const { backlog, told: tell } = await import(/** @type {any} */ ('/backlog.js'));
    const now = Date.parse('2000-01-01T12:00:00Z');
    const row = (/** @type {string} */ state, /** @type {number} */ s) => ({ state, due: now + s * 1000, ended: now + s * 1000 });
    const gone = Array.from({ length: 60 }, (_, i) => row('evicted', i - 60)); // one a second
    const due = [row('due', -9), row('due', -8), row('in-flight', -7)];
    const says = (/** @type {any[]} */ rows, /** @type {any[]} */ evicted, paused = false) => tell(backlog(rows, evicted, now), now, paused);
    return [
      says(due, gone), says([...due, row('scheduled', 2), row('scheduled', 60)], gone), says([...due, row('blocked', -99)], []),
      says([row('due', -1), row('scheduled', 9)], gone), says([row('blocked', -99)], gone),
      says([...due, row('blocked', -99)], gone, true), says([row('due', -9)], gone, true),
    ];
  });
  assert.match(told[0], /^Backlog: 3 pods are due\. At the present rate, 1 a second, it is done in about [23] s/);
  assert.match(told[1], /in about [34] s/);
  assert.equal(told[2], 'Backlog: 3 pods are due, and none was evicted in the last minute: no end is in sight. 1 pod stuck is not counted.');
  assert.deepEqual(told.slice(3, 5), ['', '']);
  assert.deepEqual(told.slice(5), ['Backlog: 3 pods are due, and wait for the end of the pause. 1 pod stuck is not counted.', 'Backlog: 1 pod is due, and waits for the end of the pause.']);
});

on('times are local by choice, and stay so', async (page) => {
  const api = await (await fetch(`${shared.cluster.page}api/v1/evictions?state=scheduled&limit=40`)).json();
  const last = api.items.at(-1); // which stays for the test
  const deadline = new Date(last.deadline);
  const row = page.locator('#panel tbody tr', { hasText: last.pod }).locator('td').nth(5);
  const utc = deadline.toISOString().slice(11, 19);
  const tokyo = new Date(deadline.getTime() + 9 * 3600_000).toISOString().slice(11, 19);
  assert.ok((await row.innerText()).endsWith(utc));
  await page.getByRole('button', { name: 'Times: UTC' }).click();
  assert.ok((await row.innerText()).endsWith(tokyo), `${await row.innerText()} for ${tokyo}`);
  await page.getByRole('columnheader', { name: 'Deadline, GMT+9' }).waitFor();
  assert.match(await page.locator('#clock').innerText(), /GMT\+9$/);
  await page.locator('#panel tbody tr', { hasText: last.pod }).locator('.open').click();
  assert.doesNotMatch(await page.locator('tr.why').innerText(), /UTC/);
  await page.reload();
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  assert.ok((await row.innerText()).endsWith(tokyo));
  await page.getByRole('button', { name: 'Times: local' }).click();
  assert.ok((await row.innerText()).endsWith(utc));
}, { timezoneId: 'Asia/Tokyo' });

on('on a screen of 1180 pixels the list is as wide as the page', async (page) => {
  for (const tab of [/Upcoming/, /Recently evicted/, /Nodes/]) {
    await page.getByRole('tab', { name: tab }).click();
    const { inside, room } = await page.locator('#panel').evaluate((e) => ({ inside: e.scrollWidth, room: e.clientWidth }));
    assert.ok(inside <= room, `${tab}: ${inside} pixels in ${room}`);
  }
}, { viewport: { width: 1180, height: 1000 } });

test('everything that the page loads is compressed', async () => {
  const context = await shared.browser.newContext();
  const page = await context.newPage();
  /** @type {Record<string, string | undefined>} */ const codings = {};
  page.on('response', (r) => { codings[new URL(r.url()).pathname] = r.headers()['content-encoding']; });
  await page.goto(shared.cluster.page);
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  for (const path of ['/', '/app.js', '/style.css', '/api/v1/snapshot']) assert.equal(codings[path], 'gzip', path);
  await context.close();
});
