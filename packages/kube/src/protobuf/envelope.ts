/**
 * What the API server puts around objects in protobuf: `k8s\0`, then a `runtime.Unknown` that names the kind and holds the
 * object; in a watch, that within an event. https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
import type { Status } from '../status-error.ts';
import { MessageReader, UnreadableMessageError } from './message-reader.ts';
import { tableOf, type MessageTable } from './message-table.ts';

/** Of the `Accept` header, and with parameters behind it of `Content-Type`. */
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from('k8s\0');

const DELIMITED = 2;
const FIRST = (1 << 3) | DELIMITED;
const SECOND = (2 << 3) | DELIMITED;
const THIRD = (3 << 3) | DELIMITED;
const FOURTH = (4 << 3) | DELIMITED;

/** A list, in either encoding. */
export interface ListAnswer<T> {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  /** Without kind and apiVersion. `null`: none, as Go writes a list that was never filled. */
  readonly items: T[] | null;
}

/** A `kind` with all its fields. Throws an `UnreadableMessageError`, as all others here do. */
export function readObject(kind: string, bytes: Buffer): object {
  return objectIn(new MessageReader(bytes), bytes.length, kind);
}

export function readStatus(bytes: Buffer): Status {
  return readObject('Status', bytes);
}

/** A `kind`List. All lists are alike: metadata, and items. */
export function readList(kind: string, bytes: Buffer): ListAnswer<object> {
  const table = tableNamed(kind);
  const items: object[] = [];
  let metadata = {};
  const reader = new MessageReader(bytes);
  unwrap(reader, bytes.length, `${kind}List`, (end) => {
    while (reader.goesOn(end)) {
      const tag = reader.tag(end);
      if (tag === FIRST) metadata = reader.nested(tableNamed('ListMeta'), end);
      else if (tag === SECOND) items.push(reader.nested(table, end));
      else throw unknown(`${kind}List`, tag);
    }
  });
  return { metadata, items };
}

/** An event of a watch of this kind: of the type ERROR with a Status, of others with the object. */
export function readWatchEvent(kind: string, bytes: Buffer): { readonly type: string; readonly object: object } {
  const reader = new MessageReader(bytes);
  const end = bytes.length;
  let type = '';
  let object: object | undefined;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag === FIRST) type = reader.string(end);
    // Behind the type, which says what it is.
    else if (tag === SECOND && type)
      object = rawObjectIn(reader, reader.inner(end), type === 'ERROR' ? 'Status' : kind);
    else throw unknown('a watch event', tag);
  }
  if (!object) throw new UnreadableMessageError('a watch event without an object');
  return { type, object };
}

/** Of a `runtime.RawExtension`. */
function rawObjectIn(reader: MessageReader, end: number, kind: string): object | undefined {
  let object: object | undefined;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag !== FIRST) throw unknown('the object of a watch event', tag);
    object = objectIn(reader, reader.inner(end), kind);
  }
  return object;
}

function objectIn(reader: MessageReader, end: number, kind: string): object {
  const object = { kind, apiVersion: '' };
  unwrap(reader, end, kind, (innerEnd, apiVersion) => {
    object.apiVersion = apiVersion;
    reader.message(tableNamed(kind), innerEnd, object);
  });
  return object;
}

/** Lets `read` read what is in the envelope, which ends at `innerEnd`. */
function unwrap(
  reader: MessageReader,
  end: number,
  kind: string,
  read: (innerEnd: number, apiVersion: string) => void,
): void {
  if (!reader.takes(MAGIC, end))
    throw new UnreadableMessageError(`${kind}: does not begin as protobuf of Kubernetes does`);
  let type: { apiVersion?: string; kind?: string } = {};
  let isRead = false;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag === FIRST) {
      type = reader.nested(tableNamed('TypeMeta'), end);
      if (type.kind !== kind) throw new UnreadableMessageError(`what came is no ${kind}`);
    } else if (tag === SECOND && type.kind && !isRead) {
      read(reader.inner(end), type.apiVersion ?? '');
      isRead = true;
    }
    // Content encoding and type: always empty, which means protobuf as it is.
    else if ((tag !== THIRD && tag !== FOURTH) || reader.string(end) !== '')
      throw unknown(`the envelope of ${kind}`, tag);
  }
  if (!isRead) throw new UnreadableMessageError(`no ${kind} came`);
}

function unknown(what: string, tag: number): UnreadableMessageError {
  return new UnreadableMessageError(`${what} has a field ${tag >>> 3}, which is not known there`);
}

function tableNamed(name: string): MessageTable {
  const table = tableOf(name);
  if (!table) throw new UnreadableMessageError(`there is no table of ${name}`);
  return table;
}
