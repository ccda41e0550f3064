/** What is promised of Nodes that a kubelet has registered with `--cloud-provider=external`. */
import type { Node } from '@outrigger/kube';
import { hasTaint, OWN_TAINT, UNINITIALIZED_TAINT } from './cluster-rig.ts';
import type { ClusterTest } from './cluster-test.ts';
import { shown } from './patience.ts';
import { RUN_LABEL } from './own-objects.ts';
import { BrokenPromise, NotVerifiable } from './verdict.ts';

const WELL_KNOWN = 'https://kubernetes.io/docs/reference/labels-annotations-taints/';
const RUNNING = 'https://kubernetes.io/docs/tasks/administer-cluster/running-cloud-controller/';
const NODE_CONTROLLER = 'https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller';

const TOLD_BY_LABELS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
] as const;

export const nodeTests: readonly ClusterTest[] = [
  {
    name: 'nodes / the uninitialized taint is removed',
    feature: 'nodes',
    source: `${WELL_KNOWN}#node-cloudprovider-kubernetes-io-uninitialized`,
    machine: 'node',
    run: async (rig) => void (await rig.initialisedNode()),
  },
  {
    name: 'nodes / the provider ID is set',
    feature: 'nodes',
    source: NODE_CONTROLLER,
    machine: 'node',
    run: async (rig) => {
      const { name, machine } = await rig.initialisedNode();
      const wanted = machine?.providerID;
      const what = wanted === undefined ? 'of the form <cloud>://<id>' : wanted;
      await rig.patience.until(
        `spec.providerID of node ${name} is ${what}`,
        () => rig.node(name),
        ({ spec }) => {
          const found = spec?.providerID ?? '';
          return wanted === undefined ? /^[^:/]+:\/\/\S+$/u.test(found) : found === wanted;
        },
      );
    },
  },
  {
    name: 'nodes / the taint stays until the provider ID is set',
    feature: 'nodes',
    source: `${RUNNING}#running-cloud-controller-manager`,
    machine: 'node',
    run: async (rig) => {
      const { history, machine, name } = await rig.initialisedNode();
      if (!machine) throw new NotVerifiable('the node had been initialized before the run began: give --fixture');
      const free = (): boolean => history.states.some((node) => !hasTaint(node, UNINITIALIZED_TAINT));
      await rig.patience.until(
        `the watch of node ${name} tells that its taint is gone`,
        () => Promise.resolve(free()),
        Boolean,
      );
      const early = history.states.find((node) => !hasTaint(node, UNINITIALIZED_TAINT) && !node.spec?.providerID);
      if (early)
        throw new BrokenPromise(`node ${name} was free for pods while it had no provider ID`, shown(early.spec));
    },
  },
  {
    name: 'nodes / the addresses are those of the machine',
    feature: 'nodes',
    source: 'https://kubernetes.io/docs/reference/node/node-status/#addresses',
    machine: 'node',
    run: async (rig) => {
      const { name, machine } = await rig.initialisedNode();
      const wanted = (machine?.addresses ?? []).map(addressText);
      const what =
        wanted.length > 0 ? `node ${name} has the addresses ${wanted.join(', ')}` : `node ${name} has an IP address`;
      const found = (node: Node): readonly string[] => (node.status?.addresses ?? []).map(addressText);
      await rig.patience.until(
        what,
        async () => found(await rig.node(name)),
        (there) =>
          wanted.length > 0
            ? wanted.every((one) => there.includes(one))
            : there.some((one) => /^(?:Internal|External)IP /u.test(one)),
      );
    },
  },
  {
    name: 'nodes / labels tell zone, region and instance type',
    feature: 'nodes',
    source: `${WELL_KNOWN}#topologykubernetesiozone`,
    machine: 'node',
    run: async (rig) => {
      const { name, machine } = await rig.initialisedNode();
      if (machine?.labels) {
        const wanted = Object.entries(machine.labels);
        const what = `node ${name} has the labels ${wanted.map((pair) => pair.join('=')).join(', ')}`;
        const look = async (): Promise<Readonly<Record<string, string>>> =>
          (await rig.node(name)).metadata?.labels ?? {};
        await rig.patience.until(what, look, (labels) => wanted.every(([key, value]) => labels[key] === value));
        return;
      }
      const { metadata } = await rig.node(name);
      const lacking = TOLD_BY_LABELS.filter((label) => !metadata?.labels?.[label]);
      if (lacking.length > 0)
        throw new NotVerifiable(
          `node ${name} has no label ${lacking.join(', ')}, and it is not stated whether its cloud knows that`,
        );
    },
  },
  {
    name: 'nodes / taints and labels of others are kept',
    feature: 'nodes',
    source: `${WELL_KNOWN}#node-cloudprovider-kubernetes-io-uninitialized`,
    machine: 'own',
    run: async (rig) => {
      const { name } = await rig.initialisedNode();
      const node = await rig.node(name);
      if (!node.metadata?.labels?.[RUN_LABEL])
        throw new BrokenPromise(`node ${name} has lost the label ${RUN_LABEL}`, shown(node.metadata?.labels));
      if (rig.fixture?.nodesFrom !== 'kubelet' && !hasTaint(node, OWN_TAINT))
        throw new BrokenPromise(`node ${name} has lost the taint ${OWN_TAINT}`, shown(node.spec?.taints));
    },
  },
  {
    name: 'nodes / an initialised node is left as it is',
    feature: 'nodes',
    source: NODE_CONTROLLER,
    machine: 'node',
    run: async (rig) => {
      const { history, name } = await rig.initialisedNode();
      // What several passes of the manager set one after the other may come yet.
      let last = '';
      const look = (): Promise<string> => Promise.resolve(managed(history.states.at(-1)));
      await rig.patience.until(`node ${name} is left alone`, look, (now) => {
        const same = now === last;
        last = now;
        return same && now.includes('providerID');
      });
      const from = history.states.length;
      await rig.patience.stays(() => {
        const changed = history.states.slice(from).find((node) => managed(node) !== last);
        if (changed) throw changedAgain(name, last, managed(changed));
        return Promise.resolve(undefined);
      });
    },
  },
];

function addressText({ type, address }: { readonly type: string; readonly address: string }): string {
  return `${type} ${address}`;
}

/** All that a cloud-controller-manager writes of a Node which nothing has happened to. Conditions are others' as well. */
function managed(node: Node | undefined): string {
  const { metadata, spec, status } = node ?? {};
  const labels = Object.entries(metadata?.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const taints = (spec?.taints ?? []).filter(({ key }) => !key.startsWith('node.kubernetes.io/'));
  return JSON.stringify({ providerID: spec?.providerID, taints, labels, addresses: status?.addresses });
}

function changedAgain(name: string, before: string, after: string): BrokenPromise {
  const was = JSON.parse(before) as Readonly<Record<string, unknown>>;
  const is = JSON.parse(after) as Readonly<Record<string, unknown>>;
  const parts = Object.keys(is).filter((part) => JSON.stringify(was[part]) !== JSON.stringify(is[part]));
  const details = parts.map((part) => `${part}: ${JSON.stringify(was[part])}\nbecame ${JSON.stringify(is[part])}`);
  return new BrokenPromise(`node ${name} was changed again: ${parts.join(', ')}`, details.join('\n'));
}
