import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@outrigger/kube';
import { listLiveNodes, readLiveNodes } from './live-nodes.ts';
import type { DeleteRoute } from './planned-route.ts';

const { signal } = new AbortController();

/** As an API server gives it in JSON, of a kubelet that writes what it likes. */
const whole: Node = {
  metadata: { name: 'n1', uid: 'u1', managedFields: [{ manager: 'kubelet' }] },
  spec: { podCIDR: '10.0.0.0/24' },
  status: {
    addresses: Array.from({ length: 5_000 }, (_, i) => ({ type: 'InternalIP', address: `10.1.${i >> 8}.${i & 255}` })),
    images: [{ names: ['x'.repeat(1_000)] }],
  },
};
const client = {
  get: async () => whole as never,
  pages: async function* () {
    yield { items: [whole] } as never;
  },
};

test('of the nodes that are listed or read now no more is kept than of those of the store', async () => {
  const gone = { reason: 'node-gone', route: { targetNodeName: 'n1' } } as unknown as DeleteRoute;
  for (const found of [
    await listLiveNodes(client, signal),
    await readLiveNodes([gone], { client, nodes: [], signal }),
  ]) {
    const [{ metadata, spec, status } = {}] = found;
    assert.deepEqual([metadata, spec], [{ name: 'n1', uid: 'u1' }, whole.spec]);
    assert.deepEqual(status, { addresses: whole.status?.addresses?.slice(0, 1_000) });
  }
});
