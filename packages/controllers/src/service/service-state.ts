/** What is known of one Service while this process runs: one value. All of it can be lost: a new process finds out again. */
import type { BackEnd, LoadBalancerIngress, LoadBalancerPart, PartAnswer } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import type { FieldState } from '../contested-field.ts';
import type { Knowledge } from '../load-balancer/judge-look.ts';
import { KnownParts } from '../load-balancer/known-parts.ts';
import { ingressOf } from './load-balancer-service.ts';
import type { TimedObservation } from './observations.ts';
import { partsRecordOf } from './parts-record.ts';
import { isRecorded } from './role.ts';
import type { Readiness } from './readiness.ts';
import type { Episode } from './service-events.ts';

/** So long after a request without an answer the cloud may still do what it asked for. */
export const UNCERTAIN_MS = 5_000;
/** What was last seen to be as it should. */
export interface Settled {
  /** `wakingText` of the Service then. */
  readonly text: string;
  readonly backEnds: readonly BackEnd[];
  readonly ingress: readonly LoadBalancerIngress[];
  /**
   * The generation of back ends for which it is known to be so. `stand-in`: these back ends stand in for none. `touched`: the cloud
   * was looked at since, which has not ended as it should; it may be no more as it was, also for who wants just that again.
   */
  readonly upTo: number | 'stand-in' | 'touched';
  /** From here on it is looked at again, although nothing has changed; monotonic. */
  readonly againAt?: number | undefined;
}

/** Under way since the first action, until all is as it should be. */
interface Work {
  readonly episode: Episode;
  /** The actions of the last plan that was carried out; JSON. The same again: the cloud does not show what it has done. */
  readonly done: string | undefined;
  /** The cloud's own tasks that the last actions began. */
  readonly handles: readonly string[];
}

/** What the cloud showed last, with what it said when it was asked directly after that. */
export interface SeenLook extends TimedObservation {
  readonly answers: ReadonlyMap<string, PartAnswer>;
  /** It was acted on, or is too old: it is kept for explanations alone. */
  readonly isSpent: boolean;
}

/** The parts that it shows; none, where the cloud was not asked or has failed. */
export function partsOf(look: SeenLook | undefined): readonly LoadBalancerPart[] {
  return look?.observation.kind === 'parts' ? look.observation.parts : [];
}

export interface ServiceState {
  readonly uid: string;
  /** The object itself is gone, and was this. */
  readonly leftover: Service | undefined;
  /** `wakingText` of what the last pass began with; `undefined`: the next change is news, whatever it is. */
  readonly wish: string | undefined;
  readonly settled: Settled | undefined;
  readonly work: Work | undefined;
  readonly look: SeenLook | undefined;
  /** So many looks in a row were worth nothing, since others have acted under the same lock meanwhile. */
  readonly overtaken: number;
  /** What is known of its parts. */
  readonly knowledge: Knowledge;
  /** Nothing that was asked for earlier can still take effect from here on; monotonic. */
  readonly quietFrom: number;
  /** A request of this process that had no answer may still take effect until here: nothing is settled by a look from before; monotonic. */
  readonly uncertainUntil: number;
  /** Since when no back end is left; monotonic. */
  readonly emptySince: number | undefined;
  /** The last resource version that a pass has seen with its record. */
  readonly recordedIn: string | undefined;
  /** For which back ends it was tried last. */
  readonly tried: readonly BackEnd[] | undefined;
  /** The last change of nodes that it was looked at for (monotonic), and whether that is still to be done. */
  readonly nodes: { readonly changedAt: number; readonly isDue: boolean } | undefined;
  readonly addresses: {
    /** Own ones that looks have shown, of now and of the status. */
    readonly shown: ReadonlySet<string>;
    /** Those of the status that looks leave out, one after the other, since when (monotonic). */
    readonly unshownSince: ReadonlyMap<string, number>;
    /** What was taken from the status since the Service was as it should be. */
    readonly withdrawn: readonly LoadBalancerIngress[];
  };
  /** What became of its addresses, where another writer has undone them. */
  readonly statusField: FieldState | undefined;
  /** The same of its record. */
  readonly recordField: FieldState | undefined;
  /** That it waits for what the cloud does not show is in the log; of this process, until it is served. */
  readonly isWaitLogged: boolean;
  readonly polls: number;
  /** The provider's own measure for what it was last asked to do; then ever longer. */
  readonly pollMs: number | undefined;
  /** Failures in a row. */
  readonly failures: number;
  /** Of one that is gone: for how much the answers about what its record names count towards giving it up. */
  readonly unreadable: number;
  /** What went wrong last, with when (monotonic) and what is done about it. */
  readonly lastFailure:
    | {
        readonly error: Error;
        readonly at: number;
        readonly retryAfterMs: number | undefined;
        /** Of members that went before the rest. */
        readonly ofMembers: boolean;
      }
    | undefined;
  /** What the Service is to say of itself; `undefined`: that is not known yet. */
  readonly readiness: Readiness | undefined;
  /** What it is to say of the request to adopt parts; `undefined`: that is not known yet. */
  readonly adoption: Readiness | undefined;
  /** Nothing is left to do: the finalizer is being removed, or gone. */
  readonly isLetGo: boolean;
}

/** Whose `providerName` is recorded, and since when (monotonic) this process runs: before, another may have asked the cloud for something. */
export interface Beginning {
  readonly options: { readonly providerName: string };
  readonly startedAt: number;
}

/** What is known, where it is of this very Service; else what can be known of one that is new to this process. */
export function stateOf(known: ServiceState | undefined, service: Service, beginning: Beginning): ServiceState {
  const { options, startedAt } = beginning;
  const { uid = '' } = service.metadata ?? {};
  return known?.uid === uid ? known : newState(service, uid, options.providerName, startedAt);
}

function newState(service: Service, uid: string, providerName: string, startedAt: number): ServiceState {
  const recorded = isRecorded(service, providerName);
  const begun = recorded || ingressOf(service).length > 0;
  const record = recorded ? partsRecordOf(service) : undefined;
  return {
    uid,
    leftover: undefined,
    wish: undefined,
    settled: undefined,
    work: undefined,
    look: undefined,
    overtaken: 0,
    knowledge: { parts: new KnownParts(begun, record), wait: undefined, isShown: false, isProved: false },
    quietFrom: recorded ? startedAt + UNCERTAIN_MS : startedAt,
    uncertainUntil: -Infinity,
    emptySince: undefined,
    recordedIn: undefined,
    tried: undefined,
    nodes: undefined,
    addresses: { shown: new Set(), unshownSince: new Map(), withdrawn: [] },
    statusField: undefined,
    recordField: undefined,
    isWaitLogged: false,
    polls: 0,
    pollMs: undefined,
    failures: 0,
    unreadable: 0,
    lastFailure: undefined,
    readiness: undefined,
    adoption: undefined,
    isLetGo: false,
  };
}
