/** What the API server says. Each list is by itself: one that is refused leaves the others. */
import { hostOf, isOfManager, selectorsOfLeader } from '@outrigger/cloud-controller-manager';
import {
  isForbidden,
  isNotFound,
  isStatusError,
  isUnauthorized,
  resources,
  type CallOptions,
  type Client,
  type CoreEvent,
  type KubeObject,
  type ListOptions,
  type Node,
  type Pod,
  type Resource,
  type Service,
} from '@outrigger/kube';
import type { ClusterFacts, Fact, WebhookConfiguration, Workload } from './cluster-facts.ts';

const deployments: Resource<Workload> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
const daemonSets: Resource<Workload> = { ...deployments, plural: 'daemonsets', kind: 'DaemonSet' };
const validatingWebhooks: Resource<WebhookConfiguration> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};
const mutatingWebhooks: Resource<WebhookConfiguration> = {
  ...validatingWebhooks,
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
};

/** Objects a page: memory, not speed. */
const PAGE = 500;
/** As our manifests and chart label what they make. */
const OUR_LABEL = 'app.kubernetes.io/component';
const COMPONENT = 'cloud-controller-manager';
const CLEANUP_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

interface ReadClusterOptions {
  readonly client: Client;
  /** Of the Lease, and of what runs the manager: in others, anybody's Pods may look like it. */
  readonly namespace: string;
  readonly leaseName: string;
  readonly call: CallOptions;
  /** What is known already, of a watch. Asked when its turn comes. `undefined`, and default: it is listed. */
  readonly known?: KnownObjects | undefined;
}

export interface KnownObjects {
  readonly nodes: () => readonly Node[] | undefined;
  readonly services: () => readonly Service[] | undefined;
}

export type ReadCluster = Pick<
  ClusterFacts,
  'events' | 'lease' | 'nodes' | 'pods' | 'services' | 'webhooks' | 'workloads'
> & {
  /** Those before the webhooks. */
  readonly webhookServices: Fact<readonly Service[]>;
};

/** Throws where the API server gives no answer, or does not know who asks: then nothing else can be asked. */
export async function readCluster({
  call,
  client,
  known,
  leaseName,
  namespace,
}: ReadClusterOptions): Promise<ReadCluster> {
  const lease = await fact(
    client
      .of(resources.leases)
      .get({ name: leaseName, namespace }, call)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    // Not reached, or not known: everything else would only say the same again.
    (error) => !isStatusError(error) || isUnauthorized(error),
  );
  const list = <T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<readonly T[]> =>
    listAll(client, resource, { ...call, ...options });
  const host = 'value' in lease ? hostOf(lease.value?.spec?.holderIdentity ?? '') : '';
  const workloadsOf = async (resource: Resource<Workload>): Promise<readonly Workload[]> =>
    (await kinds(list(resource, { namespace }), resource.kind)).filter((one) => isOfManager(one));
  // There may be thousands: of them those that may be the leader, or another replica.
  const podsOf = async (...selections: readonly ListOptions[]): Promise<readonly Pod[]> => {
    const all = await Promise.all(selections.map((options) => list(resources.pods, { namespace, ...options })));
    const ours = all.flat().filter((pod) => isOfManager(pod) || pod.metadata?.name === host);
    return [...new Map(ours.map((pod) => [pod.metadata?.uid, pod])).values()];
  };
  const about = (selector: string): Promise<readonly CoreEvent[]> =>
    list(resources.coreEvents, { fieldSelector: selector });
  const [workloads, pods, nodes, allServices, events, webhooks] = await Promise.all([
    fact(Promise.all([workloadsOf(deployments), workloadsOf(daemonSets)]).then((all) => all.flat())),
    fact(
      podsOf(
        { labelSelector: `${OUR_LABEL}=${COMPONENT}` },
        ...selectorsOfLeader(host).map((fieldSelector) => ({ fieldSelector })),
      ),
    ),
    // There may be thousands of nodes: `trimmed` spares the server and this process what is not looked at here.
    fact(Promise.resolve(known?.nodes() ?? list(resources.nodes, { trimmed: true }))),
    fact(Promise.resolve(known?.services() ?? list(resources.services))),
    fact(
      Promise.all([
        about('involvedObject.kind=Node,type=Warning'),
        about('involvedObject.kind=Service'),
        about('involvedObject.kind=Namespace,involvedObject.name=kube-system'),
      ]).then((all) => all.flat()),
    ),
    fact(
      Promise.all([
        kinds(list(validatingWebhooks), 'ValidatingWebhookConfiguration'),
        kinds(list(mutatingWebhooks), 'MutatingWebhookConfiguration'),
      ]).then((all) => all.flat().filter((one) => isOurs(one))),
    ),
  ]);
  const services = filtered(
    allServices,
    ({ metadata, spec }) => spec?.type === 'LoadBalancer' || metadata?.finalizers?.includes(CLEANUP_FINALIZER) === true,
  );
  const called = ('value' in webhooks ? webhooks.value : []).flatMap((one) => one.webhooks ?? []);
  const webhookServices = filtered(allServices, ({ metadata }) =>
    called.some(
      ({ clientConfig: { service } = {} }) =>
        service && service.name === metadata?.name && service.namespace === metadata?.namespace,
    ),
  );
  return { lease, workloads, pods, nodes, services, events, webhooks, webhookServices };
}

function filtered<T>(all: Fact<readonly T[]>, isWanted: (one: T) => boolean | undefined): Fact<readonly T[]> {
  return 'unknown' in all ? all : { value: all.value.filter((one) => isWanted(one)) };
}

async function listAll<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: ListOptions,
): Promise<readonly T[]> {
  const all: T[] = [];
  try {
    for await (const { items } of client.of(resource).pages({ ...options, limit: PAGE })) all.push(...items);
  } catch (error) {
    // The server does not have this kind, so there is none of it.
    if (!isNotFound(error)) throw error;
  }
  return all;
}

/** Items of a list do not say what kind they are. */
async function kinds<T extends KubeObject>(items: Promise<readonly T[]>, kind: string): Promise<readonly T[]> {
  return (await items).map((item) => ({ ...item, kind }));
}

/** Those that our commands and chart make. */
function isOurs({ metadata, webhooks = [] }: WebhookConfiguration): boolean {
  return (
    (metadata?.name ?? '').endsWith('.outrigger.dev') ||
    webhooks.some(({ name = '' }) => name.endsWith('.outrigger.dev')) ||
    metadata?.labels?.[OUR_LABEL] === COMPONENT
  );
}

/** `isFatal`: throws it instead. */
async function fact<T>(answer: Promise<T>, isFatal: (error: unknown) => boolean = () => false): Promise<Fact<T>> {
  try {
    return { value: await answer };
  } catch (error) {
    if (isFatal(error)) throw error;
    return { unknown: whyUnknown(error) };
  }
}

/** One line. */
export function whyUnknown(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = message.split('\n', 1);
  return isForbidden(error) ? `forbidden: ${line}` : line;
}
