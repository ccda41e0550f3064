/**
 * A watch of nodes in protobuf, as kube-controller-manager and kube-scheduler watch: an observer in JSON would share its encoding
 * at the API server with a subject that watches in JSON, and so hide what that costs. Entry point: `watchNodesInProtobuf`. Field
 * numbers: generated.proto of k8s.io/apimachinery (pkg/runtime, meta/v1) and of k8s.io/api (core/v1).
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Node, Transport } from '@outrigger/kube';

export interface NodeEvent {
  readonly type: string;
  /** Metadata, spec and status as far as benchmarks look at them; for a bookmark, its resource version. */
  readonly object: Node;
}

const ACCEPT = 'application/vnd.kubernetes.protobuf;stream=watch';
/** In front of every object. */
const MAGIC = 'k8s\0';
/** Each message follows its length, 32 bits, most significant byte first. */
const LENGTH_BYTES = 4;

/** Ends when the server ends the watch; throws where it refuses it. */
export async function* watchNodesInProtobuf(
  transport: Transport,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<NodeEvent, void> {
  const response = await transport.send({
    method: 'GET',
    path: `/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(resourceVersion)}`,
    headers: { accept: ACCEPT },
    traffic: 'watch',
    timeoutMs: 0,
    signal,
  });
  if (response.status !== 200) throw new Error(`the watch of nodes was answered ${response.status}`);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of response.body) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let from = 0;
    while (rest.length - from >= LENGTH_BYTES) {
      const end = from + LENGTH_BYTES + rest.readUInt32BE(from);
      if (rest.length < end) break;
      yield readEvent(rest.subarray(from + LENGTH_BYTES, end));
      from = end;
    }
    rest = rest.subarray(from);
  }
}

/** Reads the fields named by their numbers; all others are passed over. */
type Fields<T> = Readonly<Record<number, (value: Uint8Array, into: T) => void>>;

function readFields<T>(encoded: Uint8Array, into: T, fields: Fields<T>): T {
  const reader = new BinaryReader(encoded);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const read = fields[number];
    if (read && wire === WireType.LengthDelimited) read(reader.bytes(), into);
    else reader.skip(wire, number);
  }
  return into;
}

const text = (value: Uint8Array): string => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();

interface Raw {
  type: string;
  bytes: Uint8Array;
}

function readEvent(message: Uint8Array): NodeEvent {
  const event = readFields<Raw>(
    message,
    { type: '', bytes: new Uint8Array() },
    {
      1: (value, into) => void (into.type = text(value)),
      2: (value, into) => readFields(value, into, { 1: (raw) => void (into.bytes = raw) }),
    },
  );
  if (text(event.bytes.subarray(0, MAGIC.length)) !== MAGIC) throw new Error('a watch event holds no protobuf object');
  const unknown = readFields<Raw>(
    event.bytes.subarray(MAGIC.length),
    { type: '', bytes: new Uint8Array() },
    {
      2: (value, into) => void (into.bytes = value),
    },
  );
  // A Status has other fields of the same numbers.
  if (event.type === 'ERROR') throw new Error('the watch of nodes ended with an error');
  return { type: event.type, object: readFields<MutableNode>(unknown.bytes, newNode(), NODE) as Node };
}

interface MutableNode {
  metadata: { name: string; resourceVersion: string; labels: Record<string, string> };
  spec: { providerID: string; podCIDR: string; taints: { key: string; effect: string }[] };
  status: {
    addresses: { type: string; address: string }[];
    conditions: { type: string; status: string; reason: string }[];
  };
}

function newNode(): MutableNode {
  return {
    metadata: { name: '', resourceVersion: '', labels: {} },
    spec: { providerID: '', podCIDR: '', taints: [] },
    status: { addresses: [], conditions: [] },
  };
}

const NODE: Fields<MutableNode> = {
  1: (value, { metadata }) =>
    readFields(value, metadata, {
      1: (name, into) => void (into.name = text(name)),
      6: (version, into) => void (into.resourceVersion = text(version)),
      11: (entry, into) => {
        const { key, label } = readFields(
          entry,
          { key: '', label: '' },
          {
            1: (bytes, pair) => void (pair.key = text(bytes)),
            2: (bytes, pair) => void (pair.label = text(bytes)),
          },
        );
        into.labels[key] = label;
      },
    }),
  2: (value, { spec }) =>
    readFields(value, spec, {
      1: (range, into) => void (into.podCIDR = text(range)),
      3: (id, into) => void (into.providerID = text(id)),
      5: (taint, into) =>
        into.taints.push(
          readFields(
            taint,
            { key: '', effect: '' },
            {
              1: (bytes, one) => void (one.key = text(bytes)),
              3: (bytes, one) => void (one.effect = text(bytes)),
            },
          ),
        ),
    }),
  3: (value, { status }) =>
    readFields(value, status, {
      4: (condition, into) =>
        into.conditions.push(
          readFields(
            condition,
            { type: '', status: '', reason: '' },
            {
              1: (bytes, one) => void (one.type = text(bytes)),
              2: (bytes, one) => void (one.status = text(bytes)),
              5: (bytes, one) => void (one.reason = text(bytes)),
            },
          ),
        ),
      5: (address, into) =>
        into.addresses.push(
          readFields(
            address,
            { type: '', address: '' },
            {
              1: (bytes, one) => void (one.type = text(bytes)),
              2: (bytes, one) => void (one.address = text(bytes)),
            },
          ),
        ),
    }),
};
