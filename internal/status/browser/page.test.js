// How people use the page, over a synthetic cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes, columnsOf, count, holds, open, over, secondsOf, synthetic, violations } from './pages.js';

const { shared, on, elsewhere } = over('-scheduled=300', '-nodes=24', '-rate=0.4');
const still = ['-scheduled=20', '-nodes=2', '-rate=0']; // so that only the clock moves its marks

elsewhere('the countdown runs every second, even without changes', still, async (page, cluster) => {
  const cell = page.locator('#panel tbody tr', { hasText: 'scheduled' }).last().locator('td').nth(6);
  const deadline = Date.parse((await (await fetch(`${cluster.page}api/v1/evictions?state=scheduled`)).json()).items.at(-1).deadline);
  const seen = [await cell.innerText()];
  for (let i = 0; i < 4; i++) {
    seen.push(await changes(cell, seen[i]));
    const off = secondsOf(seen[i + 1]) - (deadline - Date.now()) / 1000;
    assert.ok(off > -2 && off < 5, `"${seen[i + 1]}" is wrong by ${off} s`);
  }
  // A loaded machine may miss a second.
  const steps = seen.slice(1).map((text, i) => secondsOf(seen[i]) - secondsOf(text));
  assert.ok(steps.filter((s) => s <= 2).length >= 2, seen.join(', '));
});

on('what is to come is right of now, what was evicted left of it', async (page) => {
  const { scheduled, evicted, now: [now] } = await page.evaluate(columnsOf, ['scheduled', 'evicted', 'now']);
  assert.ok(scheduled.length > 20 && evicted.length > 20);
  assert.ok(Math.min(...scheduled) >= now - 1, `${Math.min(...scheduled)} is left of ${now}`);
  assert.ok(Math.max(...evicted) <= now + 1, `${Math.max(...evicted)} is right of ${now}`);
});

elsewhere('marks glide to the left with the clock', still, async (page) => {
  await page.locator('#closer').click();
  await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); }));
  const next = async () => Math.min(...(await page.evaluate(columnsOf, ['scheduled'])).scheduled);
  const first = await next();
  for (let i = 0; await next() > first - 4; i++) {
    assert.ok(i < 100, `the first mark stands still at ${first}`);
    await page.waitForTimeout(100);
  }
});

for (const reducedMotion of /** @type {const} */ (['no-preference', 'reduce'])) {
  elsewhere(`with ${reducedMotion} for motion, marks ${reducedMotion === 'reduce' ? 'move in steps' : 'glide'}`, still, async (page) => {
    for (let i = 0; i < 12; i++) await page.locator('#closer').click(); // ten seconds across
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000); // from here on, a frame takes 16 ms however busy the machine is
    await page.evaluate(watchDrawings);
    await page.clock.runFor(5000);
    const times = await page.evaluate(() => /** @type {number[]} */ (/** @type {any} */ (window).drawn));
    const gaps = times.slice(1, 31).map((t, i) => t - times[i]);
    assert.equal(gaps.length, 30);
    // 8 pixels of about 1000 take 80 ms; an answer may redraw the page once more in between.
    const short = gaps.filter((ms) => ms < 60).length;
    if (reducedMotion === 'reduce') assert.ok(short <= 3, `redrawn after ${gaps.map(Math.round)} ms`);
    else assert.ok(short >= 27, `redrawn after ${gaps.map(Math.round)} ms`);
  }, { reducedMotion });
}

/** Collects the times at which the timeline is drawn, which moves its axis. */
function watchDrawings() {
  /** @type {number[]} */ const times = [];
  /** @type {any} */ (window).drawn = times;
  const axis = /** @type {HTMLElement} */ (document.getElementById('axis'));
  new MutationObserver(() => { times.push(performance.now()); }).observe(axis, { attributeFilter: ['style'], subtree: true });
}

on('lanes come busiest first, and each state has a shape of its own and a colour', async (page) => {
  // Lanes change places every five seconds at most, however often their counts change.
  await page.waitForFunction(() => {
    const counts = [...document.querySelectorAll('#lanes button i')].map((count) => Number(count.textContent));
    return counts.length > 10 && counts.every((count, i) => i === 0 || count <= counts[i - 1]);
  });
  const looks = await page.locator('#states button').evaluateAll((all) => all.map((chip) => {
    const mark = /** @type {Element} */ (chip.querySelector('svg'));
    return { shape: mark.innerHTML, colour: getComputedStyle(mark).color, text: chip.textContent };
  }));
  assert.equal(looks.length, 9);
  for (const what of /** @type {const} */ (['shape', 'colour', 'text'])) assert.equal(new Set(looks.map((l) => l[what])).size, 9, what);
});

