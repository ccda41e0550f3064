/** What one controller says about one object when somebody asks why it is as it is. Data: JSON, without secrets. */

import type { KubeObject } from '@outrigger/kube';

/** A sentence, and how far away in time what it says is. */
export interface Fact {
  /** Ends with a full stop. */
  readonly text: string;
  /** How long ago that was seen, in milliseconds. */
  readonly agoMs?: number;
  /** In how many milliseconds that will happen at the earliest. */
  readonly inMs?: number;
}

export interface Finding {
  /** As in `--controllers`. */
  readonly controller: string;
  /** By what the journal and the log of cloud calls know it: UIDs, `Route <destination>`. */
  readonly about: readonly string[];
  readonly observed: readonly Fact[];
  /** What is planned now, or why nothing is. Never empty. */
  readonly planned: readonly Fact[];
}

/** One line of a list: an object, and how it stands with one controller. Data: JSON, without secrets. */
export interface Standing {
  /** By which it is explained. */
  readonly name: string;
  /** As in `--controllers`. */
  readonly controller: string;
  /** One word: the kind of its plan, of a Service that is as it should be `ready`, of a route `owned` or `foreign`. */
  readonly state: string;
  /** What is planned or waited for. Empty: nothing. */
  readonly planned: readonly Fact[];
  /** Of a Service: what of its load balancer the cloud showed last. */
  readonly parts?: readonly StandingPart[];
  /** Of a route: the machine to which it leads. */
  readonly to?: string;
  /** Of a node that this process has initialised: how long after its registration, in milliseconds. */
  readonly tookMs?: number;
}

/** `state`: see there. The rest is as the object is explained. */
export function standingOf({ metadata }: KubeObject, state: string, finding: Finding | undefined): Standing {
  const { controller = '', planned = [] } = finding ?? {};
  return { name: metadata?.name ?? '', controller, state, planned };
}

/** What of an object is in the cloud. */
export interface StandingPart {
  readonly kind: string;
  readonly id: string;
  /** `ready`, `pending`, `deleting` or `failed`. */
  readonly state: string;
}

/** A controller that can say why it does what it does. */
export interface Explains {
  /** By the object's key (`name`, `namespace/name`, of a route its destination or ID, of a Service that is deleted its UID). `undefined`: it has nothing to do with it. Reads memory only. */
  explain(key: string): Finding | undefined;
  /**
   * Nodes for which something is planned or waited for, or that it has initialised; all Services that it looks after, all routes of the cloud; `kind` is `node`, `service`
   * or `route`. Reads memory only, a line at a time: whoever asks may stop in between. Default: it lists nothing.
   */
  list?(kind: string): Iterable<Standing>;
}
