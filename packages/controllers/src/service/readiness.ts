/** What the condition `LoadBalancerReady` says of a Service. Pure. */
import { isCloudError, type BackEnd } from '@outrigger/cloud-provider';
import type { Condition, Service } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';
import { reasonOf } from '../load-balancer/failure.ts';
import { readyCondition } from './well-known-names.ts';

export interface Readiness {
  /** `Ready`: the condition is True. */
  readonly reason: string;
  readonly message: string;
}

const MOST_CHARACTERS = 256;
const CUT = '…';

const READY: Readiness = { reason: 'Ready', message: 'The load balancer is as the Service asks for' };
export const NO_NODES: Readiness = { reason: 'NoNodes', message: 'No node can take the traffic of the Service' };
export const PROVISIONING: Readiness = {
  reason: 'Provisioning',
  message: 'The load balancer is being created or changed',
};

/** What a Service asks for cannot be served. */
export const REFUSED = 'Refused';

/** Of a Service whose load balancer is as it should be, with these back ends. */
export function settledReadiness(backEnds: readonly BackEnd[]): Readiness {
  return backEnds.length > 0 ? READY : NO_NODES;
}

/** Of one for which something went wrong: its reason is the code of the cloud's error. */
export function failedReadiness(error: Error): Readiness {
  const words = isCloudError(error) ? error.code.split(/[^A-Za-z0-9]+/u) : ['failed'];
  const reason = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return { reason: REASONS[reason] ?? (/^[A-Z]/u.test(reason) ? reason : 'Failed'), message: reasonOf(error) };
}

/** Codes that say less than people look for. */
const REASONS: Readonly<Record<string, string>> = {
  Quota: 'QuotaExceeded',
  Invalid: REFUSED,
  Unsupported: REFUSED,
};

/** Of one that waits for these parts; `wanted`: to serve, else to be rid of them. */
export function waitingReadiness(parts: readonly string[], wanted: boolean): Readiness {
  // In one order: a cloud may list them otherwise each time.
  const what = parts.length > 0 ? parts.toSorted().join(', ') : 'the cloud to end what it has begun';
  return { reason: wanted ? 'WaitingForPart' : 'Deleting', message: `Waiting for ${what}` };
}

/** It needs no word: its load balancer was found as it should be, by a take-over or an upgrade, which write nothing to a Service that is right. */
export function needsNone(service: Service, { reason }: Readiness): boolean {
  return (reason === READY.reason || reason === NO_NODES.reason) && !readyConditionOf(service);
}

/** `undefined`: the Service says so already. */
export function readyConditionFor(service: Service, readiness: Readiness, now: number): Condition | undefined {
  const before = readyConditionOf(service);
  const message = cut(readiness.message);
  const { observed, wanted } = readyTexts(service, readiness);
  if (observed === wanted && isSameSense(before?.message ?? '', message)) return undefined;
  const { reason } = readiness;
  const { generation } = service.metadata ?? {};
  const status = statusOf(readiness);
  return {
    type: readyCondition,
    status,
    reason,
    message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : apiTime(now),
  };
}

/** What the condition says and what it should, but for words. */
export function readyTexts(
  service: Service,
  readiness: Readiness,
): { readonly observed: string; readonly wanted: string } {
  const { observedGeneration, reason, status } = readyConditionOf(service) ?? {};
  const wanted = [statusOf(readiness), readiness.reason, service.metadata?.generation].join(' ');
  const observed = [status, reason, observedGeneration].join(' ');
  return { observed: needsNone(service, readiness) ? wanted : observed, wanted };
}

const statusOf = ({ reason }: Readiness): string => (reason === 'Ready' ? 'True' : 'False');

export function readyConditionOf({ status }: Service): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === readyCondition);
}

/** Of one that was cut, which IDs of another length do elsewhere, as far as it goes. */
function isSameSense(one: string, other: string): boolean {
  // Somebody else's, of any length.
  if (one.length > MOST_CHARACTERS) return false;
  const [a, b] = [senseOf(one), senseOf(other)];
  return a === b || (one.endsWith(CUT) && b.startsWith(a)) || (other.endsWith(CUT) && a.startsWith(b));
}

/** Without numbers and IDs: those of a request differ with each try, which is no news. What was cut ends within a word. */
function senseOf(message: string): string {
  return message.replace(/[\w-]*\u2026$/u, '').replaceAll(/[\w-]*\d[\w-]*/gu, '');
}

function cut(message: string): string {
  return message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS - 1).toWellFormed()}${CUT}` : message;
}
