/** The nodes, by zone and state, and each of them. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { NodeRow, NodeState } from '../src/view-types.ts';
import { Grid, type Column } from './grid.tsx';
import { Empty, State, Waits } from './pieces.tsx';
import { age, duration, many, sortKey, stateWord } from './words.ts';

const STATES: readonly NodeState[] = ['held', 'not-ready', 'waiting', 'deleting', 'shut-down', 'ready'];

interface Zone {
  readonly name: string;
  readonly total: number;
  readonly counts: ReadonlyMap<NodeState, number>;
}

export interface NodesProps {
  readonly rows: ReadonlyMap<string, NodeRow>;
  readonly version: number;
  readonly filter: string;
  readonly setFilter: (filter: string) => void;
  readonly now: number;
  readonly open: string | undefined;
  readonly onOpen: (name: string) => void;
}

export function Nodes({ filter, now, onOpen, open, rows, setFilter, version }: NodesProps): JSX.Element {
  const all = useMemo(() => [...rows.values()].sort(bySeverity), [version]);
  const zones = useMemo(() => zonesOf(all), [all]);
  const shown = useMemo(() => filterNodes(all, filter), [all, filter]);
  const times = useMemo(() => timesOf(all), [all]);
  if (rows.size === 0) return <Empty title="No nodes">The API server lists none, or has not answered yet.</Empty>;
  return (
    <>
      <section class="zones" aria-label="Zones">
        {zones.map((zone) => (
          <ZoneCard key={zone.name} zone={zone} filter={filter} setFilter={setFilter} />
        ))}
      </section>
      <p class="summary">
        {many(shown.length, 'node')}
        {shown.length < all.length && ` of ${all.length.toLocaleString('en')}`}
        {times && (
          <span class="dim">
            {' '}
            · initialized in {duration(times.median)} (median), {duration(times.longest)} (longest), of{' '}
            {many(times.count, 'node')} by this leader
          </span>
        )}
      </p>
      {shown.length === 0 ? (
        <Empty title="No node matches">Press Esc to clear the filter.</Empty>
      ) : (
        <Grid label="Nodes" rows={shown} columns={columnsAt(now)} open={open} onOpen={({ name }) => onOpen(name)} />
      )}
    </>
  );
}

function ZoneCard({
  filter,
  setFilter,
  zone,
}: {
  readonly zone: Zone;
  readonly filter: string;
  readonly setFilter: (filter: string) => void;
}): JSX.Element {
  const { counts, name, total } = zone;
  const word = `zone:${name || 'none'}`;
  const isChosen = filter.split(' ').includes(word);
  const said = STATES.flatMap((state) =>
    counts.get(state) ? [`${counts.get(state)} ${stateWord(state).label.toLowerCase()}`] : [],
  );
  return (
    <button type="button" class="zone" aria-pressed={isChosen} onClick={() => setFilter(isChosen ? '' : word)}>
      <span class="zone-name">{name || 'No zone'}</span>
      <span class="zone-total">{total.toLocaleString('en')}</span>
      <span class="zone-bar" aria-hidden="true">
        {STATES.map((state) => {
          const count = counts.get(state) ?? 0;
          return (
            count > 0 && <span key={state} class={`zone-part ${stateWord(state).tone}`} style={{ flexGrow: count }} />
          );
        })}
      </span>
      <span class="zone-said">{said.join(', ')}</span>
    </button>
  );
}

function columnsAt(now: number): readonly Column<NodeRow>[] {
  return [
    {
      title: 'Name',
      width: 'minmax(8rem, 1fr)',
      show: ({ name }) => <span class="name">{name}</span>,
      order: ({ name }) => sortKey(name),
    },
    {
      title: 'State',
      width: '8.5rem',
      show: ({ state }) => <State state={state} />,
      order: ({ state }) => STATES.indexOf(state),
    },
    { title: 'Zone', width: 'minmax(5rem, 0.8fr)', show: ({ zone }) => zone, order: ({ zone }) => zone },
    {
      title: 'Initialized in',
      width: '6.5rem',
      show: ({ tookMs }) => <span class="number">{tookMs === undefined ? '—' : duration(tookMs)}</span>,
      order: ({ tookMs = -1 }) => tookMs,
    },
    {
      title: 'Age',
      width: '4.5rem',
      show: ({ created }) => <span class="number">{age(created, now)}</span>,
      order: ({ created }) => -created,
    },
    { title: 'Address', width: '7rem', show: ({ address }) => <span class="number">{address}</span> },
    { title: 'Waits for', width: 'minmax(12rem, 2.2fr)', show: ({ lines }) => <Waits lines={lines} now={now} /> },
  ];
}

function bySeverity(a: NodeRow, b: NodeRow): number {
  const order = STATES.indexOf(a.state) - STATES.indexOf(b.state);
  if (order !== 0) return order;
  const [left, right] = [sortKeyOf(a), sortKeyOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

const keys = new Map<string, string>();

function sortKeyOf({ name }: NodeRow): string {
  let key = keys.get(name);
  if (key === undefined) keys.set(name, (key = sortKey(name)));
  return key;
}

/** `zone:a`, `state:waiting`, or a part of the name, address, type or provider ID; all words have to match. */
function filterNodes(rows: readonly NodeRow[], filter: string): readonly NodeRow[] {
  const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) =>
    words.every((word) => {
      if (word.startsWith('zone:')) return (row.zone || 'none').toLowerCase() === word.slice('zone:'.length);
      if (word.startsWith('state:')) return row.state === word.slice('state:'.length);
      return [row.name, row.address, row.type, row.providerID, row.podCIDRs].some((text) =>
        text.toLowerCase().includes(word),
      );
    }),
  );
}

function zonesOf(rows: readonly NodeRow[]): readonly Zone[] {
  const zones = new Map<string, Map<NodeState, number>>();
  for (const { state, zone } of rows) {
    const counts = zones.get(zone) ?? new Map<NodeState, number>();
    zones.set(zone, counts.set(state, (counts.get(state) ?? 0) + 1));
  }
  return [...zones]
    .map(([name, counts]) => ({ name, counts, total: [...counts.values()].reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function timesOf(
  rows: readonly NodeRow[],
): { readonly median: number; readonly longest: number; readonly count: number } | undefined {
  const times = rows.flatMap(({ tookMs }) => tookMs ?? []).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  return median === undefined ? undefined : { median, longest: times.at(-1) ?? median, count: times.length };
}
