/**
 * A cell of nova that is lost while the whole program runs: all kubelets are silent, the cell's servers are missing from every
 * list, and nova answers a GET of one of them with UNKNOWN, or with 500 where it is older than 2.69. None of their nodes goes;
 * a node whose server is really gone does, before and after.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock, type Node } from '@outrigger/kube';
import { clientOf, startEmbeddedApiServer, startHollowNodes } from '@outrigger/testing';
import { createFakeOpenStack } from '../providers/openstack/fake/fake-openstack.ts';
import { seedProject } from '../providers/openstack/fake/seed-project.ts';
import { serveFakeOpenStack } from '../providers/openstack/fake/serve-fake-openstack.ts';
import { isInitialised } from './initialised-node.ts';
import { Manager } from './manager.ts';
import { seededRandom } from './seeded-random.ts';
import { waitUntil } from './wait-until.ts';

const HASTE = 20;
const LIMIT_MS = 240_000;
const LOST = ['lost-0', 'lost-1', 'lost-2', 'lost-3'];
const LIVE = ['live-0', 'live-1', 'live-2', 'live-3'];
const ALL = [...LOST, ...LIVE];
/** How often nova is asked about each server of the lost cell, in vain: more often than one call is tried. */
const TRIES = 6;

/** The highest microversion of a nova, and what it answers about a server whose cell it cannot reach. */
const novas = { UNKNOWN: { microversion: 93, status: 200 }, 'a 500': { microversion: 68, status: 500 } } as const;

for (const [answer, { microversion, status }] of Object.entries(novas)) {
  test(`a lost cell whose servers no list has and a GET answers with ${answer}: no node of them is deleted`, async () => {
    await using owned = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'outrigger-lost-cell-'));
    owned.defer(() => rm(directory, { recursive: true }));
    const [kubeconfig, cloudConfig, log] = ['kubeconfig', 'cloud.conf', 'log'].map((file) => join(directory, file)) as [
      string,
      string,
      string,
    ];
    const server = owned.use(await startEmbeddedApiServer());
    await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });

    const cloud = createFakeOpenStack({ clock: systemClock, random: seededRandom(1) });
    const { addNode } = seedProject(cloud);
    cloud.compute.maxMicroversion = microversion;
    // nova leaves servers of a lost cell out of all pages but the first, and the oldest come last.
    cloud.compute.maxLimit = 2;
    const ids = new Map(
      ALL.map((name) => [name, addNode({ name, cell: LOST.includes(name) ? 'lost' : 'live' }).server.id]),
    );
    const idOf = (name: string): string => ids.get(name) ?? assert.fail(name);
    const { authUrl } = owned.use(await serveFakeOpenStack(cloud));
    await writeFile(
      cloudConfig,
      `[Global]\nauth-url=${authUrl}\nusername=k8s\npassword=k8s\ntenant-name=k8s\ndomain-id=default\nregion=RegionOne\n`,
    );

    const manager = owned.use(
      new Manager(
        [
          '--cloud-provider=openstack',
          `--cloud-config=${cloudConfig}`,
          `--kubeconfig=${kubeconfig}`,
          '--secure-port=0',
          '--leader-elect=false',
          '--node-deletion-grace-period=1s',
          // Not the breaker is to hold them.
          '--node-deletion-max-fraction=1',
          '--v=4',
        ],
        log,
        HASTE,
      ),
    );
    manager.start();
    const nodes = (): readonly Node[] => server.store.list({ plural: 'nodes' });
    const names = (): readonly string[] => nodes().map(({ metadata }) => metadata?.name ?? '');
    // In the order in which it was asked for; a request is there once it was answered.
    const deleted = (): readonly string[] => {
      const requests = server.requests.filter(({ method, path }) => method === 'DELETE' && path.includes('/nodes/'));
      return [...new Set(requests.map(({ path }) => path.slice('/api/v1/nodes/'.length)))];
    };
    const until = (what: string, holds: () => boolean): Promise<number> =>
      waitUntil(what, holds, { patienceMs: LIMIT_MS, pollMs: 10, logs: [log], mayCome: () => manager.running });

    const kubelets = await startHollowNodes({
      client: owned.use(await clientOf(kubeconfig)),
      count: ALL.length,
      node: (index) => ({ name: ALL[index] ?? assert.fail() }),
      heartbeats: false,
    });
    owned.use(kubelets);
    await until('all are initialised and Ready', () => nodes().every(isInitialised) && kubelets.ready === ALL.length);

    cloud.compute.loseCell('lost');
    cloud.compute.remove(idOf('live-0'));
    cloud.calls.reset();
    for (const node of nodes()) server.store.put(silent(node));

    const tries = (name: string): number =>
      cloud.calls.all().filter((call) => call.target.includes(idOf(name)) && call.status === status).length;
    await until('nova was asked about each of them, again and again', () => LOST.every((name) => tries(name) >= TRIES));
    await until('the node whose server is gone is gone', () => deleted().length > 0);
    assert.deepEqual(deleted(), ['live-0']);
    assert.deepEqual(names().toSorted(), ALL.filter((name) => name !== 'live-0').toSorted());

    cloud.compute.restoreCell('lost');
    cloud.compute.remove(idOf('lost-0'));
    await until('what the cell says when it is back counts', () => deleted().length > 1);
    assert.deepEqual(deleted(), ['live-0', 'lost-0']);
    assert.equal(await manager.end('SIGTERM'), 0);
    assert.deepEqual(deleted(), ['live-0', 'lost-0']);
  });
}

/** As the node lifecycle of kube-controller-manager leaves a node whose kubelet it does not hear. */
function silent(node: Node): Parameters<Awaited<ReturnType<typeof startEmbeddedApiServer>>['store']['put']>[0] {
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready'
      ? { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: new Date().toISOString() }
      : condition,
  );
  return { ...node, status: { ...node.status, conditions } };
}
