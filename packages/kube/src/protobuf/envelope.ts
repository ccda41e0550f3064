/**
 * What the API server puts around objects in protobuf: `k8s\0`, then a `runtime.Unknown` that names the kind and holds the
 * object; in a watch, that within an event. https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
import type { Status } from '../status-error.ts';
import { MessageReader, UnreadableMessageError } from './message-reader.ts';
import { tableOf } from './message-table.ts';

/** Of the `Accept` header, and with parameters behind it of `Content-Type`. */
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** `k8s\0`. */
const MAGIC = 0x6b_38_73_00;
const MAGIC_BYTES = 4;

const DELIMITED = 2;
const FIRST = (1 << 3) | DELIMITED;
const SECOND = (2 << 3) | DELIMITED;
const THIRD = (3 << 3) | DELIMITED;
const FOURTH = (4 << 3) | DELIMITED;

export interface ListAnswer {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  /** Without kind and apiVersion, as in JSON. */
  readonly items: object[];
}

/** A `kind` with all its fields. Throws an `UnreadableMessageError`, as all others here do. */
export function readObject(kind: string, bytes: Buffer): object {
  const { apiVersion, raw } = open(bytes, kind);
  const reader = new MessageReader(raw);
  return reader.message(tableNamed(kind), reader.length, { kind, apiVersion });
}

/** A `kind`List. All lists are alike: metadata, and items. */
export function readList(kind: string, bytes: Buffer): ListAnswer {
  const table = tableNamed(kind);
  const reader = new MessageReader(open(bytes, `${kind}List`).raw);
  const end = reader.length;
  const items: object[] = [];
  let metadata = {};
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag === FIRST) metadata = messageOf('ListMeta', reader.bytes(end));
    else if (tag === SECOND) items.push(reader.nested(table, end));
    else throw new UnreadableMessageError(`${kind}List has a field ${tag >>> 3}, which is not known`);
  }
  return { metadata, items };
}

export function readStatus(bytes: Buffer): Status {
  return readObject('Status', bytes);
}

/** An event of a watch of this kind: of the type ERROR with a Status, of others with the object. */
export function readWatchEvent(kind: string, bytes: Buffer): { readonly type: string; readonly object: object } {
  const reader = new MessageReader(bytes);
  const end = reader.length;
  let type = '';
  let raw: Buffer | undefined;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag === FIRST) type = reader.string(end);
    else if (tag === SECOND) raw = rawOf(reader.bytes(end));
    else throw new UnreadableMessageError(`a watch event has a field ${tag >>> 3}, which is not known`);
  }
  if (!raw) throw new UnreadableMessageError('a watch event without an object');
  return { type, object: type === 'ERROR' ? readStatus(raw) : readObject(kind, raw) };
}

/** Of a `runtime.RawExtension`. */
function rawOf(bytes: Buffer): Buffer | undefined {
  const reader = new MessageReader(bytes);
  const end = reader.length;
  let raw: Buffer | undefined;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag !== FIRST)
      throw new UnreadableMessageError(`a watch event's object has a field ${tag >>> 3}, which is not known`);
    raw = reader.bytes(end);
  }
  return raw;
}

function open(bytes: Buffer, kind: string): { readonly apiVersion: string; readonly raw: Buffer } {
  if (bytes.length < MAGIC_BYTES || bytes.readUInt32BE(0) !== MAGIC) {
    throw new UnreadableMessageError(`${kind}: does not begin as protobuf of Kubernetes does`);
  }
  const reader = new MessageReader(bytes.subarray(MAGIC_BYTES));
  const end = reader.length;
  let type: { apiVersion?: string; kind?: string } = {};
  let raw: Buffer | undefined;
  while (reader.goesOn(end)) {
    const tag = reader.tag(end);
    if (tag === FIRST) type = messageOf('TypeMeta', reader.bytes(end));
    else if (tag === SECOND) raw = reader.bytes(end);
    // Content encoding and type: always empty, which means protobuf as it is.
    else if ((tag !== THIRD && tag !== FOURTH) || reader.string(end) !== '') {
      throw new UnreadableMessageError(`${kind}: field ${tag >>> 3} of its envelope is not known`);
    }
  }
  if (type.kind !== kind || !raw) throw new UnreadableMessageError(`what came is no ${kind}`);
  return { apiVersion: type.apiVersion ?? '', raw };
}

function messageOf(name: string, bytes: Buffer): object {
  const reader = new MessageReader(bytes);
  return reader.message(tableNamed(name), reader.length, {});
}

function tableNamed(name: string): NonNullable<ReturnType<typeof tableOf>> {
  const table = tableOf(name);
  if (!table) throw new UnreadableMessageError(`there is no table of ${name}`);
  return table;
}
