// Shared by the tests: a browser, the synthetic cluster, and the real one.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const browsers = ['/usr/lib/chromium/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium'];

// A test that fails does not close what it has opened; nothing may outlive the tests.
/** @type {(() => unknown)[]} */
const ends = [];
after(async () => { for (const end of ends) await end(); });

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let launched;

/** Returns the headless browser of a file of tests. */
export const launch = () => launched ??= start();

/** Starts a headless browser: Debian's binary itself, as its wrapper adds flags of its own. */
async function start() {
  const executablePath = process.env.CHROMIUM ?? browsers.find((path) => existsSync(path));
  if (!executablePath) throw new Error('there is no Chromium; install the package chromium, or name one by CHROMIUM=PATH');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  ends.push(() => browser.close());
  return browser;
}

/**
 * Starts a program that prints its address in a line of JSON, and ends with its input.
 * @param {string} path @param {string[]} args
 */
async function run(path, args) {
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  ends.push(() => child.stdin.end());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${path} has ended`);
    return JSON.parse(value);
  };
  const where = await answer();
  return {
    ...where,
    pid: child.pid,
    /** Sends a line and waits for its answer. @param {string} line */
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return answer();
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

/** Returns the path of a program that make builds. @param {string} name */
const program = (name) => new URL(`../../../bin/${name}`, import.meta.url).pathname;

/** Starts a synthetic cluster. @param {string[]} flags */
export const synthetic = (...flags) => run(program('synthetic'), flags);

/** Starts a real control plane with taint-manager. */
export const live = () => run(program('live'), []);

/**
 * Opens a page and records its errors and warnings.
 * @param {import('playwright-core').Browser} browser @param {string} url
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (m) => m.type() === 'error' && complaints.push(m.text()));
  page.on('pageerror', (e) => complaints.push(String(e)));
  await page.goto(url);
  await page.locator('#live', { hasText: /^(live|watch broken)$/ }).waitFor();
  return { page, complaints, close: () => context.close() };
}

/** @typedef {import('playwright-core').BrowserContextOptions} Options */

/**
 * Starts a browser and a synthetic cluster before the tests of a file; both end with the file. It returns them, and two
 * ways to define a test on a page, which must not report errors: of that cluster, and of another one.
 * @param {string[]} flags of the cluster
 */
export function over(...flags) {
  const shared = /** @type {{browser: import('playwright-core').Browser, cluster: any}} */ ({});
  before(async () => { shared.browser = await launch(); shared.cluster = await synthetic(...flags); });
  /** @param {string} url @param {(page: import('playwright-core').Page) => Promise<void>} body @param {Options} [options] */
  const use = async (url, body, options) => {
    const { page, complaints, close } = await open(shared.browser, url, options);
    try {
      await body(page);
      assert.deepEqual(complaints, []);
    } finally {
      await close();
    }
  };
  return {
    shared,
    /** @param {string} name @param {(page: import('playwright-core').Page) => Promise<void>} body @param {Options} [options] */
    on: (name, body, options) => { test(name, () => use(shared.cluster.page, body, options)); },
    /**
     * @param {string} name @param {string[]} others flags of the other cluster
     * @param {(page: import('playwright-core').Page, cluster: any) => Promise<void>} body @param {Options} [options]
     */
    elsewhere: (name, others, body, options) => {
      test(name, async () => {
        const cluster = await synthetic(...others);
        try {
          await use(cluster.page, (page) => body(page, cluster), options);
        } finally {
          await cluster.stop();
        }
      });
    },
  };
}

/** Returns the number of rows of a list, from the count on its tab. @param {import('playwright-core').Page} page @param {string} tab */
export async function count(page, tab = 'upcoming') {
  return Number((await page.locator(`#tab-${tab} b`).innerText()).replaceAll(',', ''));
}

/** Waits until a list has n rows. @param {import('playwright-core').Page} page @param {string} tab @param {number} n @param {number} [timeout] */
export async function holds(page, tab, n, timeout = 20_000) {
  await page.locator(`#tab-${tab} b`, { hasText: new RegExp(`^${n.toLocaleString('en')}$`) }).waitFor({ timeout });
}

/**
 * Waits until a text has changed, and returns the new one.
 * @param {import('playwright-core').Locator} part @param {string} text
 */
export async function changes(part, text) {
  const until = Date.now() + 20_000;
  for (;;) {
    const now = await part.innerText();
    if (now !== text) return now;
    if (Date.now() > until) throw new Error(`it is "${text}" for 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the seconds of "in 4 min 05 s". @param {string} text */
export function secondsOf(text) {
  /** @type {Record<string, number>} */
  const units = { d: 86400, h: 3600, min: 60, s: 1 };
  let sum = 0;
  for (const [, n, unit] of text.matchAll(/(\d+) (d|h|min|s)\b/g)) sum += Number(n) * units[unit];
  return sum;
}

/** Returns the left and right ends of the marks of these states on the timeline, and of the line of now, in order. @param {string[]} names */
export function columnsOf(names) {
  const { left } = /** @type {HTMLElement} */ (document.getElementById('plot')).getBoundingClientRect();
  return /** @type {Record<string, any[]>} */ (Object.fromEntries(names.map((name) => {
    const parts = document.querySelectorAll(name === 'now' ? '#line' : `#rows .s-${name} path`);
    const ends = [...parts].map((e) => e.getBoundingClientRect()).flatMap((box) => [box.left - left, box.right - left]);
    return [name, ends.sort((a, b) => a - b)];
  })));
}

/** Returns the violations that axe-core finds. @param {import('playwright-core').Page} page */
export async function violations(page) {
  // Evaluated by the debugger, to which the page's policy does not apply.
  await page.evaluate(await readFile(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8'));
  const found = await page.evaluate(() => /** @type {any} */ (window).axe.run());
  return found.violations.map((/** @type {any} */ v) => `${v.id}: ${v.help}: ${v.nodes.map((/** @type {any} */ n) => n.target).join(' ')}`);
}
