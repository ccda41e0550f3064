/** The figures of scenarios as one table: what was measured, what must be reached, met or missed, and upstream beside it. */
import { median } from './report.ts';
import type { Figure } from './scenario.ts';

export interface Measured {
  readonly scenario: string;
  /** Of Outrigger. */
  readonly figures: readonly Figure[];
  /** Of upstream's framework, with one set of flags or another, where it can be measured. */
  readonly upstream: readonly Beside[];
}

export interface Beside {
  readonly subject: string;
  /** Fewer when it did not come to the end. */
  readonly figures: readonly Figure[];
  /** Why it did not. */
  readonly unfinished?: string;
}

/** Of several rounds one: the medians of the seconds, of everything else the worst. */
export function mergeRounds(rounds: readonly (readonly Figure[])[]): readonly Figure[] {
  const all = Map.groupBy(rounds.flat(), ({ what }) => what);
  return [...all.values()].flatMap((figures) => {
    const [figure] = figures;
    if (!figure) return [];
    const values = figures.map(({ value }) => value);
    if (figure.unit === 's') return [{ ...figure, value: median(values) }];
    return [{ ...figure, value: figure.atLeast === undefined ? Math.max(...values) : Math.min(...values) }];
  });
}

/** With upstream's figure as a multiple of ours behind it. */
export function renderScenarios(all: readonly Measured[]): string {
  const subjects = [...new Set(all.flatMap(({ upstream }) => upstream.map(({ subject }) => subject)))];
  const rows = all.flatMap(({ figures, scenario, upstream }) =>
    figures.map((figure) => {
      const besides = subjects.map((name) => {
        const beside = upstream.find(({ subject }) => subject === name);
        const theirs = beside?.figures.find(({ what }) => what === figure.what);
        return theirs ? `${text(theirs)}${ratio(theirs, figure)}` : '–';
      });
      return `| ${[scenario, figure.what, text(figure), aim(figure), verdict(figure), ...besides].join(' | ')} |`;
    }),
  );
  const unfinished = all.flatMap(({ scenario, upstream }) =>
    upstream.flatMap(({ subject, unfinished: why }) => (why === undefined ? [] : [`${scenario}: ${why} (${subject})`])),
  );
  return [
    `| ${['scenario', 'figure', 'outrigger', 'must be', '', ...subjects].join(' | ')} |`,
    `|---|---|---:|---:|---|${subjects.map(() => '---:|').join('')}`,
    ...rows,
    ...(unfinished.length > 0 ? ['', 'Not to the end:', ...unfinished] : []),
  ].join('\n');
}

/** What each did that must not be done at all, one a line. Pure counts: seconds that are too long are in the table. */
export function renderHarm(all: readonly Measured[]): readonly string[] {
  return all.flatMap(({ figures, scenario, upstream }) =>
    [{ subject: 'outrigger', figures }, ...upstream].flatMap(({ figures: own, subject }) =>
      own
        .filter(({ atMost, value }) => atMost === 0 && value > 0)
        .map((figure) => `${subject}: ${scenario}: ${figure.what}: ${text(figure)}`),
    ),
  );
}

export function countMissed(all: readonly Measured[]): number {
  return all.flatMap(({ figures }) => figures).filter((figure) => verdict(figure) === 'MISSED').length;
}

function text({ unit, value }: Figure): string {
  if (unit === 's') return `${value.toFixed(value < 1 ? 3 : 2)} s`;
  return Number.isInteger(value) ? String(value) : value.toFixed(3);
}

/** None where there is nothing to be a multiple of. */
function ratio(theirs: Figure, ours: Figure): string {
  const times = theirs.value / ours.value;
  return ours.value > 0 && Number.isFinite(times) ? ` (${times.toFixed(times < 10 ? 1 : 0)} x)` : '';
}

function aim({ atLeast, atMost, unit }: Figure): string {
  const suffix = unit === 's' ? ' s' : '';
  if (atLeast !== undefined) return `≥ ${atLeast}${suffix}`;
  return atMost === undefined ? '' : `≤ ${atMost}${suffix}`;
}

function verdict({ atLeast, atMost, value }: Figure): 'met' | 'MISSED' | '' {
  if (atLeast === undefined && atMost === undefined) return '';
  // A number that is none has not been reached.
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity) ? 'met' : 'MISSED';
}
