/** From what was read to what is said: pure. Each section is a function; what is wrong is collected beside it. */
import { hostOf, loadBalancerReasons } from '@outrigger/cloud-controller-manager';
import type { CoreEvent, KubeObject, Node, Service } from '@outrigger/kube';
import type { ClusterFacts, Fact, LeaderPage, Workload } from './cluster-facts.ts';
import type {
  BudgetStatus,
  CloudStatus,
  ClusterState,
  ClusterStatus,
  DeletionsStatus,
  HealthStatus,
  LeaderStatus,
  NodesStatus,
  OrphanStatus,
  Problem,
  ProcessStatus,
  Reading,
  RoutesStatus,
  ServicesStatus,
  WaitingNode,
  WaitingService,
  WorkloadStatus,
} from './cluster-status.ts';
import { ageText } from './age-text.ts';
import { newestEvent, timeOfEvent } from './cluster-events.ts';
import { webhooksOf } from './judge-webhooks.ts';
import { MetricSamples } from './metric-samples.ts';
import { shell } from './shell-command.ts';

export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';
/** A node or a Service that waits for less is on its way. */
const PATIENCE_MS = 60_000;
/** Clocks differ: of the API server's clients, and of who asks. */
const SKEW_MS = 5_000;
/** Of one kind of problem, each by itself: what is beyond is counted. */
const MOST_TOLD = 20;

/** Of kubelets and the scheduler there are many Events about nodes, which are none of ours. */
const OUR_COMPONENTS = /cloud|service-(?:lb-)?controller|route-controller/u;

const OTHER_PROGRAM = 'the program that leads is not Outrigger, and does not report it';

/** As the host takes them; whatever else a page of metrics says is none. */
const PROVIDER = /^[a-z0-9-]+$/u;

/** With the Events of cloud controllers by `objectKey` of what they are about: there may be many of both. */
interface IndexedFacts extends ClusterFacts {
  readonly eventsOf: ReadonlyMap<string, readonly CoreEvent[]>;
}

/** What is wrong, in the order in which it was found. */
type Tell = (problem: Problem) => void;

export function judgeCluster(read: ClusterFacts): ClusterStatus {
  const ours = 'value' in read.events ? read.events.value.filter((event) => isOurEvent(event)) : [];
  const facts: IndexedFacts = {
    ...read,
    eventsOf: Map.groupBy(ours, ({ involvedObject }) => objectKey(involvedObject)),
  };
  const problems: Problem[] = [];
  const tell: Tell = (problem) => void problems.push(problem);
  const samples = samplesOf(facts.metrics);
  const process = processOf(samples);
  const reported = <T>(read: (samples: MetricSamples) => T): Reading<T> => {
    if ('unknown' in samples) return samples;
    if ('value' in process && process.value.program === 'other') return { notReported: OTHER_PROGRAM };
    return { value: read(samples.value) };
  };
  const judged = {
    leader: leaderOf(facts, process, tell),
    workloads: mapped(facts.workloads, (workloads) => workloads.map((one) => workloadOf(one, tell))),
    health: healthOf(facts.readyz, tell),
    process: toldProcess(process, tell),
    clouds: cloudsOf(facts, samples, process, tell),
    nodes: mapped(facts.nodes, (nodes) => nodesOf(nodes, facts, tell)),
    deletions: reported((metrics) => deletionsOf(metrics, tell)),
    services: mapped(facts.services, (services) => servicesOf(services, facts, tell)),
    routes: reported((metrics) => routesOf(metrics, tell)),
    orphans: reported((metrics) => orphansOf(metrics, tell)),
    budget: reported((metrics) => budgetOf(metrics)),
    events: mapped(facts.events, (events) => ({ warnings: events.filter(({ type }) => type === 'Warning').length })),
    webhooks: mapped(facts.webhooks, (all) => all.flatMap((one) => webhooksOf(one, facts, tell))),
  } satisfies Partial<ClusterStatus>;
  return {
    apiVersion: 'status.outrigger.dev/v1alpha1',
    kind: 'ClusterStatus',
    at: timeOf(facts.at),
    server: facts.server,
    state: stateOf(problems, [...Object.values(judged), ...certificatesOf(judged.webhooks)]),
    problems: [
      ...problems.filter(({ severity }) => severity === 'error'),
      ...problems.filter(({ severity }) => severity === 'warning'),
    ],
    ...judged,
  };
}

