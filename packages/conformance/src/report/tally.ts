/** Outcomes counted, and in which order they are told. */
import type { ConformanceReport, Outcome, TestResult } from '../conformance-report.ts';

/** What a person has to look at comes first. */
export const OUTCOMES: readonly Outcome[] = ['failed', 'unverifiable', 'skipped', 'passed'];

export type Tally = Readonly<Record<Outcome, number>>;

export function tallyOf(results: readonly TestResult[]): Tally {
  const tally = { passed: 0, failed: 0, skipped: 0, unverifiable: 0 };
  for (const { outcome } of results) tally[outcome]++;
  return tally;
}

/** `3 failed, 1 skipped, 40 passed`: what there is none of is left out. */
export function tallyText(tally: Tally): string {
  const some = OUTCOMES.filter((outcome) => tally[outcome] > 0);
  return some.length === 0 ? 'no tests' : some.map((outcome) => `${tally[outcome]} ${outcome}`).join(', ');
}

/** Results by feature, both in the order in which they ran. */
export function byFeature(results: readonly TestResult[]): ReadonlyMap<string, readonly TestResult[]> {
  return Map.groupBy(results, ({ feature }) => feature);
}

/** `memory 1.2.0` */
export function subjectText({ subject }: ConformanceReport): string {
  return subject.version === undefined ? subject.name : `${subject.name} ${subject.version}`;
}

export function durationSeconds({ started, finished }: ConformanceReport): number {
  return (Date.parse(finished) - Date.parse(started)) / 1_000;
}
