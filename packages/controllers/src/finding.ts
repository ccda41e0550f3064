/** What one controller says about one object when somebody asks why it is as it is. Data: JSON, without secrets. */

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

/** A controller that can say why it does what it does. */
export interface Explains {
  /** By the object's key (`name`, `namespace/name`, of a route its destination or ID). `undefined`: it has nothing to do with it. Reads memory only. */
  explain(key: string): Finding | undefined;
}
