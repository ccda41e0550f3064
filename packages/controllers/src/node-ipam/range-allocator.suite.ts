/** What the range allocator does on an API server, whichever: the embedded one and the real one must agree. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  createClient,
  createTransport,
  isInvalid,
  noMetrics,
  openStore,
  resources,
  silentLogger,
  systemClock,
  type Client,
  type ClusterConfig,
  type Node,
} from '@outrigger/kube';
import { hollowNode } from '@outrigger/testing';
import { readIpamRanges } from './ipam-ranges.ts';
import { FIELD_MANAGER } from './other-allocator.ts';
import { createRangeAllocator } from './range-allocator.ts';

/** Starts an API server that ends with the test; `undefined` when there is none here (the test is skipped then). */
export type StartApiServer = (t: TestContext) => Promise<ClusterConfig | undefined>;

const PATIENCE_MS = 240_000;
const random = (): number => 0.5;
const clusterCidr = '10.64.0.0/12,fd00::/44';

async function runAllocator(client: Client): Promise<() => Promise<void>> {
  const environment = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics, random };
  const store = openStore({ ...environment, resource: resources.nodes });
  const ended = new AbortController();
  const flags = { nodeCidrMaskSize: 0, nodeCidrMaskSizeIpv4: 0, nodeCidrMaskSizeIpv6: 0, serviceClusterIpRange: '' };
  const ranges = readIpamRanges({ ...flags, clusterCidr });
  const running = createRangeAllocator({
    ...environment,
    store,
    events: { record: () => {} },
    ranges,
    observeMs: 500,
  }).run(ended.signal);
  return async () => {
    ended.abort();
    await running;
    await store[Symbol.asyncDispose]();
  };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const startedAt = systemClock.monotonic();
  while (!(await holds())) {
    if (systemClock.monotonic() - startedAt > PATIENCE_MS) assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
    await systemClock.sleep(50);
  }
}

async function inParallel(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i += 20) {
    await Promise.all(Array.from({ length: Math.min(20, count - i) }, (_, j) => work(i + j)));
  }
}

const cidrsOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? [];

/** Runs the suite. `count`: nodes that come at once. */
export function testRangeAllocator(subject: string, count: number, start: StartApiServer): void {
  test(`${subject}: ${count} nodes get a range of each family, each another one, through a restart`, async (t) => {
    const config = await start(t);
    if (!config) return;
    const transport = createTransport(config);
    t.after(() => transport[Symbol.asyncDispose]());
    const client = createClient(transport);
    const nodes = client.of(resources.nodes);
    const join = (name: string): Promise<Node> => nodes.create(hollowNode({ name, images: 2 }));

    // One that was given its range by us lately: nobody waits for another allocator.
    await join('first');
    const podCIDRs = ['10.64.0.0/24', 'fd00::/64'];
    const body = { spec: { podCIDR: podCIDRs[0], podCIDRs } };
    await nodes.patch({ name: 'first' }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER });

    let stop = await runAllocator(client);
    t.after(() => stop());
    const half = count >> 1;
    await inParallel(half, (i) => join(`n${i}`));
    // In the midst of it: nothing may be given twice, whatever was in flight.
    await stop();
    stop = await runAllocator(client);
    await inParallel(count - half, (i) => join(`n${half + i}`));
    const startedAt = systemClock.monotonic();
    let items: readonly Node[] = [];
    await until('all nodes have their ranges', async () => {
      ({ items } = await nodes.list());
      return items.length === count + 1 && items.every((node) => cidrsOf(node).length === 2);
    });
    t.diagnostic(`the last range ${Math.round(systemClock.monotonic() - startedAt)} ms after the last node`);
    assert.equal(new Set(items.flatMap(cidrsOf)).size, 2 * (count + 1));
    assert.ok(items.every(({ spec }) => spec?.podCIDR === spec?.podCIDRs?.[0]));

    // A range is set free with its node, and not before.
    const [given = ''] = cidrsOf(items.find(({ metadata }) => metadata?.name === 'n0')!);
    await nodes.delete({ name: 'n0' });
    await join('n0');
    await until('n0 has a range again', async () => cidrsOf(await nodes.get({ name: 'n0' })).length === 2);
    const all = (await nodes.list()).items.flatMap(cidrsOf);
    assert.equal(new Set(all).size, 2 * (count + 1));
    assert.ok(given !== '');
  });

  test(`${subject}: pod CIDRs that are set cannot be changed, and the writer is on record`, async (t) => {
    const config = await start(t);
    if (!config) return;
    const transport = createTransport(config);
    t.after(() => transport[Symbol.asyncDispose]());
    const nodes = createClient(transport).of(resources.nodes);
    await nodes.create(hollowNode({ name: 'a', images: 2 }));
    const give = (...podCIDRs: string[]): Promise<Node> =>
      nodes.patch(
        { name: 'a' },
        {
          type: 'json',
          operations: [
            { op: 'add', path: '/spec/podCIDR', value: podCIDRs[0] },
            { op: 'add', path: '/spec/podCIDRs', value: podCIDRs },
          ],
        },
        { fieldManager: FIELD_MANAGER },
      );
    const node = await give('10.64.7.0/24');
    await give('10.64.7.0/24');
    await assert.rejects(give('10.64.8.0/24'), isInvalid);
    assert.deepEqual(cidrsOf(await nodes.get({ name: 'a' })), ['10.64.7.0/24']);
    const managers = (node.metadata?.managedFields ?? []) as { manager?: string; fieldsV1?: object }[];
    // Not every server keeps them.
    if (managers.length === 0) return t.diagnostic('the server has no managedFields');
    assert.ok(
      managers.some(
        ({ manager, fieldsV1 }) => manager === FIELD_MANAGER && JSON.stringify(fieldsV1).includes('"f:podCIDRs"'),
      ),
    );
  });
}
