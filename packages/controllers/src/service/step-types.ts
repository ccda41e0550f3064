/** What a step is given and what it gives: events, the surroundings that it reads, and effects. Data; carried out by `service-effects.ts`. */
import type {
  BackEnd,
  LoadBalancerAction,
  LoadBalancerActionResult,
  LoadBalancers,
  PartAnswer,
  PartQuestion,
} from '@outrigger/cloud-provider';
import type { EventNote, ObjectMeta, Patch, Service } from '@outrigger/kube';
import type { NotedAction } from '../journal.ts';
import type { Applied } from '../load-balancer/apply-actions.ts';
import type { Bring } from '../load-balancer/service-plan.ts';
import type { BackEndProvider } from './back-ends.ts';
import type { ForeignOwnerOptions } from './foreign-owner.ts';
import type { TimedObservation } from './observations.ts';
import type { ObservedService } from './plan.ts';
import type { SeenLook, ServiceState } from './service-state.ts';

/** What has happened to one Service. `Surroundings.service` is what it is about. */
export type ServiceEvent =
  /** The store has a new version of it, which is not older than our last write. */
  | { readonly kind: 'changed' }
  /** The object is gone. `successor`: another one has its name. */
  /** `isSeen`: the API server has said that it was deleted, and no list lacks it merely. */
  | { readonly kind: 'vanished'; readonly successor: Service | undefined; readonly isSeen: boolean }
  /** Back ends have changed, and a settled change of nodes is over; monotonic. */
  | { readonly kind: 'nodes-changed'; readonly at: number }
  /** Another Service, which may share its load balancer, has lost an address that its status says. */
  | { readonly kind: 'address-lost'; readonly lost: readonly string[] }
  /** A changed cloud config was taken. */
  | { readonly kind: 'reconfigured' }
  /** It is gone itself, and there are too many of such. */
  | { readonly kind: 'crowded-out' }
  /** The cloud has said what there is. */
  | { readonly kind: 'looked'; readonly look: TimedObservation }
  /** Its turn has come, and the store has not seen our last write yet. */
  | { readonly kind: 'behind' }
  /** Its turn has come: a pass begins, under the lock of its load balancer. All below are of a pass. */
  | { readonly kind: 'due' }
  /** `metadata`: what the server answered; `undefined`: the Service is gone, another one or was written meanwhile, or this is a dry run. */
  | { readonly kind: 'written'; readonly write: Write; readonly metadata: ObjectMeta | undefined }
  /** `answers`: `undefined`: as many wait for theirs as may. */
  | { readonly kind: 'read'; readonly read: Read; readonly answers: readonly PartAnswer[] | undefined }
  /** `found`: what the API server has under its name. */
  | { readonly kind: 'confirmed'; readonly bring: Bring; readonly found: Service | undefined }
  /** The cloud has said what there is, while nothing else was done under the lock. */
  | { readonly kind: 'seen'; readonly look: TimedObservation }
  /** One action of those that are being carried out. */
  | { readonly kind: 'applied'; readonly action: LoadBalancerAction; readonly result: LoadBalancerActionResult }
  /** All of them, or those up to the first that failed. */
  | { readonly kind: 'ended'; readonly bring: Bring; readonly applied: Applied }
  /** A write, or the step itself, has thrown. */
  | { readonly kind: 'failed'; readonly error: Error };

/** What all steps of one process have in common. */
export interface Rules {
  readonly options: ObservedService['options'] & ForeignOwnerOptions & BackEndProvider;
  /** The provider, whose selections of back ends are shared. */
  readonly planner: ObservedService['provider'];
  readonly cloud: Pick<LoadBalancers, 'consistency' | 'listLagMs' | 'lockKey' | 'namedByOwner' | 'read'>;
  /** By its UID. */
  readonly serviceOf: (uid: string) => Service | undefined;
  /** Of this process; monotonic. */
  readonly startedAt: number;
  readonly dryRun: boolean;
  /** Takes secrets out of a text that others will read. */
  readonly redact: (text: string) => string;
}

