/** What a run of a suite came to: the one value that the console, JUnit, HTML and the comparison of providers are rendered from. */

/**
 * `skipped`: the subject does not declare what the test is about. `unverifiable`: it does, and the run could not tell whether it keeps
 * the promise, for want of a hook, a right or a second machine; `reason` says which.
 */
export type Outcome = 'passed' | 'failed' | 'skipped' | 'unverifiable';

export interface TestResult {
  /** Stable between versions, as reports are compared by it: `instances / a stopped machine is there`. */
  readonly name: string;
  /** What it belongs to: `instances`, `load-balancers`, `routes`, `node-lifecycle`, … */
  readonly feature: string;
  readonly outcome: Outcome;
  /** Of what did not pass: one line. */
  readonly reason?: string;
  /** What was seen, of a failure: several lines. */
  readonly details?: string;
  /** Where the promise is written: an address, or a page of the repository. */
  readonly source: string;
  readonly durationSeconds: number;
}

export interface ConformanceReport {
  readonly suite: 'provider' | 'cluster';
  /** What was judged, and its version where that is known. */
  readonly subject: { readonly name: string; readonly version?: string };
  /** As in the API: RFC 3339, UTC. */
  readonly started: string;
  readonly finished: string;
  /** In the order in which they ran. */
  readonly results: readonly TestResult[];
  /** Of a run that was ended before all of its tests were: one line. It says nothing of the subject as a whole, and has not passed. */
  readonly stopped?: string;
}
