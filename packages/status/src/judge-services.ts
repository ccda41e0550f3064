/** Which Services wait for their load balancer, and which fail. Pure. Entry point: `servicesOf`. */
import { loadBalancerReasons } from '@outrigger/cloud-controller-manager';
import type { Service } from '@outrigger/kube';
import { ageText } from './age-text.ts';
import { newestEvent, timeOfEvent } from './cluster-events.ts';
import type { Problem, ServicesStatus, WaitingService } from './cluster-status.ts';
import { eventsAbout, shownWords, type IndexedFacts } from './indexed-facts.ts';
import { shell } from './shell-command.ts';
import { PATIENCE_MS, tellAll, type Tell } from './tell-problem.ts';
import { millisecondsOf, secondsOf, timeOf } from './wire-time.ts';

/** Of the condition `LoadBalancerReady`: those with which it is False, and nothing has failed. */
const ON_THE_WAY: ReadonlySet<string> = new Set(['Provisioning', 'WaitingForPart', 'Deleting', 'NoNodes']);
const ELSEWHERE = 'ImplementedElsewhere';

export function servicesOf(services: readonly Service[], facts: IndexedFacts, tell: Tell): ServicesStatus {
  const waiting = services
    .map((service) => waitingService(service, facts))
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.waitedSeconds - a.waitedSeconds);
  const late = waiting.filter((one) => isLate(one));
  tellAll(late.map(serviceProblem), { section: 'services', thing: 'Service' }, tell);
  return { total: services.length, ready: services.length - waiting.length, waiting };
}

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
    const { lastTransitionTime, reason } = condition;
    const ready = condition.status === 'True' || reason === ELSEWHERE;
    return {
      failed: !ready && !ON_THE_WAY.has(reason),
      ready,
      ...shownWords(condition),
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
