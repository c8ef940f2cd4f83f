// Makes the pictures of docs/screenshots from a synthetic cluster.

import { launch, open, synthetic } from './pages.js';

const to = (/** @type {string} */ name) => new URL(`../../../docs/screenshots/${name}.png`, import.meta.url).pathname;
const browser = await launch();
const quiet = await synthetic('-scheduled=160', '-nodes=9', '-rate=0.25');
const busy = await synthetic('-scheduled=10000', '-nodes=200', '-rate=20');
const late = await synthetic('-scheduled=900', '-nodes=12', '-rate=10', '-scene=backlog', '-limit=10');
const standby = await synthetic('-scheduled=0', '-nodes=3', '-rate=0', '-scene=standby');

/** @param {string} name @param {any} cluster @param {object} options @param {(page: import('playwright-core').Page) => Promise<void>} [prepare] */
async function picture(name, cluster, options, prepare) {
  const { page, close } = await open(browser, cluster.page, options);
  await prepare?.(page);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: to(name), animations: 'disabled' });
  await close();
}

const opened = async (/** @type {import('playwright-core').Page} */ page) => { await page.locator('#stuck .open').first().click(); await page.mouse.move(0, 0); };
await picture('page', quiet, { viewport: { width: 1180, height: 1180 } });
await picture('dark', busy, { viewport: { width: 1180, height: 900 }, colorScheme: 'dark' });
await picture('phone', quiet, { viewport: { width: 390, height: 1300 } }, opened);
await picture('backlog', late, { viewport: { width: 1180, height: 620 } }, async (page) => { await page.waitForTimeout(5000); });
await picture('standby', standby, { viewport: { width: 1180, height: 620 } });
await picture('stale', quiet, { viewport: { width: 1180, height: 420 } }, async (page) => {
  await quiet.stop();
  await page.locator('#live', { hasText: /^stale/ }).waitFor();
});
await browser.close();
await Promise.all([busy.stop(), late.stop(), standby.stop()]);
