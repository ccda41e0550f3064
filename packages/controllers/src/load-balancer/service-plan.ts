/** What may have to be done next about the load balancer of one Service. */
import type { DesiredLoadBalancer, LoadBalancerPlan, PartQuestion } from '@outrigger/cloud-provider';

/** The cloud may not have shown all. */
export interface LookAgain {
  readonly kind: 'look-again';
  /**
   * - `hidden`: the cloud, asked directly, says that what is missing is there.
   * - `quiet`: what was asked for a moment ago may still take effect.
   * - `waits`: the cloud cannot prove that it is gone; what is missing counts as gone when looks have left it out for a while.
   */
  readonly why: 'hidden' | 'quiet' | 'waits';
  /** What is expected besides, for people. */
  readonly missing: readonly string[];
  /** Until a look that shows no more is believed, in milliseconds. */
  readonly inMs: number;
}

/** What is to be done now, or that nothing is. */
export interface Bring {
  readonly kind: 'bring';
  readonly desired: DesiredLoadBalancer;
  readonly plan: LoadBalancerPlan;
  /** All is as it should be. With `wanted: false`: no part was seen. */
  readonly complete: boolean;
  /** Why what the Service asks for is refused: this is for the members of what is there alone. */
  readonly refused?: Error | undefined;
  /** This is for the members alone, since the last try failed; the rest comes after it. Default: false. */
  readonly membersFirst?: boolean;
  /** Why there is more to do, which waits. */
  readonly later?: LookAgain;
}

export type ServicePlan =
  | { readonly kind: 'nothing'; readonly reason: 'not-ours' | 'unclaimed' }
  /** `error`: by which the provider has said so. */
  | { readonly kind: 'nothing'; readonly reason: 'implemented-elsewhere'; readonly error: Error }
  /** The finalizer and the owner's name have to be on the Service before anything is made in the cloud. */
  | { readonly kind: 'record' }
  /** The cloud has to be asked before anything can be said. */
  | { readonly kind: 'observe' }
  | LookAgain
  /** A look leaves out what may be there: the cloud has to be asked about it directly. */
  | { readonly kind: 'ask'; readonly questions: readonly PartQuestion[] }
  /** No back end is left of those there were: nothing is changed until that is believed. */
  | { readonly kind: 'hold' }
  /** What the Service asks for can not be; nothing is changed. */
  | { readonly kind: 'refuse'; readonly error: Error }
  /** It could not be found out what is there, or what to do. */
  | { readonly kind: 'failed'; readonly wanted: boolean; readonly error: Error }
  /** Asked to let go of a load balancer in a cloud that does not answer. */
  | { readonly kind: 'release'; readonly error: Error }
  | Bring;
