/** Runs the tests against a cluster, several at a time, and gives what came of them; then takes away what they made. */
import { isForbidden, raceAbort, type Client, type Clock } from '@outrigger/kube';
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { CUT_OFF, stoppedRun } from '../stopped-run.ts';
import { boundedFixture } from './bounded-fixture.ts';
import type { ClusterFixture } from './cluster-fixture.ts';
import { ClusterRig } from './cluster-rig.ts';
import { whyLeftOut, type Chosen, type ClusterTest } from './cluster-test.ts';
import { clusterTests } from './cluster-tests.ts';
import { OwnObjects } from './own-objects.ts';
import { Patience } from './patience.ts';
import { BrokenPromise, NotDeclared, NotVerifiable } from './verdict.ts';

export interface RunClusterOptions extends Omit<Chosen, 'fixture'> {
  readonly client: Client;
  readonly clock: Clock;
  readonly fixture?: ClusterFixture | undefined;
  readonly subject: ConformanceReport['subject'];
  /** Milliseconds that anything is waited for, each step of the removal of what was made included. */
  readonly timeoutMs: number;
  /** Milliseconds in which what must not happen does not. */
  readonly quietMs: number;
  /** Tests at a time. */
  readonly concurrency: number;
  /** Tests whose names hold one of these texts; empty: all. */
  readonly only: readonly string[];
  /** Random, in lower case, for the names of what is made. */
  readonly run: string;
  readonly signal: AbortSignal;
  readonly onResult?: (result: TestResult) => void;
}

export interface ClusterRun {
  readonly report: ConformanceReport;
  /** One line for each thing that could not be taken away. */
  readonly left: readonly string[];
}

/** Rejects when nothing could be begun: what the API server says to the making of a namespace. */
export async function runClusterTests(options: RunClusterOptions): Promise<ClusterRun> {
  const { client, clock, only, quietMs, run, signal, subject, timeoutMs } = options;
  const fixture = options.fixture && boundedFixture(options.fixture, { clock, timeoutMs });
  const started = new Date(clock.now()).toISOString();
  const chosen = clusterTests.filter(({ name }) => only.length === 0 || only.some((text) => name.includes(text)));
  const own = new OwnObjects({ client, clock, fixture, run, timeoutMs, signal });
  await own.open();
  let results: readonly TestResult[] = [];
  let left: readonly string[] = [];
  let stopped: Pick<ConformanceReport, 'stopped'> = {};
  try {
    const patience = new Patience({ clock, timeoutMs, quietMs, signal });
    const { node } = options;
    await using rig = new ClusterRig({ client, patience, own, fixture, node, now: () => clock.now() });
    results = await allOf(chosen, rig, options);
    if (signal.aborted) stopped = stoppedRun(chosen.length, results);
  } finally {
    left = await own.remove();
  }
  const finished = new Date(clock.now()).toISOString();
  return { report: { suite: 'cluster', subject, started, finished, results, ...stopped }, left };
}

async function allOf(
  tests: readonly ClusterTest[],
  rig: ClusterRig,
  options: RunClusterOptions,
): Promise<readonly TestResult[]> {
  const results = new Map<ClusterTest, TestResult>();
  const work = async (queue: ClusterTest[]): Promise<void> => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      const result = await resultOf(test, rig, options);
      results.set(test, result);
      options.onResult?.(result);
    }
  };
  const together = tests.filter(({ alone }) => !alone);
  await Promise.all(Array.from({ length: options.concurrency }, () => work(together)));
  await work(tests.filter(({ alone }) => alone));
  return tests.flatMap((test) => results.get(test) ?? []);
}

async function resultOf(test: ClusterTest, rig: ClusterRig, options: RunClusterOptions): Promise<TestResult> {
  const { clock, signal } = options;
  const { name, feature, source } = test;
  const since = clock.monotonic();
  const found = await outcomeOf(test, rig, options, signal);
  return { name, feature, source, durationSeconds: (clock.monotonic() - since) / 1_000, ...found };
}

async function outcomeOf(
  test: ClusterTest,
  rig: ClusterRig,
  { disruptive, features, fixture, node }: RunClusterOptions,
  signal: AbortSignal,
): Promise<Pick<TestResult, 'outcome' | 'reason' | 'details'>> {
  const leftOut = whyLeftOut(test, { disruptive, features, fixture, node });
  if (leftOut) return leftOut;
  try {
    signal.throwIfAborted();
    await raceAbort(rig.own.during(test.run(rig)), signal);
    return { outcome: 'passed' };
  } catch (error) {
    if (signal.aborted) return CUT_OFF;
    const reason = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
    // A right that the run lacks says nothing of the manager.
    if (error instanceof NotVerifiable || isForbidden(error)) return { outcome: 'unverifiable', reason };
    if (error instanceof NotDeclared) return { outcome: 'skipped', reason };
    const details = error instanceof BrokenPromise ? error.details : error instanceof Error ? error.stack : undefined;
    return { outcome: 'failed', reason, ...(details && { details }) };
  }
}
