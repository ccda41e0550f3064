/** The Services of type LoadBalancer, each with its parts in the cloud. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Part, ServiceRow, ServiceState } from '../src/view-types.ts';
import { Grid, type Column } from './grid.tsx';
import { Empty, State, Waits } from './pieces.tsx';
import { age, distance, many, sortKey, stateWord } from './words.ts';

const STATES: readonly ServiceState[] = ['failing', 'waiting', 'deleting', 'unknown', 'ready'];

export interface ServicesProps {
  readonly rows: ReadonlyMap<string, ServiceRow>;
  readonly version: number;
  readonly filter: string;
  readonly now: number;
  readonly open: string | undefined;
  readonly onOpen: (name: string) => void;
}

export function Services({ filter, now, onOpen, open, rows, version }: ServicesProps): JSX.Element {
  const all = useMemo(
    () =>
      [...rows.values()]
        .map((row) => ({ row, key: `${STATES.indexOf(row.state)} ${sortKey(row.name)}` }))
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ row }) => row),
    [version],
  );
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/u).filter(Boolean);
    const matches = (row: ServiceRow, word: string): boolean =>
      word.startsWith('state:')
        ? row.state === word.slice('state:'.length)
        : `${row.name} ${row.addresses} ${row.ports}`.toLowerCase().includes(word);
    return all.filter((row) => words.every((word) => matches(row, word)));
  }, [all, filter]);
  if (rows.size === 0)
    return <Empty title="No Services of type LoadBalancer">They appear here as soon as there is one.</Empty>;
  return (
    <>
      <p class="summary">
        {many(shown.length, 'Service')}
        {shown.length < all.length && ` of ${all.length.toLocaleString('en')}`}
      </p>
      {shown.length === 0 ? (
        <Empty title="No Service matches">Press Esc to clear the filter.</Empty>
      ) : (
        <Grid label="Services" rows={shown} columns={columnsAt(now)} open={open} onOpen={({ name }) => onOpen(name)} />
      )}
    </>
  );
}

function columnsAt(now: number): readonly Column<ServiceRow>[] {
  return [
    {
      title: 'Name',
      width: 'minmax(10rem, 1.2fr)',
      show: ({ name }) => <span class="name">{name}</span>,
      order: ({ name }) => sortKey(name),
    },
    {
      title: 'State',
      width: '7rem',
      show: ({ state }) => <State state={state} />,
      order: ({ state }) => STATES.indexOf(state),
    },
    {
      title: 'Addresses',
      width: 'minmax(7.5rem, 0.9fr)',
      show: ({ addresses }) => <span class="number">{addresses || '—'}</span>,
      order: ({ addresses }) => addresses,
    },
    { title: 'Parts in the cloud', width: 'minmax(9rem, 1.2fr)', show: ({ parts }) => <PartSigns parts={parts} /> },
    {
      title: 'Age',
      width: '4.5rem',
      show: ({ created }) => <span class="number">{age(created, now)}</span>,
      order: ({ created }) => -created,
    },
    { title: 'Waits for', width: 'minmax(12rem, 2fr)', show: ({ lines }) => <Waits lines={lines} now={now} /> },
  ];
}

function PartSigns({ parts }: { readonly parts: readonly Part[] | undefined }): JSX.Element {
  if (!parts) return <span class="dim">not reported</span>;
  if (parts.length === 0) return <span class="dim">none</span>;
  const bad = parts.filter(({ state }) => state !== 'ready');
  const said =
    bad.length === 0
      ? `${many(parts.length, 'part')}, all ready`
      : bad.map(({ kind, state }) => `${kind} ${state}`).join(', ');
  return (
    <span class="signs">
      <span aria-hidden="true">
        {parts.slice(0, 12).map(({ id, kind, state }) => (
          <span key={`${kind} ${id}`} class={`sign ${stateWord(state).tone}`}>
            {stateWord(state).sign}
          </span>
        ))}
      </span>{' '}
      <span class={bad.length === 0 ? 'dim' : ''}>{said}</span>
    </span>
  );
}

/** A Service, its parts below it, and what is waited for. */
export function ServiceTree({ now, row }: { readonly row: ServiceRow; readonly now: number }): JSX.Element {
  const { addresses, lines, name, parts = [], ports, state } = row;
  return (
    <ul class="tree" aria-label={`Parts of ${name}`}>
      <li>
        <span class="tree-item">
          <State state={state} /> <strong>{name}</strong>{' '}
          <span class="dim">{[ports, addresses].filter(Boolean).join(' → ')}</span>
        </span>
        <ul>
          {parts.map(({ id, kind, state: is }) => (
            <li key={`${kind} ${id}`}>
              <span class="tree-item">
                <State state={is} /> {kind} <span class="dim">{id}</span>
              </span>
            </li>
          ))}
          {lines.flatMap(({ controller, planned }) =>
            planned.map(({ at, text }, i) => (
              <li key={`${controller} ${i}`} class="tree-wait">
                <span class="tree-item">
                  <Step failed={text.startsWith('The last try failed')} /> {text}
                  {at !== undefined && <span class="dim"> ({distance(at, now)})</span>}
                </span>
              </li>
            )),
          )}
          {parts.length === 0 && lines.length === 0 && <li class="dim">No part is known.</li>}
        </ul>
      </li>
    </ul>
  );
}

function Step({ failed }: { readonly failed: boolean }): JSX.Element {
  return (
    <span class={`state ${failed ? 'bad' : 'busy'}`}>
      <span aria-hidden="true">{failed ? '▲' : '→'}</span> {failed ? 'Failed' : 'Next'}
    </span>
  );
}
