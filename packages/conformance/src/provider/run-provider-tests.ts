/** Runs tests against a subject, one after the other, and gives what came of them. */
import { inspect } from 'node:util';
import { isCloudError } from '@outrigger/cloud-provider';
import { systemClock, withDeadline } from '@outrigger/kube';
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { CUT_OFF, stoppedRun } from '../stopped-run.ts';
import { whyLeftOut, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import { ProviderRig, type ProviderSubject } from './provider-rig.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import { providerTests } from './provider-tests.ts';

export interface RunProviderOptions {
  /** Default: all. */
  readonly tests?: readonly ConformanceTest[];
  /** What is judged, for the report. Default: the name that the provider gives itself. */
  readonly name?: string;
  readonly version?: string;
  /** No test takes longer, in milliseconds, but for taking away what it made. Default: 30 minutes. */
  readonly testTimeoutMs?: number;
  /** Ends the run: the test that is under way is `unverifiable`, and what it made is taken away before this resolves. */
  readonly signal?: AbortSignal;
  readonly onResult?: (result: TestResult) => void;
  /** Hears of each thing that a test has made and that could not be taken away: one line. */
  readonly onLeft?: (line: string) => void;
}

const TEST_TIMEOUT_MS = 30 * 60_000;
/** A test that is ended may be amid the making of a machine: for so long it may come to that end, and not longer than any test may take. */
const GRACE_MS = 120_000;

export async function runProviderTests<F extends ProviderFixture>(
  subject: ProviderSubject<F>,
  { tests = providerTests, ...options }: RunProviderOptions = {},
): Promise<ConformanceReport> {
  const started = new Date(systemClock.now()).toISOString();
  const { name = await nameOf(subject), version } = options;
  const results: TestResult[] = [];
  for (const test of tests) {
    if (options.signal?.aborted) break;
    const result = await runProviderTest(subject, test, options);
    results.push(result);
    options.onResult?.(result);
  }
  return {
    suite: 'provider',
    subject: { name, ...(version !== undefined && { version }) },
    started,
    finished: new Date(systemClock.now()).toISOString(),
    results,
    ...(options.signal?.aborted && stoppedRun(tests.length, results)),
  };
}

/** One test over a fixture of its own. Never rejects. */
export async function runProviderTest<F extends ProviderFixture>(
  subject: ProviderSubject<F>,
  test: ConformanceTest,
  options: Pick<RunProviderOptions, 'signal' | 'testTimeoutMs' | 'onLeft'> = {},
): Promise<TestResult> {
  const since = systemClock.monotonic();
  const { feature, name, source } = test;
  const found = await outcomeOf(test, () => tried(subject as unknown as ProviderSubject, test, options));
  const isStopped = options.signal?.aborted === true && found.outcome === 'failed';
  const told: Found = isStopped ? CUT_OFF : found;
  return { name, feature, source, durationSeconds: (systemClock.monotonic() - since) / 1000, ...told };
}

type Found = Pick<TestResult, 'outcome' | 'reason' | 'details'>;

async function tried(
  subject: ProviderSubject,
  test: ConformanceTest,
  { onLeft, signal, testTimeoutMs = TEST_TIMEOUT_MS }: Pick<RunProviderOptions, 'signal' | 'testTimeoutMs' | 'onLeft'>,
): Promise<Found> {
  const limits = { clock: systemClock, timeoutMs: testTimeoutMs, what: test.name };
  const end = new AbortController();
  const cut = signal ? AbortSignal.any([signal, end.signal]) : end.signal;
  await using rig = await withDeadline(limits, () => ProviderRig.open(subject, { signal: cut, onLeft }));
  const leftOut = whyLeftOut(test, rig.capabilities, rig.fixture);
  if (leftOut) return leftOut;
  const run = test.run(rig);
  try {
    await withDeadline({ ...limits, ...(signal && { signal }) }, () => run);
  } catch (error) {
    end.abort(error);
    const grace = { ...limits, timeoutMs: Math.min(testTimeoutMs, GRACE_MS) };
    await withDeadline(grace, () => run).catch(() => undefined);
    throw error;
  }
  return { outcome: 'passed' };
}

async function outcomeOf(test: ConformanceTest, work: () => Promise<Found>): Promise<Found> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.split('\n', 1)[0] || test.name;
    if (error instanceof NotVerifiable) return { outcome: 'unverifiable', reason };
    return { outcome: 'failed', reason, details: detailsOf(error, message) };
  }
}

/** An assertion's message has what was seen and what should be; a stack of the suite's own says nothing to an author. */
function detailsOf(error: unknown, message: string): string {
  if (!isCloudError(error)) return error instanceof Error ? (error.stack ?? message) : message;
  return inspect(error, { depth: 4 });
}

async function nameOf<F extends ProviderFixture>(subject: ProviderSubject<F>): Promise<string> {
  const fixture = await subject.fixture();
  try {
    return (await subject.provider(fixture)).name;
  } finally {
    await fixture[Symbol.asyncDispose]();
  }
}
