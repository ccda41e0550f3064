/** Debian's Chromium for the judges of the page, with a profile of its own that goes with it. Entry point: `openBrowser`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const SCRIPT = fileURLToPath(new URL('chromium.sh', import.meta.url));
/** Of chromium.sh: none is here, and none can be had. */
const NONE = 3;

export interface FoundBrowser {
  readonly path?: string;
  /** Why there is none. */
  readonly why?: string;
}

/** Unpacks one into the cache where it can be had: some 20 s. Throws an `Error` where that goes wrong. */
export function findBrowser(): FoundBrowser {
  const { status, stderr, stdout } = spawnSync('bash', [SCRIPT], { encoding: 'utf8' });
  if (status === 0) return { path: stdout.trim() };
  if (status === NONE) return { why: stderr.trim() };
  throw new Error(`${SCRIPT}: ${stderr.trim()}`);
}

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

/** A tab with no past. */
export async function openPage(
  browser: Browser,
  link: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width: 1360, height: 840 }, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(link);
  return { page, errors };
}
