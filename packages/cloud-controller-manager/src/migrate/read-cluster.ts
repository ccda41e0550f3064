/** Reads a cluster that is to be migrated. What cannot be read is said to be unknown; nothing here can write. */
import type { PreviewedService } from '@outrigger/controllers';
import type { Client, Clock, KubeObject, ListOptions, Node, Resource, ResourceClient, Service } from '@outrigger/kube';
import { isNotFound, isStatusError, isTransportError, resources } from '@outrigger/kube';
import type { ObservedCluster, ObservedKubelet, Readable, Reading } from './observed-cluster.ts';
import { seenPrograms, type ProgramFlags } from './seen-program.ts';

/** The part of a client that this needs. */
interface ReadingClient {
  of<T extends KubeObject>(resource: Resource<T>): Pick<ResourceClient<T>, 'pages'>;
  raw: Client['raw'];
}

export interface ReadClusterOptions {
  readonly client: ReadingClient;
  readonly clock: Clock;
  /** Milliseconds for each request. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The rest is not asked for, and not known. `kubelets` are those of `nodes`. */
  readonly reads: ReadonlySet<Readable>;
  /** Asks the cloud. Default: there is none to ask. */
  readonly preview?:
    | ((seen: {
        readonly services: readonly Service[];
        readonly nodes: readonly Node[];
      }) => Promise<readonly PreviewedService[]>)
    | undefined;
}

const SYSTEM = 'kube-system';
const FLAGZ = 'application/json;as=Flagz;v=v1beta1;g=config.k8s.io';
/** Kubelets that are asked at a time: each holds a connection of the API server. */
const KUBELETS_AT_ONCE = 16;

/** Never rejects: what fails is a reading that is not known. */
export async function readCluster(options: ReadClusterOptions): Promise<ObservedCluster> {
  const { clock, reads } = options;
  const asked = <T>(what: Readable, read: () => Promise<Reading<T>>): Promise<Reading<T>> =>
    reads.has(what) ? read() : Promise.resolve({ known: false, why: 'it was not asked for' });
  const list = <T extends KubeObject>(
    what: Readable,
    resource: Resource<T>,
    where?: Pick<ListOptions, 'namespace'>,
  ): Promise<Reading<readonly T[]>> => asked(what, () => readList(options, resource, where));
  const [nodes, leases, pods, apiServerFlags, csiNodes, volumes, services] = await Promise.all([
    list('nodes', resources.nodes),
    list('leases', resources.leases, { namespace: SYSTEM }),
    list('programs', resources.pods, { namespace: SYSTEM }),
    asked('apiServerFlags', () => readFlags(options, '/flagz')),
    list('csiNodes', resources.csiNodes),
    list('volumes', resources.persistentVolumes),
    list('services', resources.services),
  ]);
  const kubelets = await readKubelets(options, nodes.known && reads.has('kubelets') ? nodes.value : []);
  const plans = await asked('plans', () => readPlans(options, services, nodes));
  const programs = pods.known ? ({ known: true, value: seenPrograms(pods.value) } as const) : pods;
  return { now: clock.now(), nodes, kubelets, leases, programs, apiServerFlags, csiNodes, volumes, services, plans };
}

/** A plan from half of the cluster would be of another cluster. */
async function readPlans(
  { preview }: ReadClusterOptions,
  services: Reading<readonly Service[]>,
  nodes: Reading<readonly Node[]>,
): Promise<Reading<readonly PreviewedService[]>> {
  if (!services.known) return { known: false, why: `Services could not be listed: ${services.why}` };
  if (!nodes.known) return { known: false, why: `nodes could not be listed: ${nodes.why}` };
  if (!preview) return { known: false, why: 'no cloud config is given' };
  return reading(() => preview({ nodes: nodes.value, services: services.value }));
}

async function readKubelets(
  options: ReadClusterOptions,
  nodes: readonly Node[],
): Promise<ReadonlyMap<string, ObservedKubelet>> {
  const kubelets = new Map<string, ObservedKubelet>();
  const waiting = nodes.values();
  const work = async (): Promise<void> => {
    for (const { metadata } of waiting) {
      const name = metadata?.name ?? '';
      const path = `/api/v1/nodes/${encodeURIComponent(name)}/proxy`;
      const [flags, providerID] = await Promise.all([
        readFlags(options, `${path}/flagz`),
        reading(async () => providerIDOf(await options.client.raw(`${path}/configz`, callOf(options)))),
      ]);
      kubelets.set(name, { flags, providerID });
    }
  };
  await Promise.all(Array.from({ length: KUBELETS_AT_ONCE }, work));
  return kubelets;
}

function readList<T extends KubeObject>(
  options: ReadClusterOptions,
  resource: Resource<T>,
  where: Pick<ListOptions, 'namespace'> = {},
): Promise<Reading<readonly T[]>> {
  return reading(async () => {
    const items: T[] = [];
    for await (const page of options.client.of(resource).pages({ ...where, ...callOf(options) }))
      items.push(...page.items);
    return items;
  });
}

function readFlags(options: ReadClusterOptions, path: string): Promise<Reading<ProgramFlags>> {
  return reading(async () => {
    const answer = await options.client.raw(path, { ...callOf(options), accept: FLAGZ });
    const { flags } = (answer ?? {}) as { readonly flags?: unknown };
    if (typeof flags !== 'object' || flags === null) throw new Error(`${path} does not answer with flags`);
    return new Map(Object.entries(flags).map(([name, value]) => [name, String(value)]));
  });
}

function providerIDOf(answer: unknown): string {
  const { kubeletconfig } = (answer ?? {}) as { readonly kubeletconfig?: { readonly providerID?: unknown } };
  if (typeof kubeletconfig !== 'object') throw new Error('configz does not answer with a configuration');
  return typeof kubeletconfig.providerID === 'string' ? kubeletconfig.providerID : '';
}

function callOf({ signal, timeoutMs }: ReadClusterOptions): {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
} {
  return { timeoutMs, signal };
}

async function reading<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { known: true, value: await read() };
  } catch (error) {
    return { known: false, why: whyNot(error) };
  }
}

/** In a few words: the whole message of a 403 is as long as a paragraph. */
function whyNot(error: unknown): string {
  if (isNotFound(error)) return 'the server does not have it (404)';
  if (isStatusError(error)) return `${error.reason} (${error.code})`;
  if (isTransportError(error)) return error.code;
  return error instanceof Error ? error.message : String(error);
}
