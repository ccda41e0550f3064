/** What is promised of routes to the pods of Nodes, where the cloud makes them. */
import { resources, type Node } from '@outrigger/kube';
import type { ClusterMachine } from './cluster-fixture.ts';
import type { ClusterRig, JudgedNode } from './cluster-rig.ts';
import type { ClusterTest } from './cluster-test.ts';
import { NotVerifiable } from './verdict.ts';

const ROUTE_CONTROLLER = 'https://kubernetes.io/docs/concepts/architecture/cloud-controller/#route-controller';

export const routeTests: readonly ClusterTest[] = [
  {
    name: 'routes / the network of a node is told to be available',
    feature: 'routes',
    source: 'https://kubernetes.io/docs/reference/node/node-status/#condition',
    machine: 'node',
    run: async (rig) => {
      const { name } = await withPodRange(rig, await rig.initialisedNode());
      const what = `node ${name} has the condition NetworkUnavailable with status False`;
      await rig.patience.until(
        what,
        () => rig.node(name),
        ({ status }) =>
          (status?.conditions ?? []).some((one) => one.type === 'NetworkUnavailable' && one.status === 'False'),
      );
    },
  },
  {
    name: 'routes / a route leads to the pods of a node',
    feature: 'routes',
    source: ROUTE_CONTROLLER,
    machine: 'own',
    hooks: ['routes'],
    run: async (rig) => {
      const judged = await withPodRange(rig, await rig.initialisedNode());
      if (judged.machine) await untilRouted(rig, judged.machine, judged.podCIDRs);
    },
  },
  {
    name: 'routes / the routes of a Node go with it',
    feature: 'routes',
    source: ROUTE_CONTROLLER,
    machine: 'own',
    hooks: ['routes'],
    disruptive: true,
    run: async (rig) => {
      const { name, machine, podCIDRs } = await withPodRange(rig, await rig.newInitialisedNode());
      if (!machine) return;
      await untilRouted(rig, machine, podCIDRs);
      await rig.client.of(resources.nodes).delete({ name }, { signal: rig.patience.signal });
      await rig.patience.until(
        `no route leads to ${podCIDRs.join(', ')}`,
        () => routesTo(rig, machine),
        (there) => podCIDRs.every((range) => !there.includes(range)),
      );
    },
  },
];

async function withPodRange(
  rig: ClusterRig,
  judged: JudgedNode,
): Promise<JudgedNode & { readonly podCIDRs: readonly string[] }> {
  const { name } = judged;
  const rangesOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? [];
  const look = async (): Promise<readonly string[]> => rangesOf(await rig.node(name));
  const podCIDRs = await rig.patience
    .until('', look, (ranges) => ranges.length > 0)
    .catch((error: unknown) => {
      rig.patience.signal.throwIfAborted();
      throw new NotVerifiable(`node ${name} got no spec.podCIDRs, and the fixture gave it none`, { cause: error });
    });
  return { ...judged, podCIDRs };
}

async function routesTo(rig: ClusterRig, machine: ClusterMachine): Promise<readonly string[]> {
  return (await rig.fixture?.routes?.(machine, rig.patience.signal)) ?? [];
}

async function untilRouted(rig: ClusterRig, machine: ClusterMachine, ranges: readonly string[]): Promise<void> {
  await rig.patience.until(
    `routes lead to ${ranges.join(', ')}`,
    () => routesTo(rig, machine),
    (there) => ranges.every((range) => there.includes(range)),
  );
}
