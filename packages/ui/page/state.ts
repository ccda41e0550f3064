/** What the server has told, and whether it still does. Entry point: `connect`. */
import type { Facts, TableName, Tables, Update } from '../src/view-types.ts';

export interface PageState {
  readonly tables: { readonly [Name in TableName]: Map<string, Tables[Name]> };
  facts: Partial<Facts>;
  /** Rises with each change of a table: what is made of its rows is made anew. */
  readonly versions: Record<TableName, number>;
  /** The server has told something. */
  isLoaded: boolean;
  /** When the stream broke; milliseconds since the Unix epoch. `undefined`: it has not. */
  lostAt: number | undefined;
}

export function newState(): PageState {
  return {
    tables: { nodes: new Map(), services: new Map(), routes: new Map(), orphans: new Map() },
    facts: {},
    versions: { nodes: 0, services: 0, routes: 0, orphans: 0 },
    isLoaded: false,
    lostAt: undefined,
  };
}

function apply(state: PageState, { facts, reset, ...tables }: Update): void {
  if (reset) {
    state.facts = {};
    for (const name of Object.keys(state.tables) as TableName[]) {
      state.tables[name].clear();
      state.versions[name]++;
    }
  }
  state.facts = { ...state.facts, ...facts };
  for (const name of Object.keys(state.tables) as TableName[]) {
    const change = tables[name];
    if (!change) continue;
    const rows: Map<string, { readonly name: string }> = state.tables[name];
    for (const row of change.set) rows.set(row.name, row);
    for (const gone of change.gone) rows.delete(gone);
    state.versions[name]++;
  }
  state.isLoaded = true;
}

/** Calls `onChange` at most once a frame. The browser connects again by itself. */
export function connect(state: PageState, onChange: () => void): void {
  let isDue = false;
  const tell = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      onChange();
    });
  };
  const stream = new EventSource('/api/changes');
  stream.addEventListener('message', ({ data }) => {
    apply(state, JSON.parse(data as string) as Update);
    state.lostAt = undefined;
    tell();
  });
  stream.addEventListener('open', () => {
    state.lostAt = undefined;
    tell();
  });
  stream.addEventListener('error', () => {
    state.lostAt ??= Date.now();
    tell();
  });
}
