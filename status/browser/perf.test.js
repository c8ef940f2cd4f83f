// 10,000 scheduled evictions and 20 a second: frames of the page, and what the controller spends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launch, open, synthetic } from './pages.js';

const seconds = 10;
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

test('with 10,000 scheduled and 20 evictions a second, frames and the controller’s share stay small', async (t) => {
  const cluster = await synthetic('-scheduled=10000', '-nodes=200', '-rate=20');
  const used = async () => (await (await fetch(cluster.usage)).json()).cpuSeconds;
  const share = async () => {
    const before = await used();
    await pause(seconds * 1000);
    return (await used() - before) / seconds;
  };
  await pause(2000);
  const without = await share();
  const browser = await launch();
  const { page, close } = await open(browser, cluster.page);
  await page.locator('#tab-evictions b', { hasText: /^1?\d,\d{3}$/ }).waitFor();
  await pause(3000);
  const frames = page.evaluate(watchFrames, seconds * 1000);
  const withOne = await share();
  const { gaps, work } = await frames;
  gaps.sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * q))].toFixed(1);
  t.diagnostic(`frames: ${gaps.length} in ${seconds} s; between two: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; long tasks: ${work.map((w) => w.toFixed(0)).join(', ') || 'none'}`);
  t.diagnostic(`controller: ${(without * 100).toFixed(2)} % of a core without a viewer (the made-up cluster itself), ${((withOne - without) * 100).toFixed(2)} % more with one`);
  await close();
  await browser.close();
  await cluster.stop();
  assert.deepEqual(work.filter((ms) => ms > 50), [], 'tasks of the page longer than 50 ms');
  assert.ok(withOne - without < 0.02, `one viewer costs ${((withOne - without) * 100).toFixed(2)} % of a core`);
});

/** Notes the time between frames, and the tasks of 50 ms and more. @param {number} ms */
function watchFrames(ms) {
  return new Promise((/** @type {(v: {gaps: number[], work: number[]}) => void} */ resolve) => {
    /** @type {number[]} */ const gaps = [];
    /** @type {number[]} */ const work = [];
    const observer = new PerformanceObserver((list) => { for (const e of list.getEntries()) work.push(e.duration); });
    observer.observe({ entryTypes: ['longtask'] });
    const start = performance.now();
    let last = start;
    const frame = (/** @type {number} */ now) => {
      gaps.push(now - last);
      last = now;
      if (now - start < ms) requestAnimationFrame(frame);
      else resolve({ gaps, work });
    };
    requestAnimationFrame(frame);
  });
}
