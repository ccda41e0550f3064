/** What the server tells the page. Types only: both sides are compiled apart. Times are milliseconds since the Unix epoch. */

/** What one controller plans for an object, or waits for. */
export interface Line {
  readonly controller: string;
  readonly state: string;
  readonly planned: readonly LineFact[];
}

/** `at`: seconds since the Unix epoch: when that happens at the earliest, or was seen. */
interface LineFact {
  readonly text: string;
  readonly at?: number;
}

export interface Part {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
}

/** In the order in which they are shown: the worst first. */
export type NodeState = 'held' | 'waiting' | 'not-ready' | 'shut-down' | 'deleting' | 'ready';

export interface NodeRow {
  readonly name: string;
  /** Empty: none is known. */
  readonly zone: string;
  readonly state: NodeState;
  readonly type: string;
  readonly address: string;
  readonly providerID: string;
  readonly podCIDRs: string;
  readonly created: number;
  /** From registration until it was initialised, where the leader did that. */
  readonly tookMs?: number | undefined;
  readonly lines: readonly Line[];
}

export type ServiceState = 'failing' | 'waiting' | 'deleting' | 'ready' | 'unknown';

export interface ServiceRow {
  /** `namespace/name`. */
  readonly name: string;
  readonly state: ServiceState;
  readonly addresses: string;
  readonly ports: string;
  readonly loadBalancerClass: string;
  readonly created: number;
  /** What of it is in the cloud. `undefined`: the leader does not say. */
  readonly parts?: readonly Part[] | undefined;
  readonly lines: readonly Line[];
}

export interface RouteRow {
  /** Unique among the routes. */
  readonly name: string;
  readonly destination: string;
  readonly state: string;
  readonly to: string;
  readonly lines: readonly Line[];
}

export interface OrphanRow {
  /** By which it is explained. */
  readonly name: string;
  readonly kind: 'service' | 'route';
  readonly parts: readonly Part[];
  readonly lines: readonly Line[];
}

/** Of a dry run: what would be done for one object. */
export interface Planned {
  readonly controller: string;
  readonly subject: { readonly kind: string; readonly name: string };
  /** RFC 3339. */
  readonly since: string;
  readonly actions: readonly { readonly summary: string; readonly changes?: readonly Change[] }[];
  /** What to open. Absent: the leader plans what this version does not know. */
  readonly explanation?: { readonly kind: string; readonly name: string } | undefined;
}

/** Of a field: JSON. Absent: it is not there. */
export interface Change {
  readonly field: string;
  readonly from?: string;
  readonly to?: string;
}

export interface Tables {
  readonly nodes: NodeRow;
  readonly services: ServiceRow;
  readonly routes: RouteRow;
  readonly orphans: OrphanRow;
}
export type TableName = keyof Tables;

/** Whether a source of what is shown answers. */
export interface SourceState {
  /** When it answered last; 0: never. */
  readonly at: number;
  /** Why it does not, in one sentence. Absent: it does. */
  readonly error?: string | undefined;
}

export interface BudgetSample {
  readonly at: number;
  /** Requests that were sent since the sample before, a minute. */
  readonly perMinute: number;
  /** Of them those that the cloud refused as there were too many, a minute. */
  readonly throttledPerMinute: number;
}

export interface StatusProblem {
  readonly severity: 'error' | 'warning';
  readonly about?: string;
  readonly message: string;
  readonly remedy?: string;
  readonly commands: readonly string[];
  readonly runbook?: string;
}

/** One line of the overview, such as `leader`. `state`: `unknown` where it could not be read. */
export interface StatusItem {
  readonly name: string;
  readonly state: 'ok' | 'error' | 'unknown';
  readonly text: string;
}

export interface Facts {
  /** URL of the API server. */
  readonly server: string;
  readonly api: SourceState;
  readonly leader: SourceState & { readonly url: string };
  readonly dryRun: boolean;
  readonly items: readonly StatusItem[];
  /** `undefined`: nobody has judged the cluster yet. */
  readonly problems?: readonly StatusProblem[] | undefined;
  readonly budget: readonly BudgetSample[];
}

interface TableChange<T> {
  readonly set: readonly T[];
  readonly gone: readonly string[];
}

/** An event of the stream. `reset`: forget all of it first. */
export type Update = {
  readonly reset?: boolean;
  readonly facts?: Partial<Facts>;
} & { readonly [Name in TableName]?: TableChange<Tables[Name]> };