function stateOf(problems: readonly Problem[], readings: readonly Reading<unknown>[]): ClusterState {
  if (problems.length > 0) return 'problems';
  return readings.some((reading) => 'unknown' in reading) ? 'unknown' : 'healthy';
}

/** One replica that does not tell leaves the others. */
function certificatesOf(webhooks: ClusterStatus['webhooks']): readonly Reading<unknown>[] {
  const all = 'value' in webhooks ? webhooks.value : [];
  return all.flatMap(({ certificates }) => certificates.map(({ certificate }) => certificate));
}

function mapped<T, U>(fact: Fact<T>, map: (value: T) => U): Reading<U> {
  return 'unknown' in fact ? fact : { value: map(fact.value) };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** `undefined` for what is no time. */
function millisecondsOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** `N things`, or `1 thing`. */
function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

// The leader

function leaderOf(facts: ClusterFacts, process: Reading<ProcessStatus>, tell: Tell): Reading<LeaderStatus> {
  return mapped(facts.lease, (lease) => {
    const name = `${facts.namespace}/${facts.leaseName}`;
    const { acquireTime, holderIdentity: holder = '', leaseTransitions = 0, renewTime } = lease?.spec ?? {};
    const renewed = millisecondsOf(renewTime);
    const since = millisecondsOf(acquireTime);
    const lasts = (lease?.spec?.leaseDurationSeconds ?? 15) * 1000;
    const holds = holder !== '' && renewed !== undefined && facts.at - renewed <= lasts + SKEW_MS;
    // A manager with --leader-elect=false, which was named, holds none.
    const runsWithout = lease === undefined && 'value' in process && process.value.controllers.length > 0;
    if (!holds && !runsWithout) {
      const [what, remedy] = noLeader(name, { exists: lease !== undefined, holder, renewed, at: facts.at });
      const logs = shell`kubectl --namespace=${facts.namespace} logs --selector=app.kubernetes.io/component=cloud-controller-manager --tail=50`;
      tell({
        severity: 'error',
        section: 'leader',
        message: what,
        remedy,
        commands: [
          shell`kubectl --namespace=${facts.namespace} get pods --selector=app.kubernetes.io/component=cloud-controller-manager --output=wide`,
          logs,
        ],
        runbook: 'OutriggerNoLeader',
      });
    }
    return {
      lease: name,
      holder,
      host: hostOf(holder),
      holds,
      ...(renewed !== undefined && { renewedAt: timeOf(renewed) }),
      ...(since !== undefined && { since: timeOf(since) }),
      transitions: leaseTransitions,
    };
  });
}

interface LeaseState {
  readonly exists: boolean;
  readonly holder: string;
  readonly renewed: number | undefined;
  readonly at: number;
}

function noLeader(name: string, { at, exists, holder, renewed }: LeaseState): readonly [what: string, remedy: string] {
  if (!exists) {
    return [
      `There is no leader: the Lease ${name} does not exist.`,
      'Start the cloud-controller-manager, or name its Lease (--leader-elect-resource-name, --leader-elect-resource-namespace).',
    ];
  }
  const remedy = 'Check that a Pod of the manager runs, and why it does not take the Lease.';
  if (holder === '') return [`There is no leader: the Lease ${name} has no holder.`, remedy];
  const ago = renewed === undefined ? 'was never renewed' : `was last renewed ${ageText(at - renewed)} ago`;
  return [`There is no leader: the Lease ${name} of ${holder} ${ago}.`, remedy];
}

function secondsOf(ms: number): number {
  return Math.max(0, Math.floor(ms / 1000));
}

// Who runs it

function workloadOf({ kind, metadata, spec, status }: Workload, tell: Tell): WorkloadStatus {
  const { name = '', namespace = '' } = metadata ?? {};
  const image = spec?.template?.spec?.containers?.[0]?.image ?? '';
  const version = /:([^:/@]+)(?:@.*)?$/u.exec(image)?.[1];
  const isDaemonSet = kind === 'DaemonSet';
  const desired = isDaemonSet ? (status?.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  const ready = (isDaemonSet ? status?.numberReady : status?.readyReplicas) ?? 0;
  const updated = (isDaemonSet ? status?.updatedNumberScheduled : status?.updatedReplicas) ?? 0;
  if (ready < desired || desired === 0) {
    const lacks = desired === 0 ? 'is to have no Pod' : `has ${ready} of ${counted(desired, 'Pod')} ready`;
    tell({
      severity: ready === 0 ? 'error' : 'warning',
      section: 'workloads',
      about: `${isDaemonSet ? 'DaemonSet' : 'Deployment'} ${namespace}/${name}`,
      message: `It ${lacks}.`,
      ...(desired === 0 && {
        remedy: isDaemonSet ? 'Check its node selector: no node has these labels.' : 'Set its replicas to 1 or more.',
      }),
      commands: [shell`kubectl --namespace=${namespace} describe ${isDaemonSet ? 'daemonset' : 'deployment'} ${name}`],
      ...(ready === 0 && { runbook: 'OutriggerDown' }),
    });
  }
  return {
    kind: isDaemonSet ? 'DaemonSet' : 'Deployment',
    namespace,
    name,
    image,
    ...(version !== undefined && { version }),
    desired,
    ready,
    updated,
  };
}

// The process

function healthOf(readyz: Fact<LeaderPage>, tell: Tell): Reading<HealthStatus> {
  if ('unknown' in readyz) return readyz;
  const { status, text } = readyz.value;
  const failing = [...text.matchAll(/^\[-\](\S+)/gmu)].map(([, name = '']) => name);
  if (status !== 200 && failing.length === 0) return { unknown: `its health was answered with status ${status}` };
  const ready = status === 200;
  if (!ready) {
    tell({
      severity: 'error',
      section: 'health',
      message: `The leader is not ready: ${failing.join(', ')} failed.`,
      remedy: 'Read its log, which says why.',
      commands: [],
      runbook: 'OutriggerDown',
    });
  }
  return { value: { ready, failing } };
}

function samplesOf(page: Fact<LeaderPage>): Fact<MetricSamples> {
  if ('unknown' in page) return page;
  return page.value.status === 200
    ? { value: new MetricSamples(page.value.text) }
    : { unknown: `/metrics was answered with status ${page.value.status}` };
}

function processOf(samples: Fact<MetricSamples>): Reading<ProcessStatus> {
  return mapped(samples, (metrics) => {
    const version = metrics.of('kubernetes_build_info')[0]?.labels['git_version'];
    const started = (metrics.of('process_start_time_seconds')[0]?.value ?? NaN) * 1000;
    const running = metrics.of('running_managed_controllers').filter(({ value }) => value > 0);
    return {
      program: metrics.hasAny('outrigger_') ? 'outrigger' : 'other',
      ...(version !== undefined && { version }),
      // No date is further from 1970.
      ...(Math.abs(started) <= 8.64e15 && { startedAt: timeOf(started) }),
      controllers: [...new Set(running.map(({ labels }) => labels['name'] ?? ''))].toSorted(),
      hanging: metrics.sum('outrigger_reconciles_hanging'),
    };
  });
}

function toldProcess(process: Reading<ProcessStatus>, tell: Tell): Reading<ProcessStatus> {
  if ('value' in process && process.value.hanging > 0) {
    tell({
      severity: 'warning',
      section: 'process',
      message: `${counted(process.value.hanging, 'reconcile')} ran for more than 5 minutes, and still ${process.value.hanging === 1 ? 'runs' : 'run'}.`,
      remedy: 'Read the log of the leader: it names the objects and the requests that they wait for.',
      commands: [],
      runbook: 'OutriggerReconcilesFailing',
    });
  }
  return process;
}

// Its clouds

/** A failing cloud is known from two pages of the leader, and from Events where neither can be read. */
function cloudsOf(
  facts: IndexedFacts,
  samples: Fact<MetricSamples>,
  process: Reading<ProcessStatus>,
  tell: Tell,
): Reading<readonly CloudStatus[]> {
  const page = 'value' in facts.readyz ? cloudsOfHealth(facts.readyz.value.text) : undefined;
  const metrics = 'value' in samples ? cloudsOfMetrics(samples.value) : [];
  const event = cloudEvent(facts);
  const isOther = 'value' in process && process.value.program === 'other';
  const told = [...metrics, ...(page ?? [])].filter(({ provider }) => PROVIDER.test(provider));
  const known = [...new Map(told.map((one) => [keyOf(one), one])).values()];
  // A page that says that all answer is newer than what another says of one service.
  const failing = known.filter(({ answers }) => !answers);
  for (const one of failing) tell(cloudProblem(one));
  if (failing.length === 0 && event && page === undefined && metrics.length === 0) {
    tell({
      severity: 'error',
      section: 'clouds',
      message: event.message ?? '',
      commands: ['kubectl get events --all-namespaces --field-selector=involvedObject.name=kube-system'],
      runbook: 'OutriggerCloudCallsFailing',
    });
  }
  if (isOther) return { notReported: OTHER_PROGRAM };
  if ('unknown' in samples && page === undefined) return { unknown: samples.unknown };
  return { value: known.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
}

function keyOf({ provider, service }: CloudStatus): string {
  return `${provider}\n${service}`;
}

function cloudProblem({ code = '', failingSince, provider, service }: CloudStatus): Problem {
  const what = service === '' ? `Cloud ${provider}` : `Cloud ${provider}, ${service}`;
  const since = failingSince === undefined ? '' : ` since ${failingSince}`;
  const refused = code === 'unauthenticated';
  const why = refused ? 'The cloud refuses the credentials' : 'The cloud does not answer';
  return {
    severity: 'error',
    section: 'clouds',
    about: what,
    message: `${why}${since}${code === '' || refused ? '' : ` (${code})`}: new nodes, Services and routes wait, nothing is deleted.`,
    remedy: refused
      ? 'Correct the credentials in the cloud config, which is read again, and try them.'
      : 'Check the cloud, a proxy and DNS, and try the cloud config; requests are retried.',
    commands: [shell`outrigger config validate --cloud-provider=${provider} --cloud-config=FILE`],
    runbook: 'OutriggerCloudCallsFailing',
  };
}

/** `[+]cloud-memory ok (failing: instances: unauthenticated since 2026-…, routes: …)`. `undefined`: the page says nothing of clouds. */
function cloudsOfHealth(text: string): readonly CloudStatus[] | undefined {
  const lines = [...text.matchAll(/^\[\+\]cloud-(\S+) ok(?: \(failing: (.*)\))?$/gmu)];
  if (lines.length === 0) return undefined;
  return lines.flatMap(([, provider = '', failing]): readonly CloudStatus[] => {
    if (failing === undefined) return [];
    return failing.split(', ').map((one) => {
      const [, service = one, code = '', since] = /^(.*): (\S*) since (\S+)$/u.exec(one) ?? [];
      return { provider, service, answers: false, code, ...(since !== undefined && { failingSince: since }) };
    });
  });
}

function cloudsOfMetrics(metrics: MetricSamples): readonly CloudStatus[] {
  const services = metrics.of('outrigger_cloud_answers').map(({ labels, value }) => ({
    provider: labels['provider'] ?? '',
    service: labels['service'] ?? '',
    answers: value > 0,
  }));
  const closed = metrics.of('outrigger_provider_open').filter(({ value }) => value === 0);
  return [
    ...services,
    ...closed.map(({ labels }) => ({
      provider: labels['provider'] ?? '',
      service: '',
      answers: false,
      code: 'not open',
    })),
  ];
}

function cloudEvent({ eventsOf }: IndexedFacts): CoreEvent | undefined {
  const reasons = new Set(['CloudCredentialsRefused', 'CloudUnreachable', 'CloudAnswers']);
  const events = [...eventsOf.values()].flat();
  const newest = newestEvent(
    events.filter(
      ({ involvedObject: about, reason = '' }) =>
        reasons.has(reason) && about.kind === 'Namespace' && about.name === 'kube-system' && !about.namespace,
    ),
  );
  return newest?.type === 'Warning' ? newest : undefined;
}

// Nodes

function nodesOf(nodes: readonly Node[], facts: IndexedFacts, tell: Tell): NodesStatus {
  const waiting = nodes
    .filter(({ spec }) => spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT))
    .map((node): WaitingNode => {
      const name = node.metadata?.name ?? '';
      const created = millisecondsOf(node.metadata?.creationTimestamp);
      const event = newestEvent(eventsAbout(facts, 'Node', node).filter(({ type }) => type === 'Warning'));
      const reason = facts.plans.get(`node/${name}`) ?? event?.message;
      return {
        name,
        ...(created !== undefined && { since: timeOf(created) }),
        waitedSeconds: secondsOf(facts.at - (created ?? facts.at)),
        ...(reason !== undefined && { reason }),
      };
    })
    .toSorted((a, b) => b.waitedSeconds - a.waitedSeconds);
  const late = waiting.filter(({ waitedSeconds }) => waitedSeconds * 1000 >= PATIENCE_MS);
  for (const { name, reason, waitedSeconds } of late.slice(0, MOST_TOLD)) {
    tell({
      severity: 'error',
      section: 'nodes',
      about: `Node ${name}`,
      message: `It has not been initialized for ${ageText(waitedSeconds * 1_000)}: ${reason ?? 'no Event says why'}`,
      commands: [shell`outrigger explain node ${name}`, shell`kubectl describe node ${name}`],
      runbook: 'OutriggerNodesUninitialized',
    });
  }
  tellRest(late.length, 'nodes', 'node', tell);
  return { total: nodes.length, initialized: nodes.length - waiting.length, waiting };
}

function tellRest(count: number, section: 'nodes' | 'services', thing: string, tell: Tell): void {
  const rest = count - MOST_TOLD;
  if (rest <= 0) return;
  tell({ severity: 'error', section, message: `${counted(rest, `more ${thing}`)} with a problem.`, commands: [] });
}

function isOurEvent({ reportingComponent, source }: CoreEvent): boolean {
  return OUR_COMPONENTS.test((source?.component ?? '') || (reportingComponent ?? ''));
}

/**
 * The UID alone would do, if it were not written by whoever may write Events in any namespace. An Event has the namespace of what it is
 * about: the API server sees to it.
 */
function objectKey({
  kind = '',
  namespace = '',
  uid = '',
}: {
  readonly kind?: string;
  readonly namespace?: string;
  readonly uid?: string;
}): string {
  return `${kind} ${namespace} ${uid}`;
}

function eventsAbout({ eventsOf }: IndexedFacts, kind: string, { metadata }: KubeObject): readonly CoreEvent[] {
  return metadata?.uid === undefined ? [] : (eventsOf.get(objectKey({ ...metadata, kind })) ?? []);
}

function deletionsOf(metrics: MetricSamples, tell: Tell): DeletionsStatus {
  const held = metrics.sum('outrigger_node_deletions_held');
  const unproved = metrics.sum('outrigger_node_deletions_unproved');
  if (held > 0) {
    const never = unproved > 0 ? ` ${unproved} of them are not deleted however long it lasts.` : '';
    tell({
      severity: 'warning',
      section: 'deletions',
      message: `${counted(held, 'node')} seem to have lost their machine, and are not deleted yet: they are many, or their machines cannot be read.${never}`,
      remedy:
        'Check with other tools whether the machines exist. If they do, correct the cloud config; if they are gone, wait for the proof, or allow the deletion.',
      commands: [
        'kubectl get events --all-namespaces --field-selector=reason=NodeDeletionHeld',
        'kubectl annotate node NAME outrigger.dev/allow-node-deletion=true',
      ],
      runbook: 'OutriggerNodeDeletionsHeld',
    });
  }
  return { held, unproved };
}

// Services

function servicesOf(services: readonly Service[], facts: IndexedFacts, tell: Tell): ServicesStatus {
  const waiting = services
    .map((service) => waitingService(service, facts))
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.waitedSeconds - a.waitedSeconds);
  const told = waiting.filter((one) => isLate(one));
  for (const one of told.slice(0, MOST_TOLD)) tell(serviceProblem(one));
  tellRest(told.length, 'services', 'Service', tell);
  return { total: services.length, ready: services.length - waiting.length, waiting };
}

/** Of the condition `LoadBalancerReady`: those with which it is False, and nothing has failed. */
const ON_THE_WAY: ReadonlySet<string> = new Set(['Provisioning', 'WaitingForPart', 'Deleting', 'NoNodes']);
const ELSEWHERE = 'ImplementedElsewhere';

/** What the condition says, which the manager keeps up to date; else what the newest Event does. */
interface ServiceWord {
  readonly failed: boolean;
  readonly ready?: boolean;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** In milliseconds. */
  readonly since?: number | undefined;
}

function wordOf(service: Service, facts: IndexedFacts): ServiceWord {
  const condition = service.status?.conditions?.find(({ type }) => type === 'LoadBalancerReady');
  if (condition) {
    const { lastTransitionTime, message, reason } = condition;
    const ready = condition.status === 'True' || reason === ELSEWHERE;
    return {
      failed: !ready && !ON_THE_WAY.has(reason),
      ready,
      reason,
      message,
      since: millisecondsOf(lastTransitionTime),
    };
  }
  const events = eventsAbout(facts, 'Service', service);
  const { done, failed: failures } = loadBalancerReasons;
  const last = newestEvent(events.filter(({ reason = '' }) => failures.has(reason) || done.has(reason)));
  const failed = failures.has(last?.reason ?? '');
  const told = failed ? last : newestEvent(events.filter(({ type }) => type === 'Warning'));
  // Any Warning about a Service that has no address yet is why.
  return {
    failed: told !== undefined,
    ready: !failed,
    reason: told?.reason,
    message: told?.message,
    since: told && timeOfEvent(told),
  };
}

/** `undefined`: all is as it should be. */
function waitingService(service: Service, facts: IndexedFacts): WaitingService | undefined {
  const { metadata = {}, spec = {}, status = {} } = service;
  const { name = '', namespace = '' } = metadata;
  const word = wordOf(service, facts);
  const hasAddress = (status.loadBalancer?.ingress ?? []).length > 0;
  const isDeleting = metadata.deletionTimestamp !== undefined || spec.type !== 'LoadBalancer';
  if (!isDeleting && hasAddress && word.ready !== false) return undefined;
  const state = isDeleting ? 'deleting' : hasAddress ? (word.failed ? 'failing' : 'updating') : 'pending';
  const since =
    hasAddress && !isDeleting ? word.since : millisecondsOf(metadata.deletionTimestamp ?? metadata.creationTimestamp);
  const message = word.message ?? facts.plans.get(`service/${namespace}/${name}`);
  const { loadBalancerClass } = spec;
  return {
    namespace,
    name,
    state,
    failed: word.failed,
    ...(since !== undefined && { since: timeOf(since) }),
    waitedSeconds: secondsOf(facts.at - (since ?? facts.at)),
    ...(word.reason !== undefined && { reason: word.reason }),
    ...(message !== undefined && { message }),
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
  };
}

/** Whether a person should look: it fails, or waits longer than it should. Of a class that nobody here tells of, another controller may. */
function isLate({ failed, loadBalancerClass, reason, waitedSeconds }: WaitingService): boolean {
  if (failed) return true;
  if (reason === ELSEWHERE || (loadBalancerClass !== undefined && reason === undefined)) return false;
  return waitedSeconds * 1000 >= PATIENCE_MS;
}

const SERVICE_STATES: Readonly<Record<WaitingService['state'], string>> = {
  pending: 'It has had no address for',
  failing: 'Its load balancer could not be updated for',
  updating: 'Its load balancer has not been up to date for',
  deleting: 'Its load balancer has not been removed for',
};

function serviceProblem({ message, name, namespace, reason, state, waitedSeconds }: WaitingService): Problem {
  const why = message ?? 'no condition or Event says why';
  return {
    severity: 'error',
    section: 'services',
    about: `Service ${namespace}/${name}`,
    message: `${SERVICE_STATES[state]} ${ageText(waitedSeconds * 1_000)}: ${reason === undefined ? why : `${reason}: ${why}`}`,
    commands: [
      shell`outrigger explain service ${namespace}/${name}`,
      shell`kubectl --namespace=${namespace} describe service ${name}`,
    ],
    runbook: 'OutriggerServiceSyncFailing',
  };
}

// What is left in the cloud, and what asking it costs

function routesOf(metrics: MetricSamples, tell: Tell): RoutesStatus {
  const removalsHeld = metrics.sum('outrigger_route_removals_held');
  if (removalsHeld > 0) {
    tell({
      severity: 'warning',
      section: 'routes',
      message: `${counted(removalsHeld, 'route')} of nodes that are gone are not removed, because they are many.`,
      remedy: 'Check whether these nodes are really gone.',
      commands: ['kubectl get events --all-namespaces --field-selector=reason=RouteRemovalHeld'],
      runbook: 'OutriggerRouteRemovalsHeld',
    });
  }
  return { removalsHeld };
}

function orphansOf(metrics: MetricSamples, tell: Tell): readonly OrphanStatus[] {
  const orphans = metrics
    .valuesOf('outrigger_orphans', 'kind')
    .map((kind) => ({
      kind,
      count: metrics.sum('outrigger_orphans', { kind }),
      held: metrics.sum('outrigger_orphan_removals_held', { kind }),
    }))
    .filter(({ count }) => count > 0);
  const total = orphans.reduce((sum, { count }) => sum + count, 0);
  const held = orphans.reduce((sum, one) => sum + one.held, 0);
  if (total > 0) {
    tell({
      severity: 'warning',
      section: 'orphans',
      message: `${counted(total, 'resource')} in the cloud ${total === 1 ? 'belongs' : 'belong'} to this cluster and to no Kubernetes object: ${orphans.map(({ count, kind }) => `${count} ${kind}`).join(', ')}.`,
      remedy: 'Remove what is not needed in the cloud, or set --orphan-policy=delete; the Events name them.',
      commands: ['kubectl get events --all-namespaces --field-selector=involvedObject.name=kube-system'],
      runbook: held > 0 ? 'OutriggerOrphanRemovalsHeld' : 'OutriggerOrphans',
    });
  }
  return orphans;
}

function budgetOf(metrics: MetricSamples): readonly BudgetStatus[] {
  const REQUESTS = 'cloudprovider_api_requests_total';
  const WAITS = 'cloudprovider_api_budget_wait_seconds';
  // The least bucket of a second or more.
  const second = metrics
    .valuesOf(`${WAITS}_bucket`, 'le')
    .filter((le) => Number(le) >= 1)
    .toSorted((a, b) => Number(a) - Number(b))[0];
  return metrics.valuesOf(REQUESTS, 'provider').map((provider) => ({
    provider,
    requests: metrics.sum(REQUESTS, { provider }),
    failed: metrics
      .of(REQUESTS)
      .filter(({ labels }) => labels['provider'] === provider && labels['code'] !== 'ok')
      .reduce((sum, { value }) => sum + value, 0),
    throttled: metrics.sum('cloudprovider_api_throttled_requests_total', { provider }),
    inFlight: metrics.sum('cloudprovider_api_in_flight_requests', { provider }),
    waited:
      metrics.sum(`${WAITS}_count`, { provider }) - metrics.sum(`${WAITS}_bucket`, { provider, le: second ?? '+Inf' }),
  }));
}
