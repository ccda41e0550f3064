/** A table of any length, of which only what is seen is in the document. Arrows move, Enter opens, `/` is the filter's. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Column<T> {
  readonly title: string;
  /** `minmax(8rem, 2fr)`. */
  readonly width: string;
  readonly show: (row: T) => ComponentChildren;
  /** What it is sorted by. Default: it is not. */
  readonly order?: (row: T) => string | number;
}

export interface GridProps<T extends { readonly name: string }> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  /** The row that is opened. */
  readonly open: string | undefined;
  readonly onOpen: (row: T) => void;
}

const ROW = 36;
/** It stays above them. */
const HEAD = 31;
/** Rows above and below of what is seen. */
const MARGIN = 8;

export function Grid<T extends { readonly name: string }>({
  columns,
  label,
  onOpen,
  open,
  rows,
}: GridProps<T>): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState<string | undefined>();
  const [sort, setSort] = useState<{ readonly column: number; readonly down: boolean } | undefined>();
  const sorted = useMemo(() => {
    const order = sort && columns[sort.column]?.order;
    if (!order) return rows;
    const keyed = rows.map((row) => [order(row), row] as const).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    if (sort.down) keyed.reverse();
    return keyed.map(([, row]) => row);
  }, [rows, sort]);

  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return undefined;
    const measure = (): void => setHeight(element.clientHeight - HEAD);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (open !== undefined) setActive(open);
  }, [open]);

  const index = active === undefined ? -1 : sorted.findIndex(({ name }) => name === active);
  const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const last = Math.min(sorted.length, Math.ceil((top + height) / ROW) + MARGIN);
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };

  const move = (to: number): void => {
    const row = sorted[Math.min(sorted.length - 1, Math.max(0, to))];
    const element = body.current;
    if (!row || !element) return;
    setActive(row.name);
    const at = Math.min(sorted.length - 1, Math.max(0, to)) * ROW;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + ROW > element.scrollTop + height) element.scrollTop = at + ROW - height;
  };
  const page = Math.max(1, Math.floor(height / ROW) - 1);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(index + 1),
    ArrowUp: () => move(Math.max(0, index - 1)),
    PageDown: () => move(index + page),
    PageUp: () => move(index - page),
    Home: () => move(0),
    End: () => move(sorted.length - 1),
    Enter: () => {
      const row = sorted[index];
      if (row) onOpen(row);
    },
  };
  const id = (name: string): string => `row-${name}`;
  const isSeen = index >= first && index < last;

  return (
    <div
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={sorted.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      aria-activedescendant={isSeen && active !== undefined ? id(active) : undefined}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (!act || event.target !== event.currentTarget) return;
        event.preventDefault();
        act();
      }}
    >
      <div role="presentation" class="grid-body" ref={body} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div role="rowgroup" class="grid-head">
          <div role="row" aria-rowindex={1} class="grid-row" style={template}>
            {columns.map(({ order, title }, column) => {
              const isSorted = sort?.column === column;
              const direction = !isSorted ? 'none' : sort.down ? 'descending' : 'ascending';
              return (
                <div role="columnheader" key={title} aria-sort={order ? direction : undefined}>
                  {order ? (
                    <button
                      type="button"
                      class="sort"
                      onClick={() => setSort({ column, down: isSorted && !sort.down })}
                    >
                      {title}
                      <span aria-hidden="true">{isSorted ? (sort.down ? ' ↓' : ' ↑') : ''}</span>
                    </button>
                  ) : (
                    title
                  )}
                </div>
              );
            })}
          </div>
        </div>
        <div role="rowgroup" class="grid-space" style={{ height: `${sorted.length * ROW}px` }}>
          {sorted.slice(first, last).map((row, offset) => (
            <div
              role="row"
              key={row.name}
              id={id(row.name)}
              class={`grid-row ${row.name === active ? 'active' : ''} ${row.name === open ? 'open' : ''}`}
              aria-rowindex={first + offset + 2}
              aria-selected={row.name === open}
              style={{ ...template, transform: `translateY(${(first + offset) * ROW}px)` }}
              onClick={() => {
                setActive(row.name);
                onOpen(row);
              }}
            >
              {columns.map(({ show, title }) => (
                <div role="gridcell" key={title}>
                  {show(row)}
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
