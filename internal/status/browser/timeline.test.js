// The positions of the timeline's marks.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { columnsOf, launch, open, synthetic } from './pages.js';

/** @type {Awaited<ReturnType<typeof open>>} */ let opened;
before(async () => {
  const still = await synthetic('-scheduled=20', '-nodes=2', '-rate=0'); // some of which are stuck
  opened = await open(await launch(), still.page);
});

/** Waits until the timeline is drawn. */
const drawn = () => opened.page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));

test('late and blocked pods stay at now, however long they wait', async () => {
  const { page } = opened;
  for (const times of [0, 6]) { // zoomed in, their deadlines are far to the left of the view
    for (let i = 0; i < times; i++) await page.locator('#closer').click();
    await drawn();
    const found = await page.evaluate(columnsOf, ['now', 'blocked', 'refused', 'delayed']);
    const [now] = found.now;
    for (const state of ['blocked', 'refused', 'delayed']) {
      assert.ok(found[state].length, `${state} is not there`);
      assert.ok(found[state][0] >= now - 1 && found[state].at(-1) < now + 110, `${state} from ${found[state][0]} to ${found[state].at(-1)}, now is at ${now}`);
    }
  }
  await page.locator('#fit').click();
});

test('a click on what is late shows it, whenever it was due', async () => {
  const { page } = opened;
  await drawn();
  const late = page.locator('#rows > :first-child .mark').first();
  await late.hover();
  await page.locator('#tip', { hasText: /(was|were) due (at|by)/ }).waitFor();
  await late.click();
  assert.match(await page.locator('#clear').innerText(), /^Clear the filter \(due by \d\d:\d\d:\d\d UTC\)$/);
  for (const text of await page.locator('tbody tr').allInnerTexts()) assert.match(text, /late/);
  await page.locator('#clear').click();
});

