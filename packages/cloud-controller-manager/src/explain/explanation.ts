/** Why an object is as it is: what the running controllers know of it, put together. JSON, and without secrets. */
import type { CallRecord } from '@outrigger/cloud-runtime';
import { DELETED, type AppliedAction, type Finding, type Standing, type Subject } from '@outrigger/controllers';

export type ExplainedKind = 'node' | 'service' | 'route' | 'persistentvolume' | 'certificatesigningrequest';

/** As what each kind of object is explained that a plan may be about. */
const EXPLAINED: Readonly<Record<Subject['kind'], ExplainedKind>> = {
  Node: 'node',
  Service: 'service',
  Route: 'route',
  PersistentVolume: 'persistentvolume',
  CertificateSigningRequest: 'certificatesigningrequest',
  // Of a load balancer without a Service: by the UID of the one that it was of.
  LoadBalancerPart: 'service',
};

export const explainedKinds: readonly ExplainedKind[] = [...new Set(Object.values(EXPLAINED))];

/** Of which there is a list of how all of them stand. */
export const listedKinds: readonly ExplainedKind[] = ['node', 'service', 'route'];

export function isExplainedKind(kind: string): kind is ExplainedKind {
  return (explainedKinds as readonly string[]).includes(kind);
}

/** What to ask for to have the explanation of what is planned. `undefined`: another version plans what this one does not know. */
export function explanationOf({
  kind,
  name,
  uid,
}: Subject): { readonly kind: ExplainedKind; readonly name: string } | undefined {
  const explained = (EXPLAINED as Readonly<Partial<Record<string, ExplainedKind>>>)[kind];
  return explained && { kind: explained, name: name.endsWith(DELETED) ? uid : name };
}

export interface Explanation {
  readonly kind: ExplainedKind;
  /** `name`, `namespace/name`, of a route its destination or ID, of a Service that is deleted its UID. */
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
