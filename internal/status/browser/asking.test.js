// When the page asks the manager: its source in virtual time, and what the page shows while there is no answer.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { Source } from '../page/source.js';
import { holds, open, over } from './pages.js';

/**
 * A request, and when it was sent, in milliseconds.
 * @typedef {{at: number, search: string, aborted: () => boolean, settle: (status: number, body?: any) => Promise<void>}} Request
 */

/** What a source needs of a browser; requests wait until the test settles them. */
class Tab extends EventTarget {
  hidden = false;
  passed = 0;
  /** @type {Request[]} */ requests = [];
  /** @type {Record<string, any>} */ #real = {};

  constructor() {
    super();
    const parts = {
      document: this,
      addEventListener: this.addEventListener.bind(this),
      performance: { now: () => this.passed },
      fetch: (/** @type {string} */ url, /** @type {{signal: AbortSignal}} */ { signal }) => this.#send(url, signal),
    };
    for (const [name, value] of Object.entries(parts)) {
      this.#real[name] = Object.getOwnPropertyDescriptor(globalThis, name);
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  }

  close() {
    mock.timers.reset();
    for (const [name, was] of Object.entries(this.#real)) {
      if (was) Object.defineProperty(globalThis, name, was);
      else delete (/** @type {any} */ (globalThis))[name];
    }
  }

  /** @param {string} url @param {AbortSignal} signal */
  #send(url, signal) {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.requests.push({
        at: this.passed, search: new URL(url).search, aborted: () => signal.aborted,
        settle: async (status, body) => {
          const json = async () => typeof body === 'string' ? JSON.parse(body) : body;
          const headers = new Headers({ Date: new Date().toUTCString() });
          resolve({ status, ok: status < 300, json, headers });
          await settled();
        },
      });
    });
  }

  /** Lets ms of virtual time pass. @param {number} ms */
  async pass(ms) {
    for (const until = this.passed + ms; this.passed < until;) {
      this.passed += 100;
      mock.timers.tick(100);
      await settled();
    }
  }

  /** Answers the last request. @param {number} status @param {any} [body] */
  answer(status, body) { return this.requests[this.requests.length - 1].settle(status, body); }

  /** Shows or hides the tab. @param {boolean} seen */
  see(seen) {
    this.hidden = !seen;
    this.dispatchEvent(new Event('visibilitychange'));
  }

  /** When the requests were sent, in seconds. */
  get times() { return this.requests.map(({ at }) => at / 1000); }
}

/** Lets what is already settled have its effects. */
const settled = () => new Promise((done) => { setImmediate(done); });

const state = (/** @type {string} */ tag) => ({ kind: 'Snapshot', tag, at: new Date(Date.now()).toISOString() });

