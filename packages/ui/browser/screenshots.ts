/** `node packages/ui/browser/screenshots.ts`: writes docs/images/ui-*.png. The cluster in them is made up. */
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import { findBrowser } from './find-browser.ts';
import { openBrowser, openPage } from './open-browser.ts';
import { fillFacts, fillNodes, fillOrphans, fillRoutes, fillServices, startSample } from './sample-cluster.ts';

const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
/** A page of documentation is read over slow lines too. */
const MOST_BYTES = 100_000;

const { path, why } = findBrowser();
if (path === undefined) throw new Error(why);
mkdirSync(IMAGES, { recursive: true });
await using browser = await openBrowser(path);
for (const [name, hash, colorScheme] of [
  ['overview', '#overview', 'light'],
  ['nodes', '#nodes', 'light'],
  ['service', '#services?kind=service&name=shop%2Fcheckout', 'dark'],
] as const) {
  const now = systemClock.now();
  await using sample = await startSample((feed) => {
    fillFacts(feed, now);
    fillNodes(feed, 240, now);
    fillServices(feed, 64, now);
    fillRoutes(feed, 240);
    fillOrphans(feed);
  });
  const { page } = await openPage(browser, sample.ui.link, {
    colorScheme,
    viewport: { width: 1120, height: name === 'service' ? 420 : 540 },
  });
  await page.goto(`http://127.0.0.1:${sample.ui.port}/${hash}`);
  await page.reload();
  await page.waitForSelector(hash.startsWith('#overview') ? '.chart' : '.grid-body .grid-row');
  await page.waitForTimeout(500);
  const file = `${IMAGES}ui-${name}.png`;
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  process.stdout.write(`${file}: ${size} bytes\n`);
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, and ${MOST_BYTES} are allowed`);
}
