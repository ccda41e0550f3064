/** What is remembered about one Service while this process runs. All of it can be lost: a new process finds out again. */
import {
  loadBalancerOwnerAnnotation,
  type BackEnd,
  type LoadBalancerIngress,
  type PartAnswer,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import type { FieldState } from '../contested-field.ts';
import { sameAddresses } from './back-ends.ts';
import type { Knowledge } from '../load-balancer/judge-look.ts';
import { KnownParts } from '../load-balancer/known-parts.ts';
import { identityOf, ingressOf } from './load-balancer-service.ts';
import type { TimedObservation } from './observations.ts';
import { partsRecordOf } from './parts-record.ts';
import { isRecorded } from './role.ts';
import type { Episode } from './service-events.ts';

/** So long after a request without an answer the cloud may still do what it asked for. */
export const UNCERTAIN_MS = 5_000;

interface Settled {
  readonly text: string;
  readonly backEnds: readonly BackEnd[];
  /** Of the back ends for which it is known to be so; `undefined` while others stand in for them. */
  generation: number | undefined;
  readonly ingress: readonly LoadBalancerIngress[];
}

/** A look, with what the cloud said when it was asked directly after it. */
interface AnsweredLook extends TimedObservation {
  readonly answers: ReadonlyMap<string, PartAnswer>;
}

export interface TrackedService {
  readonly uid: string;
  /** What the last pass began with: `wakingText`. */
  seen: string | undefined;
  /** What was last seen to be as it should. */
  settled: Settled | undefined;
  /** What became of its addresses, where another writer has undone them. */
  ingressField: FieldState | undefined;
  /** What its members are, whatever it asks for: set while that is refused. */
  followed: readonly BackEnd[] | undefined;
  /** Something was asked of the cloud since then: it is no more as it was, also for who wants just that again. */
  touched: boolean;
  /** Set between the first action and the end. */
  episode: Episode | undefined;
  /** The actions of the last plan that was carried out; JSON. */
  lastActions: string | undefined;
  polls: number;
  /** The provider's own measure for what it was last asked to do; then ever longer. */
  pollMs: number | undefined;
  /** Since when no back end is left; monotonic. */
  emptySince: number | undefined;
  /** Nothing that was asked for earlier can still take effect from here on; monotonic. */
  quietFrom: number;
  /** When the change of nodes settled that it is being updated for; monotonic. */
  nodesChangedAt: number | undefined;
  /** What is known of its parts. */
  knowledge: Knowledge;
  /** All is gone, and the finalizer is being removed. */
  lettingGo: boolean;
  /** What the cloud showed last, acted on or not: for explanations. */
  lastLook: AnsweredLook | undefined;
  /** The cloud's own tasks that the last actions began. */
  handles: readonly string[];
  /** What went wrong last, with when (monotonic) and what is done about it. */
  lastFailure: { readonly error: Error; readonly at: number; readonly retryAfterMs: number | undefined } | undefined;
}

/** `startedAt`: of this process, before which another may have asked the cloud for something; monotonic. */
export function trackService(service: Service, providerName: string, startedAt: number): TrackedService {
  const recorded = isRecorded(service, providerName);
  const begun = recorded || ingressOf(service).length > 0;
  const record = recorded ? partsRecordOf(service) : undefined;
  return {
    uid: service.metadata?.uid ?? '',
    seen: undefined,
    settled: undefined,
    ingressField: undefined,
    followed: undefined,
    touched: false,
    episode: undefined,
    lastActions: undefined,
    polls: 0,
    pollMs: undefined,
    emptySince: undefined,
    quietFrom: recorded ? startedAt + UNCERTAIN_MS : startedAt,
    nodesChangedAt: undefined,
    knowledge: { parts: new KnownParts(begun, record), wait: undefined },
    lettingGo: false,
    lastLook: undefined,
    handles: [],
    lastFailure: undefined,
  };
}

/** All of a Service that a load balancer may depend on, without what this controller writes itself. */
export function wakingText(service: Service): string {
  const { ingress: _, annotations, ...rest } = identityOf(service);
  const { [loadBalancerOwnerAnnotation]: __, ...others } = annotations;
  const { type, loadBalancerSourceRanges } = service.spec ?? {};
  const deleting = service.metadata?.deletionTimestamp;
  return JSON.stringify({ ...rest, annotations: others, type, loadBalancerSourceRanges, deleting });
}

export function sameBackEnds(a: readonly BackEnd[], b: readonly BackEnd[]): boolean {
  return (
    a === b ||
    (a.length === b.length &&
      a.every((one, i) => {
        const other = b[i];
        return (
          one === other ||
          (one.node.uid === other?.node.uid &&
            one.node.providerID === other.node.providerID &&
            sameAddresses(one.addresses, other.addresses))
        );
      }))
  );
}
