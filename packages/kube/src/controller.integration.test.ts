/** The example of the README for controllers, so that it cannot rot: it must stand there word for word, and it must run. */
import { startEmbeddedApiServer } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  createClient,
  createEventRecorder,
  createTransport,
  createWorkQueue,
  fence,
  LeaderElector,
  loadConfig,
  noMetrics,
  resources,
  runController,
  silentLogger,
  Stores,
  systemClock,
  type CoreEvent,
  type KubeObject,
} from './index.ts';

// example: begin
async function greetNodes(kubeconfig: string, identity: string, signal: AbortSignal): Promise<void> {
  const environment = { clock: systemClock, logger: silentLogger, metrics: noMetrics, random: () => 0.5 };
  const config = await loadConfig({ kubeconfig });
  await using transport = createTransport(config);
  const leases = createClient(transport).of(resources.leases);
  const elector = new LeaderElector({ ...environment, leases, namespace: 'kube-system', name: 'greeter', identity });
  await using leadership = await elector.acquire(signal);

  // From here on nothing is sent that a leader may not send.
  await using fenced = createTransport(config, { layers: [fence(leadership)] });
  const client = createClient(fenced);
  await using events = createEventRecorder({ ...environment, client, component: 'greeter', host: identity });
  await using stores = new Stores({ ...environment, client });
  const nodes = stores.open(resources.nodes);
  const queue = createWorkQueue<string>({ ...environment, name: 'greeter' });
  nodes.subscribe((change) => queue.add(change.key));

  const reconcile = async (key: string): Promise<void> => {
    const node = nodes.get(key);
    if (!node || node.metadata?.labels?.['greeted']) return;
    await client
      .of(resources.nodes)
      .patch({ name: key }, { type: 'merge', body: { metadata: { labels: { greeted: 'yes' } } } });
    events.record(node, { type: 'Normal', reason: 'Greeted', message: `Hello ${key}` });
  };
  const stop = AbortSignal.any([signal, leadership.signal]);
  await runController({ ...environment, name: 'greeter', queue, reconciler: { reconcile }, workers: 4, signal: stop });
}
// example: end

test('the example of the README for controllers runs, and stands in it as it is here', async () => {
  const here = await readFile(new URL(import.meta.url), 'utf8');
  const code = /\/\/ example: begin\n([\s\S]*?)\/\/ example: end/.exec(here)?.[1]?.trim();
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  assert.ok(code && readme.includes(code), 'README.md and this file differ');

  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } };
  await using server = await startEmbeddedApiServer({ seed: [node] });
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-'));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeconfig().yaml);
    const stop = new AbortController();
    const running = greetNodes(kubeconfig, 'me', stop.signal);
    const end = systemClock.monotonic() + 60_000;
    const eventsOf = (): readonly (KubeObject & Pick<CoreEvent, 'message'>)[] =>
      server.store.list(resources.coreEvents);
    while (eventsOf().length === 0 && systemClock.monotonic() < end) await systemClock.sleep(10);
    stop.abort(new DOMException('enough', 'AbortError'));
    await running;
    assert.equal(server.store.get(resources.nodes, 'n1')?.metadata.labels?.['greeted'], 'yes');
    assert.equal(eventsOf()[0]?.message, 'Hello n1');
    const lease = server.store.get(resources.leases, 'greeter', 'kube-system') as {
      spec?: { holderIdentity?: string };
    };
    assert.equal(lease.spec?.holderIdentity, '', 'the lease is given back');
  } finally {
    await rm(directory, { recursive: true });
  }
});
