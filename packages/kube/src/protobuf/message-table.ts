/**
 * How messages are built, as tables: `number:name:type`, a field each, compact because they are shipped. Types:
 *
 *     s string   b boolean   i integer   T time   I integer or string   - not read
 *     Name of another message
 *
 * `*` after one: a list; `%`: a map by strings; `?`: JSON leaves it out when it is zero. Entry point: `tableOf`.
 */
import { MESSAGES } from './generated/messages.ts';

type FieldType = 'string' | 'boolean' | 'integer' | 'time' | 'integer-or-string' | 'skip' | MessageTable;

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly shape: 'one' | 'list' | 'map';
  /** JSON leaves a zero out. */
  readonly leavesOutZero: boolean;
}

/** Fields by their number. */
export type MessageTable = { readonly name: string; readonly fields: readonly (Field | undefined)[] };

const SCALARS: Readonly<Record<string, FieldType>> = {
  s: 'string',
  b: 'boolean',
  i: 'integer',
  T: 'time',
  I: 'integer-or-string',
  '-': 'skip',
};

const tables = new Map<string, MessageTable>();

/** The table of a message of `generated/messages.ts`, or `undefined`. Parsed when it is first asked for. */
export function tableOf(name: string): MessageTable | undefined {
  const known = tables.get(name);
  if (known || !Object.hasOwn(MESSAGES, name)) return known;
  const table = { name, fields: [] as (Field | undefined)[] };
  tables.set(name, table);
  for (const entry of (MESSAGES[name] ?? '').split(' ')) {
    const [number = '', field = '', type = ''] = entry.split(':');
    const base = type.replace(/[*%?]$/, '');
    const scalarOrTable = SCALARS[base] ?? tableOf(base);
    if (!scalarOrTable) throw new Error(`table of ${name}: ${entry}: no such message`);
    table.fields[Number(number)] = {
      name: field,
      type: scalarOrTable,
      shape: type.endsWith('*') ? 'list' : type.endsWith('%') ? 'map' : 'one',
      leavesOutZero: type.endsWith('?'),
    };
  }
  // No holes: V8 looks into them slowly.
  table.fields = Array.from(table.fields, (field) => field);
  return table;
}
