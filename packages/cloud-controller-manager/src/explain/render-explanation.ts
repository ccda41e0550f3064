/** An explanation as text for a person. Pure. */
import { formatGoDuration } from '@outrigger/controller-manager';
import type { Fact } from '@outrigger/controllers';
import type { Explanation } from './explanation.ts';
import { oneLine } from './one-line.ts';

const SECOND_MS = 1_000;
/** Longer ago or ahead, seconds are of no interest. */
const MINUTES_MS = 600_000;

export function renderExplanation({ applied, at, calls, dryRun, findings, kind, name }: Explanation): string {
  const sections = findings.map(({ controller, observed, planned }) =>
    [
      oneLine(controller),
      ...observed.map((fact) => `  ${sentence(fact)}`),
      `  ${dryRun ? 'Planned (dry run)' : 'Planned'}:`,
      ...planned.map((fact) => `    - ${sentence(fact)}`),
      '',
    ].join('\n'),
  );
  const done = applied.map(({ at: when, controller, detail, result, summary }) => {
    const ending = detail === undefined ? result : `${result}: ${detail}`;
    return `  ${timeOf(when)}  ${oneLine(`${controller}: ${summary} (${ending})`)}`;
  });
  const asked = calls.map(({ attempt, code, durationMs, operation, startedAt }) => {
    const again = attempt > 1 ? `, attempt ${attempt}` : '';
    return `  ${timeOf(startedAt)}  ${oneLine(`${operation}: ${code}`)} after ${Math.round(durationMs)} ms${again}`;
  });
  return [
    `${kind} ${oneLine(name)}, at ${timeOf(at)}`,
    '',
    ...sections,
    'Last applied',
    ...(done.length > 0 ? done : [dryRun ? '  Nothing: this is a dry run.' : '  Nothing by this process.']),
    '',
    'Last requests to the cloud',
    ...(asked.length > 0 ? asked : ['  None that is remembered.']),
    '',
  ].join('\n');
}

function sentence({ agoMs, inMs, text: given }: Fact): string {
  const text = oneLine(given);
  if (agoMs !== undefined) return `${text} (${roughly(agoMs)} ago)`;
  if (inMs !== undefined) return `${text} (${inMs < SECOND_MS ? 'now' : `in ${roughly(inMs)} or later`})`;
  return text;
}

function roughly(ms: number): string {
  if (ms < SECOND_MS) return `${(Math.round(ms / 10) / 100).toFixed(2)}s`;
  const unit = ms < MINUTES_MS ? SECOND_MS : 60 * SECOND_MS;
  return formatGoDuration(Math.round(ms / unit) * unit);
}

/** To the millisecond, in UTC: what logs say too. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
