/** The figures of scenarios as one table: what was measured, what must be reached, met or missed. */
import type { Figure } from './scenario.ts';

export interface Measured {
  readonly scenario: string;
  /** Of Outrigger. */
  readonly figures: readonly Figure[];
  /** Of upstream's framework, where it can be measured: in the same order, fewer when it could not finish. */
  readonly upstream: readonly Figure[];
}

export function renderScenarios(all: readonly Measured[]): string {
  const rows = all.flatMap(({ figures, scenario, upstream }) =>
    figures.map((figure) => {
      const beside = upstream.find(({ what }) => what === figure.what);
      const cells = [scenario, figure.what, text(figure), aim(figure), verdict(figure), beside ? text(beside) : '–'];
      return `| ${cells.join(' | ')} |`;
    }),
  );
  return [
    '| scenario | figure | outrigger | must be | | upstream tuned |',
    '|---|---|---:|---:|---|---:|',
    ...rows,
  ].join('\n');
}

export function countMissed(all: readonly Measured[]): number {
  return all.flatMap(({ figures }) => figures).filter((figure) => verdict(figure) === 'MISSED').length;
}

function text({ unit, value }: Figure): string {
  return unit === 's' ? `${value.toFixed(value < 1 ? 3 : 2)} s` : String(value);
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
