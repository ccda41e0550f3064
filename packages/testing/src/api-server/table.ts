/** Tables: what `kubectl get` asks the server to print. */
import type { NamedObject } from './api-object.ts';
import { ageOf } from './human-duration.ts';
import { KIND_TABLES, type TableSpec } from './kind-tables.ts';
import type { Kind } from './kinds.ts';

/** One entry of `columnDefinitions`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** `name` for the object's name. */
  readonly format: string;
  readonly description: string;
  /** Above 0: shown with `-o wide` only. */
  readonly priority: number;
}

const FALLBACK: TableSpec = {
  columns: ['Name', 'Age'],
  row: (object, now) => [object.metadata.name, ageOf(object.metadata.creationTimestamp, now)],
};

const specOf = (kind: Kind): TableSpec => KIND_TABLES[kind.storage] ?? FALLBACK;

/** A name that begins with `+` in the spec is a column of `-o wide`. */
export function columnsOf(kind: Kind): readonly Column[] {
  return specOf(kind).columns.map((column) => {
    const wide = column.startsWith('+');
    const name = wide ? column.slice(1) : column;
    return {
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: name,
      priority: wide ? 1 : 0,
    };
  });
}

/** `object`: in its stored shape. `now`: milliseconds since the Unix epoch, for ages. */
export function rowOf(kind: Kind, object: NamedObject, now: number): unknown[] {
  return specOf(kind).row(object, now);
}
