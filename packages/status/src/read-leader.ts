/**
 * Pages of the leader. It is asked directly, as the user who asks, and through the proxy of the API server at the same time: the first
 * works wherever its address is reached and its certificate is trusted; the second from everywhere, but as nobody, so that only what the
 * manager tells everybody can be read.
 */
import { hostOf, messageOf, readPage, urlOf } from '@outrigger/cloud-controller-manager';
import {
  createTransport,
  isTransportError,
  withDeadline,
  type CallOptions,
  type Clock,
  type ClusterConfig,
  type Node,
  type Pod,
  type Transport,
  type TransportRequest,
} from '@outrigger/kube';
import type { ClusterFacts, Fact, LeaderPage } from './cluster-facts.ts';
import { UNINITIALIZED_TAINT } from './judge-cluster.ts';
import { whyUnknown, type ReadCluster } from './read-cluster.ts';

const DEFAULT_PORT = 10_258;
/** Who can be reached answers in milliseconds; a packet that is dropped on its way would take the whole time that was given… */
const REACH_MS = 5_000;
/** …of which it gets a part at most: what the cluster says has to be told without the leader too. */
const REACH_SHARE = 1 / 3;
/** Waiting objects of which the leader is asked why. */
const MOST_ASKED = 20;

export interface LeaderAccess {
  /** `https://host:port`. Default: found by its Lease. */
  readonly url?: string;
  /** `--secure-port` of the managers. Default: 10258. */
  readonly port?: number;
  /** The user's credentials, and whom to trust, for a manager at this URL. Default: it is not asked directly. */
  readonly configOf?: (url: string) => ClusterConfig | Promise<ClusterConfig>;
}

export interface ReadLeaderOptions {
  readonly access: LeaderAccess;
  readonly call: CallOptions;
  readonly clock: Clock;
  readonly cluster: ReadCluster;
  /** Of the Lease. */
  readonly namespace: string;
  /** To the API server. */
  readonly transport: Transport;
}

export type LeaderFacts = Pick<ClusterFacts, 'metrics' | 'plans' | 'readyz'>;

/** One way to the leader. */
interface Way {
  readonly name: string;
  readonly get: (path: string, signal: AbortSignal) => Promise<LeaderPage>;
  /** What to do about a page that is refused; '' where nothing is known. */
  readonly remedy: (page: LeaderPage) => string;
}

/** Never throws. */
export async function readLeader(options: ReadLeaderOptions): Promise<LeaderFacts> {
  await using owned = new AsyncDisposableStack();
  const ways = await waysTo(options, owned);
  if (typeof ways === 'string') return { readyz: { unknown: ways }, metrics: { unknown: ways }, plans: new Map() };
  const [readyz, metrics, plans] = await Promise.all([
    askHealth(ways, options),
    ask(ways, '/metrics', options),
    readPlans(ways, options),
  ]);
  return { readyz, metrics, plans };
}

/** Or why there is none. */
async function waysTo(
  { access, call, clock, cluster, namespace, transport }: ReadLeaderOptions,
  owned: AsyncDisposableStack,
): Promise<readonly Way[] | string> {
  const { configOf, port = DEFAULT_PORT } = access;
  const leader = leaderIn(cluster);
  if (typeof leader === 'string' && access.url === undefined) return leader;
  const { address, pod } = typeof leader === 'string' ? {} : leader;
  const url = access.url ?? (address === undefined ? undefined : urlOf(address, port));
  const ways: Way[] = [];
  if (configOf && url !== undefined) {
    const manager = owned.use(createTransport(await configOf(url), { clock, retry: false }));
    ways.push({
      name: url,
      get: (path, signal) => readPage(manager, requestOf(path, { ...call, signal }), url),
      remedy: ({ status }) => STATUS_REMEDIES[status] ?? '',
    });
  }
  // Who names a manager means that one, and not the leader.
  if (pod && access.url === undefined) {
    const { name = '', namespace: own = namespace } = pod.metadata ?? {};
    const proxy = `/api/v1/namespaces/${own}/pods/https:${name}:${port}/proxy`;
    ways.push({
      name: `the proxy of the API server to Pod ${own}/${name}`,
      get: (path, signal) => readPage(transport, requestOf(`${proxy}${path}`, { ...call, signal })),
      remedy: ({ status, text }) => {
        if (status !== 401 && status !== 403) return '';
        // Said by the API server itself, of the user.
        if (text.includes('pods/proxy')) return `; grant the user get on pods/proxy in the namespace ${own}`;
        const forward = `kubectl -n ${own} port-forward pod/${name} ${port}`;
        return `; that proxy does not say who asks: ask the manager itself, with --server=https://127.0.0.1:${port} through ${forward}`;
      },
    });
  }
  return ways.length > 0 ? ways : 'neither a node nor a Pod is known that the leader runs on; name it with --server';
}

