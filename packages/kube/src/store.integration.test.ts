/** Client and stores over real connections to the embedded API server; and the example of the README's second part, word for word. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  createClient,
  createTransport,
  loadConfig,
  noMetrics,
  resources,
  silentLogger,
  Stores,
  systemClock,
} from '@outrigger/kube';
import { startEmbeddedApiServer, type EmbeddedApiServer, type EmbeddedApiServerOptions } from '@outrigger/testing';

// example: begin
async function labelUninitializedNodes(kubeconfig: string, signal: AbortSignal): Promise<void> {
  await using transport = createTransport(await loadConfig({ kubeconfig }));
  const client = createClient(transport);
  const environment = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics };
  await using stores = new Stores(environment);

  const nodes = stores.open(resources.nodes, {
    indexers: { taint: (node) => node.spec?.taints?.map((taint) => taint.key) ?? [] },
  });
  await nodes.whenSynced(signal);

  for (const node of nodes.byIndex('taint', 'node.cloudprovider.kubernetes.io/uninitialized')) {
    const body = { metadata: { labels: { waiting: 'yes' } } };
    await client.of(resources.nodes).patch({ name: node.metadata?.name ?? '' }, { type: 'merge', body }, { signal });
  }
}
// example: end

/** A server, and a kubeconfig that leads to it. */
async function withServer(
  options: EmbeddedApiServerOptions,
  use: (server: EmbeddedApiServer, kubeconfig: string) => Promise<void>,
): Promise<void> {
  await using server = await startEmbeddedApiServer(options);
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-'));
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeconfig().yaml);
    await use(server, kubeconfig);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = systemClock.monotonic() + 60_000;
  while (!holds()) {
    assert.ok(systemClock.monotonic() < deadline, `not within 60 s: ${what}`);
    await systemClock.sleep(10);
  }
}

test('the example of the README runs, and stands in it as it is here', async () => {
  const here = await readFile(new URL(import.meta.url), 'utf8');
  const code = /\/\/ example: begin\n([\s\S]*?)\/\/ example: end/.exec(here)?.[1]?.trim();
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  assert.ok(code && readme.includes(code), 'README.md and this file differ');
  await withServer({}, async (server, kubeconfig) => {
    const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }];
    server.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: { taints } });
    server.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } });
    await labelUninitializedNodes(kubeconfig, new AbortController().signal);
    assert.deepEqual(server.store.get(resources.nodes, 'a')?.metadata.labels, { waiting: 'yes' });
    assert.equal(server.store.get(resources.nodes, 'b')?.metadata.labels, undefined);
  });
});

for (const [what, options, http2] of [
  ['HTTP/2', {}, true],
  ['HTTP/1.1', {}, false],
  ['a server without initial streams', { watchList: false }, true],
] as const) {
  test(`a store outlives restarts and lost history: ${what}`, async () => {
    await withServer(options, async (server, kubeconfig) => {
      const put = (name: string): void => void server.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
      for (let i = 0; i < 20; i++) put(`n${i}`);
      await using transport = createTransport(await loadConfig({ kubeconfig }), { http2 });
      const client = createClient(transport);
      await using stores = new Stores({
        client,
        clock: systemClock,
        logger: silentLogger,
        metrics: noMetrics,
        random: () => 0,
      });
      const store = stores.open(resources.nodes, { pageSize: 6 });
      await store.whenSynced();
      assert.equal(store.size, 20);
      const said: string[] = [];
      store.subscribe((change) => void said.push(`${change.type} ${change.key}`));
      said.length = 0;
      put('live');
      await until('a change arrives', () => store.get('live') !== undefined);
      const restarted = server.restart();
      server.store.delete(resources.nodes, 'n3');
      put('late');
      server.compact();
      await restarted;
      await until('the store has caught up', () => store.get('late') !== undefined && store.get('n3') === undefined);
      assert.deepEqual(said, ['add live', 'delete n3', 'add late']);
      // Lists come before the watch that follows them.
      await until('it watches again, once', () => server.watches === 1);
    });
  });
}
