/**
 * Protobuf bodies, as `kubectl create namespace` and `kubectl create configmap` send them. Entry point: `readProtobuf`. Field
 * numbers: generated.proto of k8s.io/apimachinery (pkg/runtime, meta/v1) and of k8s.io/api (core/v1).
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { ApiObject, JsonObject } from './api-object.ts';
import { badRequest, StatusError } from './status-error.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** In front of every body. */
const MAGIC = Buffer.from('k8s\0');

/** Reads one value; `undefined`: it says nothing. */
interface Field {
  readonly name: string;
  readonly wire: WireType;
  readonly many?: 'list' | 'map';
  readonly read: (reader: BinaryReader, path: string) => unknown;
}

/** By number. */
type Message = Readonly<Record<number, Field>>;

const read = (name: string, wire: WireType, value: Field['read'], many?: Field['many']): Field => ({
  name,
  wire,
  read: value,
  ...(many && { many }),
});
const text = (name: string): Field => read(name, WireType.LengthDelimited, (reader) => reader.string() || undefined);
const texts = (name: string): Field => read(name, WireType.LengthDelimited, (reader) => reader.string(), 'list');
const bytes = (name: string): Field =>
  read(name, WireType.LengthDelimited, (reader) => Buffer.from(reader.bytes()).toString('base64'));
const message = (name: string, fields: Message): Field =>
  read(name, WireType.LengthDelimited, (reader, path) => {
    const value = decode(reader.bytes(), fields, path);
    return Object.keys(value).length > 0 ? value : undefined;
  });
/** Entries are messages: the key is field 1, the value is field 2. */
const map = (name: string, value: (name: string) => Field): Field =>
  read(
    name,
    WireType.LengthDelimited,
    (reader, path) => decode(reader.bytes(), { 1: text('key'), 2: value('value') }, path),
    'map',
  );
/** Go's encoder sends what is not set too, as its zero. */
const unset = (name: string, wire: WireType = WireType.LengthDelimited): Field =>
  read(name, wire, (reader, path) => {
    const isSet = wire === WireType.Varint ? BigInt(reader.int64()) !== 0n : reader.bytes().length > 0;
    if (isSet) throw unreadable(`its field ${path}`);
    return undefined;
  });

const OBJECT_META: Message = {
  1: text('name'),
  2: text('generateName'),
  3: text('namespace'),
  4: unset('selfLink'),
  5: unset('uid'),
  6: unset('resourceVersion'),
  7: unset('generation', WireType.Varint),
  8: unset('creationTimestamp'),
  11: map('labels', text),
  12: map('annotations', text),
  14: texts('finalizers'),
};

const MESSAGES: Readonly<Record<string, Message>> = {
  'v1 Namespace': {
    1: message('metadata', OBJECT_META),
    2: message('spec', { 1: texts('finalizers') }),
    3: message('status', { 1: text('phase') }),
  },
  'v1 ConfigMap': {
    1: message('metadata', OBJECT_META),
    2: map('data', text),
    3: map('binaryData', bytes),
    4: read('immutable', WireType.Varint, (reader) => reader.bool()),
  },
};

const UNKNOWN: Message = {
  1: message('typeMeta', { 1: text('apiVersion'), 2: text('kind') }),
  2: read('raw', WireType.LengthDelimited, (reader) => reader.bytes()),
  3: unset('contentEncoding'),
  4: unset('contentType'),
};

/**
 * The object in a body. `kind`: what is expected there. Throws 415 for another kind than a ConfigMap or a Namespace and for a
 * field that is not read here, 400 for what is no such message.
 */
export function readProtobuf(
  body: Uint8Array,
  kind: { readonly apiVersion: string; readonly kind: string },
): ApiObject {
  if (!(`${kind.apiVersion} ${kind.kind}` in MESSAGES)) throw unreadable(`a ${kind.kind}`);
  if (Buffer.compare(body.subarray(0, MAGIC.length), MAGIC) !== 0) {
    throw badRequest('the body is no protobuf of Kubernetes: it does not begin with "k8s\\0"');
  }
  try {
    const { typeMeta, raw } = decode(body.subarray(MAGIC.length), UNKNOWN, '');
    const { apiVersion, kind: given } = { ...kind, ...(typeMeta as JsonObject | undefined) };
    const fields = MESSAGES[`${apiVersion} ${given}`];
    if (!fields) throw unreadable(`a ${given} of ${apiVersion}`);
    return { apiVersion, kind: given, ...decode((raw as Uint8Array | undefined) ?? new Uint8Array(), fields, '') };
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`the protobuf body cannot be decoded: ${(error as Error).message}`);
  }
}

function decode(encoded: Uint8Array, fields: Message, path: string): JsonObject {
  const reader = new BinaryReader(encoded);
  const object: JsonObject = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields[number];
    if (!field) throw unreadable(`its field ${number}${path && ` of ${path}`}`);
    const { many, name } = field;
    const where = path ? `${path}.${name}` : name;
    if (wire !== field.wire) throw new Error(`${where} has the wire type ${wire}, not ${field.wire}`);
    const value = field.read(reader, where);
    if (many === 'list') object[name] = [...((object[name] as unknown[] | undefined) ?? []), value];
    else if (many === 'map') {
      const { key = '', value: entry = '' } = value as { readonly key?: string; readonly value?: string };
      object[name] = { ...(object[name] as JsonObject | undefined), [key]: entry };
    } else if (value !== undefined) object[name] = value;
  }
  return object;
}

function unreadable(what: string): StatusError {
  const message = `protobuf is read here of ConfigMaps and Namespaces, without what only a server sets; not ${what}: send JSON`;
  return new StatusError(415, 'UnsupportedMediaType', message, {});
}
