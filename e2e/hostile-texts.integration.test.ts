/**
 * Whoever may write a Service, and a kubelet, may write 240 KB into an annotation. The shipped program beside OpenStack refuses such
 * objects with an Event, and honest ones beside them get what they ask for; it keeps its Lease, and its log has nothing of the text.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources, systemClock, type CoreEvent, type Lease, type Node, type Service } from '@outrigger/kube';
import { clientOf, freePort, startEmbeddedApiServer, startHollowNodes } from '@outrigger/testing';
import { page } from '../packages/cloud-controller-manager/src/program/program-bench.suite.ts';
import { createFakeOpenStack } from '../providers/openstack/fake/fake-openstack.ts';
import { seedProject } from '../providers/openstack/fake/seed-project.ts';
import { serveFakeOpenStack } from '../providers/openstack/fake/serve-fake-openstack.ts';
import { holdsIn } from './held-loop.ts';
import { isInitialised } from './initialised-node.ts';
import { Manager } from './manager.ts';
import { seededRandom } from './seeded-random.ts';
import { waitUntil } from './wait-until.ts';

const LIMIT_MS = 300_000;
/** A text held the event loop for a minute: this is less, and more than a busy machine does. */
const ELECTION = ['--leader-elect-lease-duration=45s', '--leader-elect-renew-deadline=40s'];
const PREFIX = 'loadbalancer.openstack.org/';
const PROVIDED_IP = 'alpha.kubernetes.io/provided-node-ip';
/** Each held the event loop for a minute, or exhausted the memory. */
const TOKENS = '-eyJ'.repeat(60_000);
const PATTERN = `{${'*,'.repeat(119_999)}}`;
const HOSTILE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'hostile-pattern': { [`${PREFIX}floating-subnet`]: PATTERN },
  'hostile-id': { [`${PREFIX}floating-network-id`]: TOKENS },
  'hostile-name': { [`${PREFIX}class`]: TOKENS },
};

test('honest objects beside hostile ones get what they ask for', async () => {
  await using owned = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-hostile-texts-'));
  owned.defer(() => rm(directory, { recursive: true }));
  const fileOf = (name: string): string => join(directory, name);
  const [kubeconfig, cloudConfig, log] = [fileOf('kubeconfig'), fileOf('cloud.conf'), fileOf('log')];
  const server = owned.use(await startEmbeddedApiServer());
  await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });

  const cloud = createFakeOpenStack({ clock: systemClock, random: seededRandom(1) });
  const { addNode } = seedProject(cloud);
  for (const name of ['hostile', 'honest-1', 'honest-2']) addNode({ name });
  const { authUrl } = owned.use(await serveFakeOpenStack(cloud));
  const account = 'username=k8s\npassword=k8s\ntenant-name=k8s\ndomain-id=default\nregion=RegionOne';
  await writeFile(cloudConfig, `[Global]\nauth-url=${authUrl}\n${account}\n`);

  const client = owned.use(await clientOf(kubeconfig));
  const register = async (name: string): Promise<void> => {
    owned.use(await startHollowNodes({ client, count: 1, node: () => ({ name }), heartbeats: false }));
  };
  const serve = async (name: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> => {
    await client.of(resources.services).create({
      metadata: { name, namespace: 'default', annotations: { ...annotations } },
      spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }] },
    });
  };
  await client.of(resources.nodes).create({
    metadata: { name: 'hostile', annotations: { [PROVIDED_IP]: TOKENS } },
    spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }] },
  });
  for (const [name, annotations] of Object.entries(HOSTILE)) await serve(name, annotations);
  await register('honest-1');
  await serve('honest-1');

  const options = ['--cloud-provider=openstack', `--cloud-config=${cloudConfig}`, `--kubeconfig=${kubeconfig}`];
  const port = await freePort();
  const served = ['--bind-address=127.0.0.1', `--secure-port=${port}`, '--insecure-loopback'];
  const manager = owned.use(new Manager([...options, ...ELECTION, ...served, '--v=4'], log));
  manager.start();

  const listed = <T>(plural: string, group = ''): readonly T[] =>
    server.store.list({ group, plural }) as readonly unknown[] as readonly T[];
  const isReady = (name: string): boolean => {
    const node = listed<Node>('nodes').find(({ metadata }) => metadata?.name === name);
    return node !== undefined && isInitialised(node);
  };
  const isServed = (name: string): boolean =>
    (listed<Service>('services').find(({ metadata }) => metadata?.name === name)?.status?.loadBalancer?.ingress ?? [])
      .length > 0;
  const messagesOf = (name: string, reason: string): readonly string[] =>
    listed<CoreEvent>('events')
      .filter((event) => event.involvedObject.name === name && event.reason === reason)
      .map(({ message = '' }) => message);
  const until = (what: string, holds: () => boolean): Promise<number> =>
    waitUntil(what, holds, { patienceMs: LIMIT_MS, pollMs: 10, logs: [log], mayCome: () => manager.running });

  await until('the honest ones are served', () => isReady('honest-1') && isServed('honest-1'));
  const hostile = Object.keys(HOSTILE);
  await until('who wrote the others is told', () =>
    hostile.every((name) => messagesOf(name, 'SyncLoadBalancerFailed').length > 0),
  );
  await until('so is who runs the node', () => messagesOf('hostile', 'ProvidedNodeIPNotFound').length > 0);
  for (const [name, annotations] of Object.entries(HOSTILE)) {
    const [annotation = ''] = Object.keys(annotations);
    assert.deepEqual(messagesOf(name, 'SyncLoadBalancerFailed'), [
      `Error syncing load balancer: annotation ${annotation} is too long: shorten it to at most 255 characters (invalid)`,
    ]);
    assert.ok(!isServed(name));
  }
  const [told = ''] = messagesOf('hostile', 'ProvidedNodeIPNotFound');
  assert.match(told, new RegExp(`the annotation ${PROVIDED_IP} has more than 255 characters`));
  assert.ok(!isReady('hostile'));

  // And while the hostile ones are written anew.
  for (const name of hostile) {
    await client
      .of(resources.services)
      .patch({ name, namespace: 'default' }, { type: 'merge', body: { metadata: { labels: { written: 'again' } } } });
  }
  await register('honest-2');
  await serve('honest-2');
  await until('the next honest ones too', () => isReady('honest-2') && isServed('honest-2'));

  const leases = listed<Lease>('leases', 'coordination.k8s.io').filter(
    ({ metadata }) => metadata?.name === 'cloud-controller-manager',
  );
  assert.deepEqual(
    leases.map(({ spec }) => spec?.leaseTransitions ?? 0),
    [0],
  );
  const metrics = await page(`https://127.0.0.1:${port}/metrics`);
  assert.match(metrics, /^process_resident_memory_bytes \d/mu);
  // What is laid to nobody may be the machine's: `holdsIn` tells.
  assert.doesNotMatch(metrics, /^outrigger_event_loop_held_total\{controller="[^"]/mu);
  assert.equal(await manager.end('SIGTERM'), 0);
  const lines = await readFile(log, 'utf8');
  assert.deepEqual(holdsIn(lines), []);
  assert.ok(!lines.includes('-eyJ-eyJ') && !lines.includes('*,*,*'));
});
