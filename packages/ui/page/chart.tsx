/** The call budget over time. */
import type { JSX } from 'preact';
import type { BudgetSample } from '../src/view-types.ts';

const WIDTH = 480;
const HEIGHT = 96;

export function Chart({ samples }: { readonly samples: readonly BudgetSample[] }): JSX.Element {
  const most = Math.max(1, ...samples.map(({ perMinute }) => perMinute));
  const [first, last] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  const span = Math.max(1, last - first);
  const x = (at: number): number => (samples.length < 2 ? WIDTH : ((at - first) / span) * WIDTH);
  const y = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 4);
  const line = samples.map(({ at, perMinute }) => `${x(at).toFixed(1)},${y(perMinute).toFixed(1)}`).join(' ');
  const throttled = samples.filter(({ throttledPerMinute }) => throttledPerMinute > 0);
  const time = (at: number): string => new Date(at).toLocaleTimeString('en-GB');
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Requests a minute, at most ${most}, from ${time(first)} to ${time(last)}`}
        preserveAspectRatio="none"
      >
        <polygon class="chart-area" points={`${x(first)},${HEIGHT} ${line} ${x(last)},${HEIGHT}`} />
        <polyline class="chart-line" points={line} />
        {throttled.map(({ at, throttledPerMinute }) => (
          <line key={at} class="chart-bad" x1={x(at)} x2={x(at)} y1={HEIGHT} y2={y(throttledPerMinute)} />
        ))}
      </svg>
      <figcaption>
        <span>{time(first)}</span>
        <span>at most {most.toLocaleString('en')}</span>
        <span>{time(last)}</span>
      </figcaption>
    </figure>
  );
}
