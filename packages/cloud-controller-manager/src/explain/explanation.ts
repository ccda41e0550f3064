/** Why an object is as it is: what the running controllers know of it, put together. JSON, and without secrets. */
import type { CallRecord } from '@outrigger/cloud-runtime';
import type { AppliedAction, Finding } from '@outrigger/controllers';

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
