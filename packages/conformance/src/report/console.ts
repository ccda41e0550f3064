/** A report as lines of plain text. */
import type { ConformanceReport, TestResult } from '../conformance-report.ts';
import { printable, printableLine } from './printable-text.ts';
import { byFeature, durationSeconds, subjectText, tallyOf, tallyText } from './tally.ts';

const WORD_WIDTH = 'unverifiable'.length;

/** Ends with a newline. A failure is followed by what was seen, and by where the promise is written. */
export function renderConsole(report: ConformanceReport): string {
  const lines = [`${report.suite} conformance of ${printableLine(subjectText(report))}`];
  for (const [feature, results] of byFeature(report.results)) {
    lines.push('', printableLine(feature));
    for (const result of results) lines.push(...resultLines(result));
  }
  lines.push('', `${tallyText(tallyOf(report.results))} in ${durationSeconds(report).toFixed(1)} s`);
  if (report.stopped !== undefined) lines.push(`STOPPED: ${printableLine(report.stopped)}`);
  return `${lines.join('\n')}\n`;
}

function resultLines({ name, outcome, reason, details, source, durationSeconds }: TestResult): readonly string[] {
  const lines = [`  ${outcome.padEnd(WORD_WIDTH)}  ${printableLine(name)} (${durationSeconds.toFixed(1)} s)`];
  const indent = ' '.repeat(WORD_WIDTH + 4);
  if (outcome !== 'passed' && reason) lines.push(`${indent}${printableLine(reason)}`);
  if (outcome !== 'failed') return lines;
  for (const line of printable(details ?? '').split('\n')) if (line.trim() !== '') lines.push(`${indent}| ${line}`);
  lines.push(`${indent}promised in ${printableLine(source)}`);
  return lines;
}
