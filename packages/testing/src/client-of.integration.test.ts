import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { startEmbeddedApiServer } from './api-server/embedded-api-server.ts';
import { clientOf } from './client-of.ts';

test('a client of a kubeconfig file reads its cluster until it is disposed of, and nothing after', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'client-of-'));
  t.after(() => rm(directory, { recursive: true }));
  await using server = await startEmbeddedApiServer();
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig().yaml);
  server.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } });

  const client = await clientOf(kubeconfig);
  const nodes = client.of(resources.nodes);
  assert.equal((await nodes.get({ name: 'worker-1' })).metadata?.name, 'worker-1');

  await client[Symbol.asyncDispose]();
  await assert.rejects(nodes.get({ name: 'worker-1' }), { name: 'TransportError' });
});
