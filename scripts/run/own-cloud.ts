/** The cloud of an author, asked before anything is started: are the machines there, what can it do, and at the end, what is left in it? */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Route } from '@outrigger/cloud-provider';
import { loadProvider, openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { CLOUD_LABELS, type CloudLabel } from './node-story.ts';

export interface OwnCloudOptions {
  /** As `--cloud-provider`: a path from the working directory, or a provider that ships. */
  readonly provider: string;
  /** As `--cloud-config`; empty for none. */
  readonly config: string;
  readonly workingDirectory: string;
  /** Names of nodes, as their machines have them in the cloud. */
  readonly nodes: readonly string[];
  /** UID of the namespace kube-system, as the program will know it. */
  readonly clusterId: string;
  readonly signal: AbortSignal;
}

interface OwnMachine {
  /** The first InternalIP, or else the first address. */
  readonly address: string;
  /** Which of type, zone and region the cloud says of it: no cloud has to say any. */
  readonly labels: readonly CloudLabel[];
}

export interface OwnCloud extends AsyncDisposable {
  readonly name: string;
  /** By node. */
  readonly machines: ReadonlyMap<string, OwnMachine>;
  readonly hasLoadBalancers: boolean;
  readonly hasRoutes: boolean;
  /**
   * Deletes the routes of this cluster that are still there, and returns what is left of them. The program does not do it: that all nodes
   * of a cluster go at once is what it holds routes for.
   */
  removeRoutes(): Promise<readonly string[]>;
}

/** `node-1, node-2`: each once. */
export function namesIn(list: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** Rejects with one line that says what to do: no such module, a wrong config, a machine that the cloud does not know. */
export async function openOwnCloud(options: OwnCloudOptions): Promise<OwnCloud> {
  const { clusterId, config, nodes, provider: spec, signal, workingDirectory } = options;
  if (nodes.length === 0) {
    throw new Error(
      'NODES is not set: name machines of your cloud, as their nodes would be called: NODES=node-1,node-2',
    );
  }
  const provider = await loadProvider(spec, {
    builtIn: {
      aws: () => import('@outrigger/provider-aws'),
      memory: () => import('@outrigger/provider-memory'),
      openstack: () => import('@outrigger/provider-openstack'),
      vsphere: () => import('@outrigger/provider-vsphere'),
    },
    workingDirectory,
  });
  const file = config === '' ? undefined : path.resolve(workingDirectory, config);
  const text = file === undefined ? undefined : await readFile(file, 'utf8');
  await using opening = new AsyncDisposableStack();
  const opened = opening.use(
    await openProvider(provider, {
      cluster: { id: clusterId, name: 'make-run' },
      clock: systemClock,
      logger: silentLogger,
      random: Math.random,
      signal,
      ...(file !== undefined && text !== undefined && { config: { fileName: file, text } }),
    }),
  );
  const machines = await machinesOf(opened, nodes, signal);
  const owned = opening.move();
  const { loadBalancers, routes } = opened.capabilities;
  return {
    name: opened.name,
    machines,
    hasLoadBalancers: loadBalancers !== undefined,
    hasRoutes: routes !== undefined,
    removeRoutes: async () => {
      if (!routes) return [];
      const call = opened.callContext({ signal, priority: 'normal' });
      const own = async (): Promise<readonly Route[]> =>
        (await routes.list(call)).routes.filter(({ ownership }) => ownership === 'owned');
      const left = await own();
      if (left.length > 0) await routes.delete(left, call);
      return (await own()).map(({ destination }) => destination);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function machinesOf(
  opened: OpenedProvider,
  nodes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, OwnMachine>> {
  const { name } = opened;
  const { instances } = opened.capabilities;
  if (!instances) throw new Error(`the provider ${name} has no instances: no node can be initialized`);
  const refs = nodes.map((node) => ({ name: node, uid: node, labels: {}, annotations: {} }));
  const answers = await instances.lookUp(
    refs,
    'metadata',
    opened.callContext({ signal, priority: 'normal', reads: true }),
  );
  return new Map(
    nodes.map((node, index) => {
      const result = answers[index]?.result;
      if (result?.kind === 'failed') throw result.error;
      if (result?.kind !== 'found')
        throw new Error(`${name} knows no machine of the name ${node}: name others in NODES`);
      const { addresses = [] } = result.instance;
      const address = (addresses.find(({ type }) => type === 'InternalIP') ?? addresses[0])?.address;
      if (address === undefined) throw new Error(`the machine ${node} has no address`);
      return [node, { address, labels: CLOUD_LABELS.filter((word) => result.instance[word] !== undefined) }];
    }),
  );
}
