import { resources, type Node } from '@outrigger/kube';
import { freshCluster, joinNodes } from '../cluster-nodes.ts';
import { observeNodes } from '../node-observer.ts';
import type { Rig } from '../rig.ts';
import { apiUse, type Scenario } from '../scenario.ts';
import { floor, type Subject } from '../subjects.ts';

const NODES = 5_000;
const CLUSTER_CIDR = '10.0.0.0/8';

export const ipam: Scenario = {
  name: 'ipam',
  what: `${NODES} nodes get pod CIDRs, beside a bare client that does only the one write a node (--controllers=node-ipam-controller)`,
  upstream: false,
  run: async (rig, subject, record) => {
    const bare = await assignAll(rig, floor, ['pod-cidr']);
    const flags = ['--controllers=node-ipam-controller', '--allocate-node-cidrs', `--cluster-cidr=${CLUSTER_CIDR}`];
    const measured = await assignAll(rig, subject, flags);
    record(
      { what: 'floor: first write to the last pod CIDR', value: bare.seconds, unit: 's' },
      { what: 'first write to the last pod CIDR', value: measured.seconds, unit: 's' },
      { what: 'nodes a second, as a part of the floor', value: bare.seconds / measured.seconds, atLeast: 0.9 },
      { what: 'API writes a node', value: measured.writes / NODES, atMost: 1.01 },
      { what: 'pod CIDRs that two nodes have', value: measured.shared, atMost: 0 },
    );
  },
};

interface Assigned {
  readonly seconds: number;
  readonly writes: number;
  readonly shared: number;
}

async function assignAll(rig: Rig, subject: Subject, flags: readonly string[]): Promise<Assigned> {
  const { client, controlPlane, transport } = rig;
  await joinNodes(rig, await freshCluster(rig, NODES));
  const { resourceVersion } = await client.of(resources.nodes).list({ limit: 1 });
  const mark = await controlPlane.auditLog.mark();
  return rig.run(subject, flags, 600, async ({ signal }) => {
    const { firstWriteAt, lastDoneAt } = await observeNodes(transport, NODES, resourceVersion, signal, hasPodCidr);
    const { items } = await client.of(resources.nodes).list();
    const { writes } = await apiUse(rig, mark);
    const ranges = new Set(items.map(({ spec }) => spec?.podCIDR));
    return { seconds: (lastDoneAt - firstWriteAt) / 1000, writes, shared: items.length - ranges.size };
  });
}

function hasPodCidr({ spec }: Node): boolean {
  return spec?.podCIDR !== undefined;
}
