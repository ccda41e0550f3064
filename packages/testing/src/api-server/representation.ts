/** How objects are sent: whole, as metadata alone, or as rows of a table; by what the client accepts. */
import type { Clock } from '@outrigger/kube';
import { parseStored, type StoredObject } from './object-storage.ts';
import type { Kind } from './kinds.ts';
import { StatusError } from './status-error.ts';
import { columnsOf, rowOf } from './table.ts';

export interface Representation {
  readonly form: 'object' | 'metadata' | 'table';
  /** Of table rows. */
  readonly includeObject: string;
}

const WHOLE: Representation = { form: 'object', includeObject: 'Metadata' };

/** Takes the first entry of `Accept` that can be served; throws 406 when there is none. */
export function negotiate(accept: string | undefined, includeObject: string | null): Representation {
  if (!accept) return WHOLE;
  for (const entry of accept.split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = new Map(parameters.map((part) => part.split('=', 2) as [string, string])).get('as');
    if (as === undefined) return WHOLE;
    if (as === 'Table') return { form: 'table', includeObject: includeObject ?? 'Metadata' };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { ...WHOLE, form: 'metadata' };
  }
  throw new StatusError(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json (also as Table, PartialObjectMetadata)',
    {},
  );
}

/** Encodes objects of one kind in one form. */
export class Encoder {
  readonly #kind: Kind;
  readonly #representation: Representation;
  readonly #clock: Clock;
  /** Length of what each stored object begins with and list items do not have. */
  readonly #prefix: number;

  constructor(kind: Kind, representation: Representation, clock: Clock) {
    this.#kind = kind;
    this.#representation = representation;
    this.#clock = clock;
    this.#prefix = `{"kind":"${kind.kind}","apiVersion":"${kind.apiVersion}",`.length;
  }

  /** Encoders with the same identity give the same bytes. */
  get identity(): string {
    const { form, includeObject } = this.#representation;
    return `${this.#kind.apiVersion} ${this.#kind.kind} ${form} ${includeObject}`;
  }

  get form(): Representation['form'] {
    return this.#representation.form;
  }

  /** One object, complete. `columns`: whether a table says its columns; a watch says them once. */
  object(stored: StoredObject, columns = true): Buffer {
    const { form } = this.#representation;
    if (form === 'table') {
      return json({ ...this.#tableHead(String(stored.revision), columns), rows: [this.#row(stored)] });
    }
    if (form === 'metadata') {
      return json({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: parseStored(stored).metadata,
      });
    }
    if (this.#kind.view) return json(this.#kind.view.fromStored(parseStored(stored)));
    return stored.bytes;
  }

  /** A bookmark: no object, only how far the watch has come. */
  bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    if (this.#representation.form === 'metadata') return json(partial);
    if (this.#representation.form === 'table') {
      const cells = columnsOf(this.#kind).map(() => '');
      return json({ ...this.#tableHead(metadata.resourceVersion, false), rows: [{ cells, object: partial }] });
    }
    return json({ kind: this.#kind.kind, apiVersion: this.#kind.apiVersion, metadata });
  }

  /** What comes before the items of a list. */
  listHead(metadata: object): Buffer {
    const { form } = this.#representation;
    if (form === 'table') {
      const { kind, apiVersion, columnDefinitions } = this.#tableHead('');
      return open({ kind, apiVersion, metadata, columnDefinitions }, 'rows');
    }
    if (form === 'metadata') {
      return open({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata }, 'items');
    }
    return open({ kind: `${this.#kind.kind}List`, apiVersion: this.#kind.apiVersion, metadata }, 'items');
  }

  listItem(stored: StoredObject): Buffer {
    const { form } = this.#representation;
    if (form === 'table') return json(this.#row(stored));
    if (form === 'metadata') return json({ metadata: parseStored(stored).metadata });
    if (this.#kind.view) {
      const { kind: _kind, apiVersion: _apiVersion, ...rest } = this.#kind.view.fromStored(parseStored(stored));
      return json(rest);
    }
    return Buffer.concat([OPEN, stored.bytes.subarray(this.#prefix)]);
  }

  #row(stored: StoredObject): object {
    const object = parseStored(stored);
    const { includeObject } = this.#representation;
    const shown =
      includeObject === 'Object'
        ? { object: this.#kind.view ? this.#kind.view.fromStored(object) : object }
        : includeObject === 'None'
          ? {}
          : { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata } };
    return { cells: rowOf(this.#kind, object, this.#clock.now()), ...shown };
  }

  #tableHead(
    resourceVersion: string,
    columns = true,
  ): {
    kind: string;
    apiVersion: string;
    metadata: object;
    columnDefinitions: unknown;
  } {
    return {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion },
      columnDefinitions: columns ? columnsOf(this.#kind) : null,
    };
  }
}

const OPEN = Buffer.from('{');

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** The start of an object whose last field is a list that follows. */
function open(head: object, list: string): Buffer {
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${list}":[`);
}