describe('the source', () => {
  /** @type {Tab} */ let tab;
  /** @type {Source} */ let source;
  /** @type {any[]} */ let taken;
  beforeEach(() => {
    tab = new Tab();
    taken = [];
    source = new Source('http://manager/api/v1/snapshot', (m) => taken.push(m));
  });
  afterEach(() => tab.close());

  test('it asks a second after each answer, for what has changed since', async () => {
    await tab.answer(200, state('a'));
    await tab.pass(1000);
    await tab.answer(204);
    await tab.pass(1000);
    await tab.pass(3000); // the answer takes its time
    await tab.answer(200, state('b'));
    await tab.pass(1000);
    assert.deepEqual(tab.times, [0, 1, 2, 6]);
    assert.deepEqual(tab.requests.map((r) => r.search), ['', '?since=a', '?since=a', '?since=b']);
    assert.deepEqual(taken.map((m) => m.tag), ['a', 'b']);
  });

  test('a tab that nobody sees does not ask, and does at once when it is seen again', async () => {
    await tab.answer(200, state('a'));
    tab.see(false);
    await tab.pass(60_000);
    assert.deepEqual(tab.times, [0]);
    tab.see(true);
    assert.deepEqual(tab.times, [0, 60]);
  });

  test('a tab that is seen again asks once, also while it waits for an answer or for the next second', async () => {
    tab.see(true);
    await tab.answer(200, state('a'));
    await tab.pass(500);
    tab.see(true);
    await tab.answer(204);
    await tab.pass(1000);
    assert.deepEqual(tab.times, [0, 0.5, 1.5]);
  });

  test('a tab that gets its network back asks at once', async () => {
    await tab.pass(10_000); // without an answer
    await tab.pass(500);
    tab.dispatchEvent(new Event('online'));
    assert.deepEqual(tab.times, [0, 10.5]);
  });

  test('the state is stale before the first answer, and 15 seconds after the last', async () => {
    assert.equal(source.stale(), true);
    await tab.answer(200, state('a'));
    tab.see(false);
    await tab.pass(14_900);
    assert.equal(source.stale(), false);
    await tab.pass(100);
    assert.equal(source.stale(), true);
    tab.see(true);
    await tab.answer(204);
    assert.equal(source.stale(), false);
  });

  test('while the manager refuses, the state is stale, and the source asks less and less often', async () => {
    await tab.answer(200, state('a'));
    await tab.pass(1000);
    for (const wait of [2, 4, 8, 10, 10]) {
      await tab.answer(503, { kind: 'Error', message: 'the page has stopped' });
      assert.deepEqual([source.stale(), source.refusal], [true, 'the page has stopped']);
      await tab.pass(wait * 1000);
    }
    assert.deepEqual(tab.times, [0, 1, 3, 7, 15, 25, 35]);
    await tab.answer(204);
    assert.deepEqual([source.stale(), source.refusal], [false, '']);
    await tab.pass(1000);
    assert.equal(tab.times.at(-1), 36);
  });

  test('an answer that does not begin within 10 seconds is given up', async () => {
    await tab.pass(9900);
    assert.equal(tab.requests[0].aborted(), false);
    await tab.pass(2100);
    assert.equal(tab.requests[0].aborted(), true);
    assert.deepEqual(tab.times, [0, 12]);
  });

  test('an answer that has begun may take two minutes', async () => {
    await tab.answer(200, new Promise(() => {})); // its end does not come
    await tab.pass(119_900);
    assert.equal(tab.requests[0].aborted(), false);
    await tab.pass(100);
    assert.equal(tab.requests[0].aborted(), true);
  });

  test('an answer that is cut off counts as none', async () => {
    await tab.answer(200, '{"kind":"Snapshot","tag":"a","evictions":[');
    assert.deepEqual([source.stale(), taken], [true, []]);
    await tab.pass(2000);
    assert.deepEqual(tab.requests.map((r) => r.search), ['', '']);
  });
});

const { shared, on } = over('-scheduled=5', '-nodes=1', '-rate=0', '-scene=calm');

on('the page asks for what has changed, and nothing has', async (page) => {
  const answer = await page.waitForResponse((r) => r.url().includes('?since=') && r.status() === 204);
  assert.match(new URL(answer.url()).pathname, /snapshot$/);
});

on('a tab that has not asked for long is stale until it is answered', async (page) => {
  await page.clock.install();
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }));
  await page.clock.fastForward(16_000);
  await page.waitForFunction(() => /^stale/.test(document.title));
  assert.match(await page.locator('#live').innerText(), /^stale, as of \d\d:\d\d:\d\d UTC$/);
  await page.evaluate(() => {
    delete /** @type {any} */ (document).hidden;
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.locator('#live', { hasText: /^live$/ }).waitFor();
});

test('while the manager gives no answer, or half of one, the page is stale and keeps what it has', async () => {
  const { page, close } = await open(shared.browser, shared.cluster.page); // whose console names failed requests
  const snapshots = '**/api/v1/snapshot*';
  const body = '{"kind":"Snapshot","tag":"x","evictions":[';
  /** @type {((route: import('playwright-core').Route) => Promise<void>)[]} */
  const ways = [(route) => route.abort(), (route) => route.fulfill({ contentType: 'application/json', body })];
  for (const way of ways) {
    await page.route(snapshots, way);
    await page.locator('#live', { hasText: /^stale, as of \d\d:\d\d:\d\d UTC$/ }).waitFor();
    await holds(page, 'upcoming', 5);
    await page.unroute(snapshots);
    await page.locator('#live', { hasText: /^live$/ }).waitFor();
    await holds(page, 'upcoming', 5);
  }
  await close();
});

test('a refusal is shown with the message of the manager', async () => {
  const { page, close } = await open(shared.browser, shared.cluster.page); // whose console names each refusal
  const message = 'the page has stopped; evictions continue';
  const answer = { status: 503, contentType: 'application/json', body: JSON.stringify({ kind: 'Error', message }) };
  await page.route('**/api/v1/snapshot*', (route) => route.fulfill(answer));
  await page.locator('#banners', { hasText: `This page is out of date: ${message}.` }).waitFor();
  await close();
});
