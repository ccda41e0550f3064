/** Pages of the built site in Debian's Chromium: each opens without an error on the console, asks no other host, and the search works without one. */
import assert from 'node:assert/strict';
import { createReadStream, existsSync, globSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { findBrowser } from '../../packages/ui/browser/find-browser.ts';
import { openBrowser, openPage } from '../../packages/ui/browser/open-browser.ts';
import { pageOf, PAGE_GLOBS } from './site-pages.ts';

/** Made by the stage `site`. */
const root = path.resolve(import.meta.dirname, '../..');
const dist = path.join(root, 'site/.vitepress/dist');
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};
const server = createServer(({ url = '/' }, response) => {
  const file = path.join(dist, decodeURI(url).replace(/\/$/u, '/index.html'));
  if (!file.startsWith(dist) || !existsSync(file)) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
  createReadStream(file).pipe(response);
});
let base = '';
let browser: Awaited<ReturnType<typeof openBrowser>>;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await openBrowser(findBrowser().path ?? '');
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  server.close();
});

test(
  'each page but decisions and runbooks opens without an error, and asks nobody else',
  { timeout: 300_000 },
  async () => {
    // Decisions and runbooks are plain pages, and a third of all: of each folder its list.
    const isOpened = (page: string): boolean => !/^(?:adr|runbooks)\/(?!index\.)/u.test(page);
    const pages = globSync('**/*.html', { cwd: dist }).filter(isOpened);
    const expected = globSync([...PAGE_GLOBS], { cwd: root }).filter((file) => isOpened(pageOf(file) ?? ''));
    assert.ok(pages.length >= expected.length, `${pages.length} pages of ${expected.length} files`);
    const { errors, page } = await openPage(browser, base);
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(base) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    for (const one of pages) {
      const answer = await page.goto(`${base}/${one}`, { waitUntil: 'domcontentloaded' });
      assert.equal(answer?.status(), 200, one);
      await page.waitForSelector(one === '404.html' ? '.NotFound' : '.vp-doc h1');
      assert.deepEqual([one, ...errors, ...foreign], [one]);
    }
  },
);

test('the search finds a page without a network', { timeout: 300_000 }, async () => {
  const { errors, page } = await openPage(browser, base);
  const box = page.locator('.VPLocalSearchBox input');
  // Nobody listens to keys until the page's script has begun.
  while (!(await box.isVisible())) {
    await page.keyboard.press('Control+k');
    await page.waitForTimeout(100);
  }
  await box.fill('release-load-balancer');
  await page.waitForSelector('.VPLocalSearchBox .result');
  assert.deepEqual(errors, []);
});
