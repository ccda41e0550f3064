/**
 * The built site in Debian's Chromium: each page opens without an error on the console, and asks no other host; the search works without
 * one. Decisions and runbooks, a third of all, are opened as a reader does: by the links of their lists, which takes a quarter of a load.
 */
import assert from 'node:assert/strict';
import { createReadStream, existsSync, globSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { findBrowser } from '../../packages/ui/browser/find-browser.ts';
import { openBrowser, openPage, type OpenedPage } from '../../packages/ui/browser/open-browser.ts';
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
  response.writeHead(200, {
    'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream',
    // Their names hold their hash.
    ...(file.startsWith(path.join(dist, 'assets')) && { 'cache-control': 'max-age=31536000, immutable' }),
  });
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

const LISTED = ['adr', 'runbooks'] as const;
const isListed = (page: string): boolean =>
  LISTED.some((folder) => page.startsWith(`${folder}/`) && !page.endsWith('/index.html'));
const pages = (): readonly string[] => globSync('**/*.html', { cwd: dist });

/** A tab, and what it did that it should not: errors, and requests to another host. */
async function openTab(): Promise<{ page: OpenedPage['page']; wrongs: () => readonly string[] }> {
  const { errors, page } = await openPage(browser, base);
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  return { page, wrongs: () => [...errors, ...foreign] };
}

test('each file of the documentation is a page', () => {
  const built = new Set(pages());
  const expected = globSync([...PAGE_GLOBS], { cwd: root }).map(
    (file) => pageOf(file)?.replace(/\.md$/u, '.html') ?? file,
  );
  assert.ok(expected.length > 200, `${expected.length} files`);
  assert.deepEqual(
    expected.filter((page) => !built.has(page)),
    [],
  );
});

test(
  'each page but decisions and runbooks opens without an error, and asks nobody else',
  { timeout: 300_000 },
  async () => {
    const { page, wrongs } = await openTab();
    for (const one of pages().filter((each) => !isListed(each))) {
      const answer = await page.goto(`${base}/${one}`, { waitUntil: 'domcontentloaded' });
      assert.equal(answer?.status(), 200, one);
      await page.waitForSelector(one === '404.html' ? '.NotFound' : '.vp-doc h1');
      assert.deepEqual([one, ...wrongs()], [one]);
    }
  },
);

for (const folder of LISTED) {
  test(
    `the list in ${folder}/ leads to each of its pages, which open without an error`,
    { timeout: 300_000 },
    async () => {
      const { page, wrongs } = await openTab();
      // VitePress names the page in a class of its text.
      const shown = (one: string): Promise<void> => page.locator(`.vp-doc._${one.replace('/', '_')} h1`).waitFor();
      await page.goto(`${base}/${folder}/`);
      const listed = pages().filter((each) => isListed(each) && each.startsWith(`${folder}/`));
      assert.ok(listed.length > 10, `${listed.length} pages`);
      for (const one of listed) {
        await shown(`${folder}/`);
        // By its handler alone: to move the pointer there and to scroll takes longer than the page.
        await page.locator(`.vp-doc a[href="/${one}"]`).first().dispatchEvent('click');
        await shown(one.replace(/\.html$/u, ''));
        assert.deepEqual([one, ...wrongs()], [one]);
        await page.goBack();
      }
    },
  );
}

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
