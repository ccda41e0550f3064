import { providerSuite } from '../../../../packages/cloud-runtime/src/provider.suite.ts';
import type { FaultEffect } from '../../fake/fault-rules.ts';
import { nodeOf, openFakeCluster } from './fake-cluster.suite.ts';

/** The suite looks at whether the ID of a server with a one-letter name ends with it. */
function idOf(name: string): string {
  const hex = name.length === 1 ? name : Buffer.from(name).toString('hex');
  return `00000000-0000-4000-8000-${hex.padStart(12, '0')}`;
}

/** What the suite's failures are: of the services themselves, and of what stands between us and them. */
const subjects: readonly (readonly [name: string, status: (status: number) => FaultEffect, empty: FaultEffect])[] = [
  ['openstack', (status) => ({ effect: 'status', status }), { effect: 'empty' }],
  ['openstack behind a proxy', (status) => ({ effect: 'proxy', status }), { effect: 'cut' }],
];

for (const [subject, status, empty] of subjects) {
  providerSuite(subject, async () => {
    const cluster = await openFakeCluster();
    const { clock, cloud, opened, seeded } = cluster;
    return {
      opened,
      // Servers, and their ports.
      requestsOfBatch: 2,
      createInstance: async (name) => {
        seeded.addNode({ name, id: idOf(name) });
        return nodeOf(name);
      },
      deleteInstance: async (name) => void cloud.compute.remove(idOf(name)),
      stopInstance: async (name) => void cloud.compute.update(idOf(name), { status: 'SHUTOFF' }),
      fail: async (how) => {
        if (how === 0) cloud.faults.set();
        else cloud.faults.set(how === 'empty' ? empty : status(how));
      },
      pass: (ms) => clock.advance(ms),
      requests: async () => cloud.calls.all().length,
      [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
    };
  });
}