interface Leader {
  readonly address: string;
  readonly pod?: Pod;
}

function leaderIn({ lease, nodes, pods }: ReadCluster): Leader | string {
  if ('unknown' in lease) return lease.unknown;
  const host = hostOf(lease.value?.spec?.holderIdentity ?? '');
  if (host === '') return 'there is no leader';
  const node = listed(nodes).find(({ metadata }) => metadata?.name === host);
  const pod =
    listed(pods).find(({ metadata }) => metadata?.name === host) ??
    listed(pods).find(({ spec, status }) => spec?.nodeName === host && status?.phase === 'Running');
  const internal = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  return { address: internal ?? pod?.status?.podIP ?? host, ...(pod && { pod }) };
}

function listed<T extends Node | Pod>(all: Fact<readonly T[]>): readonly T[] {
  return 'value' in all ? all.value : [];
}

/** Upstream's own framework serves `/healthz` alone. */
async function askHealth(ways: readonly Way[], options: ReadLeaderOptions): Promise<Fact<LeaderPage>> {
  const readyz = await ask(ways, '/readyz?verbose', options);
  if ('unknown' in readyz || readyz.value.status !== 404) return readyz;
  return await ask(ways, '/healthz?verbose', options);
}

/** Of the first way that shows it; else all that was said. */
async function ask(ways: readonly Way[], path: string, { call, clock }: ReadLeaderOptions): Promise<Fact<LeaderPage>> {
  const found = new AbortController();
  const tries = ways.map(async ({ get, name, remedy }) => {
    const deadline = {
      clock,
      timeoutMs: Math.min(REACH_MS, REACH_SHARE * (call.timeoutMs ?? Infinity)),
      what: `asking ${name}`,
    };
    const page = await withDeadline(deadline, (late) =>
      get(path, AbortSignal.any([late, found.signal, ...(call.signal ? [call.signal] : [])])),
    ).catch((error: unknown) => {
      const why = whyUnknown(error);
      throw new Error(`${why.includes(name) ? '' : `${name}: `}${why}${connectRemedy(error)}`, { cause: error });
    });
    // A health page that fails has 500 or 503, and says what fails. That there is no such page, or no such object, is an answer too.
    if (page.status === 200 || page.status === 404 || page.text.includes('[-]')) return page;
    const said = messageOf(page.text);
    throw new Error(`${name}: status ${page.status}${said && ` (${said})`}${remedy(page)}`);
  });
  try {
    return { value: await Promise.any(tries) };
  } catch (error) {
    const all = error instanceof AggregateError ? error.errors : [error];
    return { unknown: all.map((one) => whyUnknown(one)).join('; ') };
  } finally {
    found.abort(new DOMException('another way was faster', 'AbortError'));
  }
}

const STATUS_REMEDIES: Readonly<Record<number, string>> = {
  401: '; the manager cannot authenticate this user: a token or a client certificate of the cluster is needed',
  403: '; grant the user get on the nonResourceURLs /metrics and /explain/*',
};

function connectRemedy(error: unknown): string {
  if (isTransportError(error) && error.code === 'tls-untrusted')
    return '; name its authority with --certificate-authority';
  return '; run this where its address can be reached, or name another one with --server';
}

/** What the controllers say of objects that wait, as far as they may be asked. */
async function readPlans(ways: readonly Way[], options: ReadLeaderOptions): Promise<ReadonlyMap<string, string>> {
  const { nodes, services } = options.cluster;
  const waiting = [
    ...('value' in nodes ? nodes.value : [])
      .filter(({ spec }) => spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT))
      .map(({ metadata }) => `node/${metadata?.name ?? ''}`),
    ...('value' in services ? services.value : [])
      .filter(({ status }) => (status?.loadBalancer?.ingress ?? []).length === 0)
      .map(({ metadata }) => `service/${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`),
  ];
  const plans = new Map<string, string>();
  for (const key of waiting.slice(0, MOST_ASKED)) {
    const page = await ask(ways, `/explain/${key}`, options);
    // Who is refused once is refused each time.
    if (!('value' in page)) break;
    const plan = planIn(page.value.text);
    if (plan !== undefined) plans.set(key, plan);
  }
  return plans;
}

function planIn(text: string): string | undefined {
  try {
    const { findings = [] } = JSON.parse(text) as {
      readonly findings?: readonly { readonly planned?: readonly { readonly text?: string }[] }[];
    };
    return findings[0]?.planned?.map(({ text: one = '' }) => one).join('; ');
  } catch {
    return undefined;
  }
}

function requestOf(path: string, { signal, timeoutMs }: CallOptions): TransportRequest {
  const headers = { accept: '*/*' };
  return { method: 'GET', path, headers, signal, ...(timeoutMs !== undefined && { timeoutMs }) };
}
