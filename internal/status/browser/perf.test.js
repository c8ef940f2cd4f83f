// 10,000 scheduled evictions and 20 a second: frames of the page, and the controller's CPU time.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { launch, open, synthetic } from './pages.js';

const seconds = 10;
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

test('with 10,000 scheduled and 20 evictions a second, frames and the controller’s share stay small', async (t) => {
  const cluster = await synthetic('-scheduled=10000', '-nodes=200', '-rate=20');
  const used = async () => { // in seconds, by the kernel's ticks of 10 ms
    const fields = (await readFile(`/proc/${cluster.pid}/stat`, 'utf8')).split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };
  const share = async () => {
    const before = await used();
    await pause(seconds * 1000);
    return (await used() - before) / seconds;
  };
  await pause(2000);
  const without = await share();
  const browser = await launch();
  const { page, close } = await open(browser, cluster.page);
  await page.locator('#tab-upcoming b', { hasText: /^1?\d,\d{3}$/ }).waitFor();
  await pause(3000);
  const unit = await page.evaluate(sortTexts);
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'toplevel', '__metadata'] });
  const frames = page.evaluate(watchFrames, seconds * 1000);
  const withOne = await share();
  const { gaps, long } = await frames;
  const work = tasks(JSON.parse(String(await browser.stopTracing())).traceEvents);
  gaps.sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * q))].toFixed(1);
  t.diagnostic(`frames: ${gaps.length} in ${seconds} s; between two: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; tasks over 50 ms: ${long}`);
  t.diagnostic(`tasks of the page: ${work.length}, the longest ${work.slice(0, 5).map((w) => w.toFixed(1)).join(', ')} ms of CPU, where sorting 100,000 texts takes ${unit.toFixed(1)} ms; all together ${(work.reduce((a, b) => a + b, 0) / seconds / 10).toFixed(1)} % of a core`);
  t.diagnostic(`controller: ${(without * 100).toFixed(2)} % of a core without a viewer (the synthetic cluster itself), ${((withOne - without) * 100).toFixed(2)} % more with one`);
  await close();
  await browser.close();
  await cluster.stop();
  assert.ok(work.length > 100 && work[0] < 6 * unit, `a task of the page took ${work[0]} ms, and sorting 100,000 texts ${unit} ms`);
  assert.ok(withOne - without < Math.max(0.02, 2 * without), `one viewer costs ${((withOne - without) * 100).toFixed(2)} % of a core`);
});

/**
 * Returns the cost of the tasks of the page's main thread, in milliseconds of CPU time, in descending order. Other
 * programs on the machine delay frames, but do not affect these figures.
 * @param {any[]} events
 */
function tasks(events) {
  const main = new Set(events.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`));
  return events.filter((e) => e.ph === 'X' && e.name === 'RunTask' && main.has(`${e.pid} ${e.tid}`))
    .map((e) => (e.tdur ?? e.dur) / 1000).sort((a, b) => b - a);
}

/** Returns how long this browser on this machine takes to make and to sort 100,000 texts, in milliseconds: the least of five times. */
function sortTexts() {
  const times = [1, 2, 3, 4, 5].map(() => {
    const began = performance.now();
    Array.from({ length: 100_000 }, (_, i) => `${(i * 7919) % 100_003}`).sort();
    return performance.now() - began;
  });
  return Math.min(...times);
}

/** Records the times between frames, and the number of tasks of more than 50 ms, all in wall time. @param {number} ms */
function watchFrames(ms) {
  return new Promise((/** @type {(seen: {gaps: number[], long: number}) => void} */ resolve) => {
    /** @type {number[]} */ const gaps = [];
    let long = 0;
    new PerformanceObserver((list) => { long += list.getEntries().length; }).observe({ type: 'longtask' });
    const start = performance.now();
    let last = start;
    const frame = (/** @type {number} */ now) => {
      gaps.push(now - last);
      last = now;
      if (now - start < ms) requestAnimationFrame(frame);
      else resolve({ gaps, long });
    };
    requestAnimationFrame(frame);
  });
}
