// The page when the manager refuses its stream.

import { test } from 'node:test';
import { launch, open, synthetic } from './pages.js';

test('a stream that is refused is shown with the message of the manager', async () => {
  const browser = await launch();
  const cluster = await synthetic('-scheduled=5', '-nodes=1', '-rate=0');
  const { page, close } = await open(browser, cluster.page);
  await page.route('**/api/v1/events', (route) => route.fulfill({
    status: 503, contentType: 'application/json', body: JSON.stringify({ kind: 'Error', message: 'the page has ended; evictions go on' }),
  }));
  await cluster.stop();
  await page.locator('#banners', { hasText: 'What is shown is of the past: the page has ended; evictions go on.' }).waitFor({ timeout: 20_000 });
  await close();
  await browser.close();
});
