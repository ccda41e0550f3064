/** Why an object is as it is: what the running controllers know of it, put together. JSON, and without secrets. */
import type { CallRecord } from '@outrigger/cloud-runtime';
import type { AppliedAction, Finding, Standing } from '@outrigger/controllers';

export const explainedKinds = ['node', 'service', 'route'] as const;
export type ExplainedKind = (typeof explainedKinds)[number];

export function isExplainedKind(kind: string): kind is ExplainedKind {
  return (explainedKinds as readonly string[]).includes(kind);
}

export interface Explanation {
  readonly kind: ExplainedKind;
  /** `name`, `namespace/name`, or of a route its destination or ID. */
  readonly name: string;
  /** Milliseconds since the Unix epoch: all ages are counted from here. */
  readonly at: number;
  /** Nothing is applied: it only says what would be. */
  readonly dryRun: boolean;
  readonly findings: readonly Finding[];
  /** The last actions, the newest last. */
  readonly applied: readonly AppliedAction[];
  /** The last requests to the cloud for its sake, the newest last. */
  readonly calls: readonly CallRecord[];
}

/** How all objects of a kind stand. Without ages, so that it is the same as long as nothing changes. */
export interface ExplanationList {
  readonly kind: ExplainedKind;
  /** Nothing is applied: what is planned is what would be done. */
  readonly dryRun: boolean;
  /** Nodes with which all is well are left out, but for those that the leader has initialised itself. By controller, in no order. */
  readonly items: readonly ListedStanding[];
}

export interface ListedStanding extends Omit<Standing, 'planned'> {
  readonly planned: readonly ListedFact[];
}

/** `at`: when that happens at the earliest, or was seen; seconds since the Unix epoch. */
export interface ListedFact {
  readonly text: string;
  readonly at?: number;
}
