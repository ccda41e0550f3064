/** The routes of the cloud, those that are to be made, and what keeps others from being made. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RouteRow } from '../src/view-types.ts';
import { Grid, type Column } from './grid.tsx';
import { Empty, State, Waits } from './pieces.tsx';
import { many, sortKey } from './words.ts';

const ORDER = ['waits', 'missing', 'owned', 'foreign'];

export interface RoutesProps {
  readonly rows: ReadonlyMap<string, RouteRow>;
  readonly version: number;
  readonly filter: string;
  readonly now: number;
  readonly open: string | undefined;
  readonly onOpen: (row: RouteRow) => void;
}

export function Routes({ filter, now, onOpen, open, rows, version }: RoutesProps): JSX.Element {
  const all = useMemo(
    () =>
      [...rows.values()]
        .map((row) => ({
          row,
          key: `${row.lines.length > 0 ? 0 : 1} ${ORDER.indexOf(row.state)} ${sortKey(row.destination || row.to)}`,
        }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ row }) => row),
    [version],
  );
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
    return all.filter(({ destination, state, to }) =>
      words.every((word) => `${destination} ${to} state:${state}`.toLowerCase().includes(word)),
    );
  }, [all, filter]);
  if (rows.size === 0)
    return <Empty title="No routes">The provider has no routes, or the route controller does not run.</Empty>;
  const columns: readonly Column<RouteRow>[] = [
    {
      title: 'Destination',
      width: 'minmax(9rem, 1fr)',
      show: ({ destination }) => <span class="name number">{destination || '—'}</span>,
      order: ({ destination }) => sortKey(destination),
    },
    {
      title: 'State',
      width: '7rem',
      show: ({ state }) => <State state={state} />,
      order: ({ state }) => ORDER.indexOf(state),
    },
    { title: 'Leads to', width: 'minmax(9rem, 1fr)', show: ({ to }) => to, order: ({ to }) => sortKey(to) },
    { title: 'Planned', width: 'minmax(10rem, 2fr)', show: ({ lines }) => <Waits lines={lines} now={now} /> },
  ];
  return (
    <>
      <p class="summary">{many(shown.length, 'route')}</p>
      {shown.length === 0 ? (
        <Empty title="No route matches">Press Esc to clear the filter.</Empty>
      ) : (
        <Grid label="Routes" rows={shown} columns={columns} open={open} onOpen={onOpen} />
      )}
    </>
  );
}
