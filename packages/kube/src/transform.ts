/**
 * What is cut from objects before they are kept. Objects are rebuilt: `delete` would leave them in V8's dictionary mode,
 * a fifth larger. A trimmed object must never be sent back whole (`update`): patch instead.
 */
import type { KubeObject } from './kube-object.ts';
import { tableOf } from './protobuf/message-table.ts';
import type { Resource } from './resource.ts';
import type { Node, NodeAddress } from './types/index.ts';

/** Makes of an object what is kept of it. Returns the same object when there is nothing to change. */
export type Transform<T extends KubeObject> = (object: T) => T;

/** Drops `metadata.managedFields`: half of a typical object, and of interest to the server only. */
export function trimManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata?.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Of a node's status, what no cloud controller reads: sizes, images, volumes, features. The tables of protobuf say which. */
const UNREAD = tableOf('NodeStatus')?.fields.filter((field) => field?.type === 'skip') ?? [];

/** Of the lists of a node's status, addresses and conditions: as many as a cloud may give. */
const MOST_LISTED = 1_000;
/** Of its texts, in characters: no DNS name is longer. */
const NAME_LENGTH = 255;
/** Of a condition's message: longer than any that this program writes, which it compares. */
const MESSAGE_LENGTH = 1_024;

/**
 * Drops managedFields, and of the status all but conditions, addresses and the like: what is left of a node of 10 KB is about 4 KB. A kubelet
 * may write a megabyte into each of these: of a list the first 1,000 are kept, without an address of more than 255 characters, and of other
 * texts 255 characters, of a message 1,024.
 */
export function trimNode(node: Node): Node {
  const trimmed = trimManagedFields(node);
  const all = Object.entries(trimmed.status ?? {});
  const read = all.filter(([name]) => UNREAD.every((field) => field?.name !== name));
  const isBounded = read.every(([name, value]) => isWithin(name, value));
  if (isBounded && read.length === all.length) return trimmed;
  const kept = isBounded ? read : read.map(([name, value]) => [name, cut(name, value)] as const);
  return { ...trimmed, status: Object.fromEntries(kept) };
}

const lengthOf = (name: string): number => (name === 'message' ? MESSAGE_LENGTH : NAME_LENGTH);

/** Whether nothing is to be cut, as of nearly every node: asked for each heartbeat. */
function isWithin(name: string, value: unknown): boolean {
  if (typeof value === 'string') return value.length <= lengthOf(name);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.length <= MOST_LISTED && value.every((one) => isWithin('', one));
  return Object.keys(value).every((field) => isWithin(field, (value as Record<string, unknown>)[field]));
}

function cut(name: string, value: unknown): unknown {
  // A copy: what V8 cuts from a text holds the whole one.
  if (typeof value === 'string') return structuredClone(value.slice(0, lengthOf(name)));
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, cut(field, one)]));
  }
  const list: readonly unknown[] = value;
  // A part of an address is another one.
  const isUsable = (one: unknown): boolean =>
    ((one as Partial<NodeAddress> | null)?.address?.length ?? 0) <= NAME_LENGTH;
  return list.filter((one, i) => i < MOST_LISTED && isUsable(one)).map((one) => cut('', one));
}

/** `trimNode` for nodes, `trimManagedFields` for all others. */
export function defaultTransform<T extends KubeObject>(resource: Resource<T>): Transform<T> {
  const isNode = resource.group === '' && resource.plural === 'nodes' && !resource.answer;
  return isNode ? (trimNode as unknown as Transform<T>) : trimManagedFields;
}
