/**
 * Pages of the leader. It is asked directly, as the user who asks, and through the proxy of the API server at the same time: the first
 * works wherever its address is reached and its certificate is trusted; the second from everywhere, but as nobody, so that only what the
 * manager tells everybody can be read.
 */
import { hostOf, leaderPod, noLeaderPod, urlOf } from '@outrigger/cloud-controller-manager';
import {
  createTransport,
  type CallOptions,
  type Clock,
  type ClusterConfig,
  type Pod,
  type Transport,
} from '@outrigger/kube';
import type { ClusterFacts, Fact, LeaderPage } from './cluster-facts.ts';
import { UNINITIALIZED_TAINT } from './judge-nodes.ts';
import type { ReadCluster } from './read-cluster.ts';
import { askFirst, directWay, wayByProxy, type Way } from './ways-to-manager.ts';

const DEFAULT_PORT = 10_258;
/** Waiting objects of which the leader is asked why. */
const MOST_ASKED = 20;

export interface LeaderAccess {
  /** `https://host:port`; is asked directly alone. Default: found by its Lease. */
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

/** Never throws. */
export async function readLeader(options: ReadLeaderOptions): Promise<LeaderFacts> {
  await using owned = new AsyncDisposableStack();
  const ways = await waysTo(options, owned);
  if (typeof ways === 'string') return { readyz: { unknown: ways }, metrics: { unknown: ways }, plans: new Map() };
  const [readyz, metrics, plans] = await Promise.all([
    askHealth(ways, options),
    askFirst(ways, '/metrics', options),
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
  const directly = async (url: string): Promise<readonly Way[]> =>
    configOf ? [directWay(url, owned.use(createTransport(await configOf(url), { clock, retry: false })), call)] : [];
  // Who names a manager means that one, and not the leader.
  if (access.url !== undefined) return await directly(access.url);
  const pod = leaderIn(cluster, namespace);
  if (typeof pod === 'string') return pod;
  const { podIP } = pod.status ?? {};
  return [
    ...(podIP === undefined ? [] : await directly(urlOf(podIP, port))),
    wayByProxy(pod, port, namespace, transport, call),
  ];
}

/** Or why it is not known. */
function leaderIn({ lease, pods }: ReadCluster, namespace: string): Pod | string {
  if ('unknown' in lease) return lease.unknown;
  const host = hostOf(lease.value?.spec?.holderIdentity ?? '');
  if (host === '') return 'there is no leader';
  return 'unknown' in pods ? pods.unknown : (leaderPod(pods.value, host) ?? noLeaderPod(namespace, host));
}

/** Upstream's own framework serves `/healthz` alone. */
async function askHealth(ways: readonly Way[], options: ReadLeaderOptions): Promise<Fact<LeaderPage>> {
  const readyz = await askFirst(ways, '/readyz?verbose', options);
  if ('unknown' in readyz || readyz.value.status !== 404) return readyz;
  return await askFirst(ways, '/healthz?verbose', options);
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
    const page = await askFirst(ways, `/explain/${key}`, options);
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