on('bins hold every mark once, and zoom and filter open them', async (page) => {
  const { whole, sum, widest } = await page.evaluate(async () => {
    const { binned } = await import(/** @type {any} */ ('/scale.js'));
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ shown: i * 137 % 600_000, due: 1 + i * 137 % 600_000, state: i % 9 ? 'scheduled' : 'blocked', of: { node: `n${i % 14}` } }));
    const bins = [...binned(rows, 30_000, 0).values()];
    const all = bins.flat();
    return {
      whole: all.every((b) => b.at >= b.from && b.at < b.to), sum: all.reduce((n, b) => n + b.count, 0),
      widest: Math.max(...bins.map((lane) => lane.length)),
    };
  });
  assert.ok(whole && sum === 20_000 && widest <= 2 * 20, `${sum} in bins, at most ${widest} on a lane`);
  const note = page.locator('#timeline-note');
  assert.match(await note.innerText(), /numbers count evictions within 1 min/);
  await page.locator('#closer').click();
  await page.waitForFunction(() => /evictions within (15|30) s/.test(document.getElementById('timeline-note')?.textContent ?? ''));
});

on('totals are those of the snapshot, and open their lists', async (page) => {
  const { totals } = await (await fetch(`${shared.cluster.page}api/v1/snapshot`)).json();
  const shown = async (/** @type {string} */ name) => Number((await page.locator(`#totals [data-total="${name}"]`).innerText()).replaceAll(',', ''));
  assert.ok(Math.abs(await shown('scheduled') - totals.scheduled) <= 5);
  assert.ok(Math.abs(await shown('evictedLastHour') - totals.evictedLastHour) <= 5);
  assert.ok(await shown('due') <= 5 && await shown('inFlight') <= 5);
  for (const plot of ['rate', 'late']) assert.ok((await page.locator(`#${plot} path`).last().getAttribute('d') ?? '').split('M').length > 25);
  assert.equal(await shown('stuck'), 7);
  for (const text of await page.locator('#stuck tbody tr').allInnerTexts()) assert.match(text, /(blocked|refused|delayed)[^]*late[^]*(pdb|admission|timeout)[^]*(in \d+ s|now|ago|in flight)/);
  await page.getByRole('button', { name: /^Evicted, last hour/ }).click();
  assert.match(await page.getByRole('tab', { selected: true }).innerText(), /^Recently evicted/);
});

on('nodes tell their taints, and since when', async (page) => {
  await page.getByRole('tab', { name: /Nodes/ }).click();
  for (const text of await page.locator('#panel tbody tr').allInnerTexts()) assert.match(text, /^node-\d+\s+(node.kubernetes.io\/unreachable|maintenance=kernel|gpu=degraded):NoExecute since [-\d: ]+ UTC\s.* ago/);
});

