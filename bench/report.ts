/** Tables of measurements, and how they stand to the aims. */
import type { ArrivalsMeasurement } from './arrivals.ts';
import type { Measurement } from './measure.ts';

type Figure = Exclude<
  { [K in keyof Measurement]: Measurement[K] extends number ? K : never }[keyof Measurement],
  'nodes'
>;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

const COLUMNS: readonly (readonly [title: string, figure: Figure, digits: number])[] = [
  ['start to first write s', 'startToFirstWriteSeconds', 2],
  ['all initialised s', 'seconds', 2],
  ['nodes/s', 'nodesPerSecond', 0],
  ['p50 s', 'p50Seconds', 2],
  ['p99 s', 'p99Seconds', 2],
  ['writes/node', 'writesPerNode', 2],
  ['cloud calls', 'cloudCalls', 0],
  ['CPU s', 'cpuSeconds', 1],
  ['API server CPU s', 'apiServerCpuSeconds', 1],
  ['peak RSS MiB', 'peakRssMiB', 0],
];

/** Medians over the rounds, a row for each size and subject, then the API calls. */
export function renderTable(measurements: readonly Measurement[]): string {
  const groups = Map.groupBy(measurements, ({ nodes, subject }) => `${nodes} | ${subject}`);
  const rows = [...groups].map(([key, group]) => {
    const cells = COLUMNS.map(([, figure, digits]) => median(group.map((one) => one[figure])).toFixed(digits));
    return `| ${key} | ${cells.join(' | ')} |`;
  });
  const calls = [...groups].map(([key, group]) => {
    const counts = Object.entries(group.at(-1)?.apiCalls ?? {}).sort(([a], [b]) => a.localeCompare(b));
    return `${key.replace(' |', ' nodes,')}: ${counts.map(([call, count]) => `${call} ${count}`).join(', ')}`;
  });
  return [
    `| nodes | subject | ${COLUMNS.map(([title]) => title).join(' | ')} |`,
    `|---|---|${COLUMNS.map(() => '---:').join('|')}|`,
    ...rows,
    '',
    'API calls of the last round, leases left out:',
    ...calls,
  ].join('\n');
}

/** Nodes that come one after another. */
export function renderArrivals(measurements: readonly ArrivalsMeasurement[]): string {
  return [
    '| arrivals, 10/s | subject | p50 s | p99 s | last s | cloud calls |',
    '|---|---|---:|---:|---:|---:|',
    ...measurements.map(
      ({ nodes, subject, p50Seconds, p99Seconds, lastSeconds, cloudCalls }) =>
        `| ${nodes} | ${subject} | ${p50Seconds.toFixed(3)} | ${p99Seconds.toFixed(3)} | ${lastSeconds.toFixed(3)} | ${cloudCalls} |`,
    ),
  ].join('\n');
}

/** Each aim with what was reached, a line each; ratios are medians of the ratios round by round. */
export function judgeAims(
  measurements: readonly Measurement[],
  trickles: readonly ArrivalsMeasurement[],
): { readonly lines: readonly string[]; readonly missed: number } {
  const of = (subject: string, nodes: number): Measurement[] =>
    measurements.filter((one) => one.subject === subject && one.nodes === nodes);
  const ratio = (a: readonly Measurement[], b: readonly Measurement[], figure: Figure): number =>
    median(a.map((one, round) => one[figure] / (b[round]?.[figure] ?? Number.NaN)));
  // Of the medians in the table it is not the ratio: those may be of different rounds.
  const ofRounds = "median of the rounds' ratios";
  const lines: string[] = [];
  let missed = 0;
  const aim = (what: string, reached: number, limit: number, atMost: boolean): void => {
    if (Number.isNaN(reached)) return;
    const met = atMost ? reached <= limit : reached >= limit;
    if (!met) missed++;
    lines.push(`${met ? 'met   ' : 'MISSED'}  ${what}: ${reached.toFixed(2)} (aim ${atMost ? '≤' : '≥'} ${limit})`);
  };
  for (const nodes of new Set(measurements.map((one) => one.nodes))) {
    const ours = of('outrigger', nodes);
    if (ours.length === 0) continue;
    const largest = (figure: Figure): number => Math.max(...ours.map((one) => one[figure]));
    if (nodes >= 1000) {
      aim(
        `${nodes} nodes: speed as a fraction of the floor, ${ofRounds}`,
        ratio(ours, of('floor', nodes), 'nodesPerSecond'),
        0.9,
        false,
      );
      aim(
        `${nodes} nodes: speed as a multiple of upstream tuned, ${ofRounds}`,
        ratio(ours, of('upstream tuned', nodes), 'nodesPerSecond'),
        1.1,
        false,
      );
      aim(
        `${nodes} nodes: CPU as a fraction of upstream tuned, ${ofRounds}`,
        ratio(ours, of('upstream tuned', nodes), 'cpuSeconds'),
        1,
        true,
      );
      aim(`${nodes} nodes: peak RSS in MiB`, largest('peakRssMiB'), nodes > 1000 ? 160 : 110, true);
    }
    if (nodes === 1000) aim(`${nodes} nodes: start to first write in s`, largest('startToFirstWriteSeconds'), 1, true);
    aim(`${nodes} nodes: writes per node`, largest('writesPerNode'), 2.1, true);
    aim(`${nodes} nodes: cloud calls`, largest('cloudCalls'), Math.max(1, Math.ceil(nodes / 500)), true);
  }
  const trickle = trickles.find(({ subject }) => subject === 'outrigger');
  if (trickle) aim(`${trickle.nodes} arrivals, 10/s: p99 in s`, trickle.p99Seconds, 0.15, true);
  return { lines, missed };
}
