/** Debian's Chromium for the judges of the page, with a profile of its own that goes with it. Entry point: `openBrowser`. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** `path`: of `findBrowser`. It is closed with what is returned. */
export async function openBrowser(path: string): Promise<Browser & AsyncDisposable> {
  // Its sandbox needs another user than root, or a setuid helper that an unpacked one has not.
  const browser = await chromium.launch({ executablePath: path, chromiumSandbox: false, args: ['--disable-gpu'] });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}

export interface OpenedPage {
  readonly page: Page;
  /** What the page wrote to the console as an error, and what it threw. */
  readonly errors: readonly string[];
}

/** For what the page shows in the end, on a machine that has other things to do. */
const PATIENCE_MS = 120_000;

/** A tab with no past. */
export async function openPage(
  browser: Browser,
  link: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 840 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(link);
  return { page, errors };
}