on('a filter by node, taint, state and words narrows lists and timeline', async (page) => {
  const all = await count(page);
  await page.getByLabel('Node', { exact: true }).fill('node-003');
  await page.locator('#lanes button').nth(1).waitFor({ state: 'detached' });
  const one = await count(page);
  assert.ok(one > 0 && one < all, `${one} of ${all}`);
  assert.deepEqual([...new Set(await page.locator('#panel tbody tr td:nth-child(4)').allInnerTexts())], ['node-003']);
  await page.keyboard.press('Escape');
  await page.getByLabel('Taint', { exact: true }).fill('maintenance');
  assert.ok((await page.locator('#panel tbody tr td:nth-child(5)').allInnerTexts()).every((t) => t.startsWith('maintenance=')));
  await page.keyboard.press('Escape');
  await page.locator('#states button', { hasText: 'scheduled' }).click();
  assert.ok(!(await page.locator('#panel tbody tr td:nth-child(1)').allInnerTexts()).some((t) => t.includes('scheduled')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('payments/ingest');
  assert.ok((await page.locator('#panel tbody tr td:nth-child(2)').allInnerTexts()).every((t) => t.includes('payments/ingest')));
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
  const header = page.locator('#panel').getByRole('columnheader', { name: 'Pod' });
  const names = async () => (await page.locator('#panel tbody tr td:nth-child(2) .open').allInnerTexts());
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
  await page.getByRole('tab', { name: /Upcoming/ }).focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.getByRole('tab', { selected: true }).innerText(), /^Recently evicted/);
  await page.locator('#zone').focus();
  const pod = page.locator('#stuck .open').first();
  for (let i = 0; i < 30 && !(await pod.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const why = page.locator('tr.why');
  await why.waitFor();
  assert.match(await why.innerText(), /was due to be evicted from node-\d+ at .*: taint .*kubectl -n \S+ describe pod.*Next attempt.*Node taint/s);
  assert.equal(await pod.getAttribute('aria-expanded'), 'true');
  await page.waitForTimeout(2500); // it stays open, and focused, while the list changes
  assert.ok(await pod.evaluate((e) => e === document.activeElement));
  await page.keyboard.press('Enter');
  await why.waitFor({ state: 'detached' });
});

on('the focus stays with its pod while the list is put in another order', async (page) => {
  await page.locator('#states button', { hasText: 'refused' }).click(); // so that the others are on one page
  await page.getByRole('columnheader', { name: 'Next attempt' }).getByRole('button').click();
  const second = page.locator('#stuck .open').nth(1);
  const name = await second.innerText();
  await second.focus();
  await page.waitForFunction((is) => document.querySelectorAll('#stuck .open')[1]?.textContent !== is, name, { timeout: 30_000 });
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
  const all = await count(page);
  await page.locator('#rows > :first-child .mark.s-scheduled').last().click();
  const text = await page.locator('#clear').innerText();
  assert.match(text, /Clear the filter \(\d\d:\d\d:\d\d to /);
  assert.ok((await count(page)) < all);
  await page.locator('#clear').click();
  assert.ok((await count(page)) > all - 20);
});

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  on(`axe finds nothing wrong, ${colorScheme}`, async (page) => {
    assert.deepEqual(await violations(page), []);
    await page.locator('#stuck .open').first().click();
    for (const list of [/Nodes/, /Recently evicted/]) {
      await page.getByRole('tab', { name: list }).click();
      assert.deepEqual(await violations(page), []);
    }
    await page.locator('#panel .open').first().click();
    assert.deepEqual(await violations(page), []);
    await page.locator('#help').click();
    assert.deepEqual(await violations(page), []);
  }, { colorScheme });
}

for (const [scene, says] of [['policies', /^Paused:/], ['backlog', /^Backlog:/]]) {
  elsewhere(`axe finds nothing wrong, ${scene}`, ['-scheduled=600', '-nodes=10', '-rate=10', `-scene=${scene}`], async (page) => {
    await page.locator('#banners p, #backlog', { hasText: says }).first().waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole('tab', { name: /Recently evicted/ }).click();
    assert.deepEqual(await violations(page), []);
  });
}

on('a window of 1180 pixels has one row of what the page is about', async (page) => {
  const tops = await page.locator('header > *:visible').evaluateAll((all) => all.map((e) => { const { top, height } = e.getBoundingClientRect(); return top + height / 2; }));
  assert.ok(Math.max(...tops) - Math.min(...tops) < 10, tops.join(', '));
}, { viewport: { width: 1180, height: 800 } });

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
  for (const part of ['#panel', '#stuck']) assert.ok(await page.locator(part).evaluate((e) => e.scrollWidth <= e.clientWidth), `${part} scrolls sideways`);
  await page.locator('#stuck .open').first().click();
  await page.locator('tr.why').waitFor();
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  assert.deepEqual(await violations(page), []);
}, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });

on('nothing comes from outside, and nothing is inline', async (page) => {
  const origins = await page.evaluate(() => performance.getEntriesByType('resource').map((e) => new URL(e.name).origin));
  assert.deepEqual([...new Set(origins)], [new URL(shared.cluster.page).origin]);
  assert.equal(await page.locator('[style]:not(#plot *, #tip), script:not([src])').count(), 0);
});

elsewhere('a standby shows that it is one, and the leader', [...still, '-scene=standby'], async (page) => {
  await page.getByText('This replica is on standby; taint-manager-6c9f7-b8w1z leads.').waitFor();
  assert.deepEqual(await violations(page), []);
});

for (const [scene, words] of [['trouble', 'Watch broken: pods can\'t be watched since'], ['original', 'Warning: kube-controller-manager has evicted pod shop/web-0 of node node-0 at'], ['dry-run', 'Dry run: no pod is evicted.']]) {
  elsewhere(`the scene ${scene} is shown`, [...still, `-scene=${scene}`], (page) => page.getByText(words).waitFor());
}

test('a page whose manager is gone is shown as stale, and continues when it can', async () => {
  const first = await synthetic('-scheduled=20', '-nodes=2', '-rate=0', '-scene=calm');
  const { page, close } = await open(shared.browser, first.page);
  await holds(page, 'upcoming', 20);
  await first.stop();
  await page.locator('#live', { hasText: /^stale, as of \d\d:\d\d:\d\d UTC$/ }).waitFor();
  await page.getByText('this page may be out of date.').waitFor();
  assert.equal(await count(page), 20);
  const second = await synthetic('-scheduled=31', '-nodes=2', '-rate=0', '-scene=calm', `-address=${new URL(first.page).host}`);
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
  await holds(page, 'upcoming', 31);
  await close();
  await second.stop();
});
