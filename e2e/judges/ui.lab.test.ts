/** The page of `outrigger ui` in Debian's Chromium, on a real control plane with 1,000 nodes and 200 Services: it shows what there is, and within a second. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { resources } from '@outrigger/kube';
import { controlPlaneOrSkip, startHollowNodes } from '@outrigger/testing';
import { findBrowser } from '../../packages/ui/browser/find-browser.ts';
import { openBrowser, openPage } from '../../packages/ui/browser/open-browser.ts';
import { CloudStory } from '../cloud-story.ts';
import { KUBERNETES } from './programs.ts';

const OUTRIGGER = fileURLToPath(new URL('../../distribution/src/outrigger.ts', import.meta.url));
const NODES = 1_000;
const SERVICES = 200;
const PAINT_MS = 1_000;
/** A page that is too slow by itself is so each time. */
const MOST_PAINTS = 20;
/** Until all of them are there, on a machine that has other things to do. */
const PATIENCE_MS = 300_000;

const found = findBrowser();

/** The command as a person runs it, until `stop` aborts. Resolves with the link that it prints. */
async function startUi(args: readonly string[], stop: AbortSignal): Promise<string> {
  const child = spawn(process.execPath, [OUTRIGGER, 'ui', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  stop.addEventListener('abort', () => child.kill('SIGINT'), { once: true });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  while (!printed.includes('\n')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    assert.equal(child.exitCode, null, 'outrigger ui has ended');
  }
  return printed.trim();
}

test(
  `the page shows ${NODES} nodes and ${SERVICES} Services of a real control plane within a second`,
  { skip: found.path === undefined ? found.why : false },
  async (t) => {
    const controlPlane = await controlPlaneOrSkip(t, {
      kubernetes: KUBERNETES,
      kubectl: true,
      kubeControllerManager: true,
    });
    if (!controlPlane || found.path === undefined) return;
    await using story = await CloudStory.open(controlPlane);
    const { client, cloud } = story;
    const { port } = await story.run('outrigger', [
      '--cloud-provider=memory',
      '--allocate-node-cidrs',
      '--cluster-cidr=10.64.0.0/12',
      '--controllers=*,node-ipam-controller',
    ]);
    const server = `https://127.0.0.1:${port}`;
    await using _kubelets = await startHollowNodes({
      client,
      count: NODES,
      node: (index) => ({ name: cloud.createInstance({ name: `node-${index}` }).name, images: 1 }),
      heartbeats: { leaseMs: 30_000 },
    });
    for (let i = 0; i < SERVICES; i++) {
      await client.of(resources.services).create({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'default', name: `web-${i}` },
        spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: 'a' } },
      });
    }
    const args = [`--kubeconfig=${controlPlane.kubeconfig.path}`, `--server=${server}`, '--insecure-skip-tls-verify'];
    await using browser = await openBrowser(found.path);
    const { errors, page } = await openPage(browser, await startUi(args, t.signal));
    const showsAll = async (timeout?: number): Promise<void> => {
      for (const [name, count] of Object.entries({ Nodes: NODES, Services: SERVICES, Routes: NODES })) {
        const tile = page.locator(`section[aria-label="${name}"] .count-value.good`);
        await tile
          .filter({ hasText: new RegExp(`^${count.toLocaleString('en')}$`, 'u') })
          .waitFor(timeout ? { timeout } : {});
      }
    };
    // While they all join, the page follows.
    await showsAll(PATIENCE_MS);
    // The best of some: the machine may be busy.
    const paints: number[] = [];
    const wholes: number[] = [];
    while (wholes.length < MOST_PAINTS && !(Math.min(...paints) < PAINT_MS && Math.min(...wholes) < PAINT_MS)) {
      await page.reload();
      await showsAll();
      wholes.push(await page.evaluate<number>('performance.now()'));
      paints.push(
        await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity`),
      );
    }
    t.diagnostic(`first paint after ${paints.join(', ')} ms; all is shown after ${wholes.join(', ')} ms`);
    assert.ok(Math.min(...paints) < PAINT_MS, `first paint after ${paints.join(', ')} ms`);
    assert.ok(Math.min(...wholes) < PAINT_MS, `all is shown after ${wholes.join(', ')} ms`);
    const at = (view: string): string => `${new URL(page.url()).origin}/#${view}`;
    await page.goto(at('nodes'));
    await page.getByText(`of ${NODES.toLocaleString('en')} nodes by this leader`).waitFor();
    await page.goto(at(`services?kind=service&name=${encodeURIComponent('default/web-0')}`));
    await page.getByText(/Nothing: it is up to date, with/u).waitFor();
    assert.equal(await page.locator('.tree li li').count(), 4);
    assert.deepEqual(errors, []);
  },
);
