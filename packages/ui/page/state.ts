/** What the server has told, and whether it still does. Entry point: `connect`. */
import type { Facts, TableName, Tables, Update } from '../src/view-types.ts';
import { ask, Refused } from './session.ts';

export interface PageState {
  readonly tables: { readonly [Name in TableName]: Map<string, Tables[Name]> };
  facts: Partial<Facts>;
  /** Rises with each change of a table: what is made of its rows is made anew. */
  readonly versions: Record<TableName, number>;
  /** The server has told something. */
  isLoaded: boolean;
  /** When the stream broke; milliseconds since the Unix epoch. `undefined`: it has not. */
  lostAt: number | undefined;
  /** Why the server tells this page nothing. */
  refused: string | undefined;
}

export function newState(): PageState {
  return {
    tables: { nodes: new Map(), services: new Map(), routes: new Map(), orphans: new Map() },
    facts: {},
    versions: { nodes: 0, services: 0, routes: 0, orphans: 0 },
    isLoaded: false,
    lostAt: undefined,
    refused: undefined,
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

/** How long after a stream has broken it is asked for again. */
const AGAIN_MS = 2_000;

/** Calls `onChange` at most once a frame. Connects again by itself, unless it is refused. */
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
  const follow = async (): Promise<void> => {
    try {
      const { body } = await ask('/api/changes');
      state.lostAt = undefined;
      tell();
      for await (const line of linesOf(body)) {
        if (!line.startsWith(DATA)) continue;
        apply(state, JSON.parse(line.slice(DATA.length)) as Update);
        tell();
      }
    } catch (error) {
      if (error instanceof Refused) state.refused = error.message;
    }
    state.lostAt ??= Date.now();
    tell();
    if (state.refused === undefined) setTimeout(() => void follow(), AGAIN_MS);
  };
  void follow();
}

const DATA = 'data: ';

/** The first update of a large cluster is one line of many chunks: each of them is looked at once. */
async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let begun: string[] = [];
  try {
    for (;;) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) return;
      const [first = '', ...others] = value.split('\n');
      begun.push(first);
      for (const other of others) {
        yield begun.join('');
        begun = [other];
      }
    }
  } finally {
    // Of whoever reads no further: a connection that stays open is one of the six that a browser has.
    await reader?.cancel().catch(() => undefined);
  }
}
