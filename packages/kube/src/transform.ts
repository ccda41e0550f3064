/**
 * What is cut from objects before they are kept. Objects are rebuilt: `delete` would leave them in V8's dictionary mode,
 * a fifth larger. A trimmed object must never be sent back whole (`update`): patch instead.
 */
import type { KubeObject } from './kube-object.ts';
import { tableOf } from './protobuf/message-table.ts';
import type { Resource } from './resource.ts';
import type { Node } from './types/index.ts';

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

/** Of the addresses of a node, in number and characters: as many as a cloud may give, and no DNS name is longer. */
const MOST_ADDRESSES = 1_000;
const ADDRESS_LENGTH = 255;

/**
 * Drops managedFields, and of the status all but conditions, addresses and the like: what is left of a node of 10 KB is about 4 KB. Of
 * addresses, the first 1,000, and none of more than 255 characters: a kubelet may write a megabyte of them.
 */
export function trimNode(node: Node): Node {
  const trimmed = trimManagedFields(node);
  const all = Object.entries(trimmed.status ?? {});
  const addresses = trimmed.status?.addresses ?? [];
  const usable = addresses.filter(({ address }, i) => i < MOST_ADDRESSES && address.length <= ADDRESS_LENGTH);
  const kept = all.filter(([name]) => UNREAD.every((field) => field?.name !== name));
  if (usable.length < addresses.length) kept.push(['addresses', usable]);
  else if (kept.length === all.length) return trimmed;
  return { ...trimmed, status: Object.fromEntries(kept) };
}

/** `trimNode` for nodes, `trimManagedFields` for all others. */
export function defaultTransform<T extends KubeObject>(resource: Resource<T>): Transform<T> {
  const isNode = resource.group === '' && resource.plural === 'nodes' && !resource.answer;
  return isNode ? (trimNode as unknown as Transform<T>) : trimManagedFields;
}