/** What a step reads besides the state. */
export interface Surroundings {
  readonly rules: Rules;
  /** As the store has it; within a pass, as the server answered since. */
  readonly service: Service;
  /** Dry run: what would have been done before, in this pass. */
  readonly before: readonly NotedAction[];
  /** Monotonic. */
  readonly now: number;
  /** Milliseconds since the epoch. */
  readonly wallNow: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly backEnds: readonly BackEnd[];
  /** Of the back ends: now; within a pass, when it began. */
  readonly generation: number;
  readonly newestGeneration: number;
  /** When something was last done under the lock of its load balancer; monotonic. */
  readonly appliedAt: number;
}

/** What a step wants besides `Next`, in this order, and whose outcome it does not ask for. */
export type Effect =
  /** Once, and again after half an hour. */
  | { readonly kind: 'tell'; readonly note: EventNote }
  | { readonly kind: 'record'; readonly note: EventNote }
  /** Tells who else writes this part of the status. */
  | { readonly kind: 'tell-contested'; readonly field: 'conditions' | 'loadBalancer' }
  | {
      readonly kind: 'log';
      readonly level: 'error' | 'warn' | 2 | 4;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** Dry run: what would be done. */
  | { readonly kind: 'plan'; readonly actions: readonly NotedAction[] }
  /** The cloud is asked what there is, beside what comes next: `LOOK` waits for that answer. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'count'; readonly what: 'sync' | 'node-sync-error' | 'given-up' }
  | { readonly kind: 'updated'; readonly afterMs: number }
  /** Its load balancer is gone. */
  | { readonly kind: 'forget-lock' }
  /** Nothing is known of it any more. `isGone`: the object is gone too, and nobody is told anything about it again. */
  | { readonly kind: 'forget'; readonly isGone: boolean }
  /** The object is gone, and its load balancer is cleaned up under a key of its own. */
  | { readonly kind: 'leave-over'; readonly state: ServiceState };

/** A patch of the Service, and what it is for. */
export interface Write {
  readonly purpose: 'record' | 'open' | 'wait' | 'condition' | 'settle' | 'pending' | 'ingress' | 'withdraw' | 'let-go';
  readonly action: NotedAction;
  readonly patch: Patch;
  /** What goes on after it. */
  readonly bring?: Bring;
  readonly note?: EventNote | undefined;
  readonly afterwards?: Next;
}

/** Direct questions about parts, after this look. */
export interface Read {
  readonly look: SeenLook;
  readonly questions: readonly PartQuestion[];
}

/** What comes next, of which there is exactly one: what is done and gives the next event of the pass, or what it waits for. */
export type Next =
  | { readonly kind: 'write'; readonly write: Write }
  | { readonly kind: 'read'; readonly read: Read }
  /** The API server is asked whether it is still there. */
  | { readonly kind: 'confirm'; readonly bring: Bring }
  | { readonly kind: 'apply'; readonly bring: Bring }
  /** The cloud is asked what there is, whose answer wakes it; `underLock`: the pass goes on with it, and nothing else is done meanwhile. */
  | { readonly kind: 'look'; readonly underLock?: boolean }
  /** Its turn comes again. */
  | { readonly kind: 'wake'; readonly afterMs: number }
  /** Nothing, until something changes. */
  | { readonly kind: 'rest' };

export interface Step {
  /** `undefined`: nothing is known of it. */
  readonly state: ServiceState | undefined;
  readonly effects: readonly Effect[];
  readonly next: Next;
}

export const REST: Next = { kind: 'rest' };
export const LOOK: Next = { kind: 'look' };
export const wake = (afterMs = 0): Next => ({ kind: 'wake', afterMs });

/** The same step after these effects. */
export function after(effects: readonly Effect[], step: Step): Step {
  return effects.length === 0 ? step : { ...step, effects: [...effects, ...step.effects] };
}