test('a counter at an end covers no mark, and counts each pod that is not drawn', async () => {
  const bad = await opened.page.evaluate(async () => {
    const { binned, edge, placed } = await import(/** @type {any} */ ('/scale.js'));
    let seed = 7;
    const random = (/** @type {number} */ n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
    const states = ['scheduled', 'blocked', 'due', 'delayed', 'evicted'];
    const found = [];
    for (let round = 0; round < 400; round++) {
      const now = 1_000_000;
      const rows = Array.from({ length: 1 + random(60) }, () => {
        const state = states[random(5)];
        const due = state === 'scheduled' ? now + 1 + random(900_000) : now - random(900_000);
        return { state, due, shown: due, of: { node: 'n' } };
      });
      const width = 200 + random(1000);
      const across = 60_000 + random(2_000_000);
      const from = now - across / 2 + (random(4) - 2) * across; // now may be beyond either end
      const bins = binned(rows, (across / width) * 36, now).get('n');
      const size = (/** @type {any} */ bin) => ({ radius: 6, extent: bin.count > 1 ? 30 : 12 });
      const { marks, before, after } = placed(bins, { from, scale: width / across, now, width }, size);
      const pending = rows.filter((r) => r.state !== 'evicted').length;
      const shown = marks.filter((/** @type {any} */ m) => m.bin.state !== 'evicted').reduce((/** @type {number} */ n, /** @type {any} */ m) => n + m.bin.count, 0);
      if (shown + before + after !== pending) found.push(`round ${round}: ${shown} + ${before} + ${after} of ${pending}`);
      const [least, most] = [before ? edge : 0, after ? width - edge : width];
      for (const m of marks) if (m.left < least || m.right > most) found.push(`round ${round}: a mark from ${m.left} to ${m.right} in ${least} to ${most}`);
      const sorted = [...marks].sort((a, b) => a.left - b.left);
      for (let i = 1; i < sorted.length; i++) if (sorted[i].left < sorted[i - 1].right) found.push(`round ${round}: marks overlap`);
      const line = (now - from) * (width / across);
      for (const m of marks) if (m.bin.state === 'evicted' ? m.right > line : m.left < line) found.push(`round ${round}: ${m.bin.state} is on the wrong side of now`);
    }
    return found;
  });
  assert.deepEqual(bad, []);
});

test('the label of now is shown whole at either end', async () => {
  assert.deepEqual(await opened.page.evaluate(async () => {
    const { within } = await import(/** @type {any} */ ('/scale.js'));
    return [within(3, 16, 300), within(120, 16, 300), within(299, 16, 300)];
  }), [16, 120, 284]);
});

test('a number fits into the space at an end', async () => {
  const widest = await opened.page.evaluate(() => {
    const c = /** @type {any} */ (document.createElement('canvas').getContext('2d'));
    c.font = '600 11.5px system-ui, sans-serif';
    return Math.max(...['‹ 999', '9.9k ›', '888k ›'].map((text) => c.measureText(text).width));
  });
  assert.ok(widest <= 46 - 4, `${widest} pixels`);
});

test('the timeline fits its content: all of it is visible, and it takes most of the width', async () => {
  const { page } = opened;
  for (const [seconds, most] of [[3, 25], [40, 60], [290, 360], [750, 1000], [3300, 4000], [86_000, 100_000]]) {
    const reach = await page.evaluate(async (far) => {
      const scale = await import(/** @type {any} */ ('/scale.js'));
      return scale.reach(Array.from({ length: 100 }, (_, i) => ({ state: 'scheduled', due: (far * 1000 * (i + 1)) / 100 })), 0) / 1000;
    }, seconds);
    assert.ok(reach > seconds && reach <= most, `${seconds} s ahead are shown as ${reach} s`);
  }
  await page.locator('#fit').click();
  await drawn();
  const { scheduled } = await page.evaluate(columnsOf, ['scheduled']);
  const width = await page.locator('#plot').evaluate((e) => e.clientWidth);
  assert.ok(scheduled.at(-1) > width * 0.75 && scheduled.at(-1) < width, `the last mark is at ${scheduled.at(-1)} of ${width}`);
  const { now } = await page.evaluate(columnsOf, ['now']);
  assert.ok(now[0] < width * 0.08, `now is at ${now[0]} of ${width}, and nothing was evicted`);
});

test('one far eviction does not press the others together', async () => {
  const reach = await opened.page.evaluate(async () => {
    const scale = await import(/** @type {any} */ ('/scale.js'));
    const due = [...Array.from({ length: 99 }, (_, i) => (i + 1) * 3000), 100 * 86_400_000];
    return scale.reach(due.map((at) => ({ state: 'scheduled', due: at })), 0) / 1000;
  });
  assert.ok(reach > 297 && reach < 400, `${reach} s`);
});

test('times of the past are shown as past, on the axis and in the lists', async () => {
  const { page } = opened;
  await page.locator('#earlier').click();
  await drawn();
  const words = await page.locator('#axis i').allInnerTexts();
  assert.ok(words.some((w) => / ago$/.test(w)) && words.some((w) => /^in /.test(w)), words.join(', '));
  assert.ok(!words.some((w) => /^[−+]/.test(w)), words.join(', '));
  await page.locator('#now').click();
  await page.getByRole('tab', { name: /Nodes/ }).click();
  for (const text of await page.locator('#panel tbody tr td:last-child').allInnerTexts()) assert.match(text, /^(in .*|now|.* late|)$/);
  const told = await page.evaluate(async () => {
    const { sentence, explanation } = await import(/** @type {any} */ ('/explain.js'));
    const { rowOf } = await import(/** @type {any} */ ('/store.js'));
    const at = Date.parse('2000-01-01T12:00:00Z');
    const of = { uid: 'u', namespace: 'ns', pod: 'p', node: 'n', taint: 't', because: 'b', state: 'blocked', deadline: '2000-01-01T11:59:00Z', nextTry: '2000-01-01T11:59:50Z' };
    return [sentence(rowOf(of, false), at), explanation(rowOf(of, false), new Map(), at).textContent];
  });
  assert.match(told[0], /was due to be evicted from n at 11:59:00 UTC \(1 min 00 s ago\)/);
  assert.match(told[1], /Next attemptwas due at 11:59:50 UTC, 10 s ago/);
  await page.getByRole('tab', { name: /Upcoming/ }).click();
});

test('there was no error in the console', () => assert.deepEqual(opened.complaints, []));
