/** RFC 6902 on a parsed document, which is changed in place. */
import type { JsonPatchOperation } from '@outrigger/kube';
import { isJsonObject, sameJson, type JsonObject } from './api-object.ts';
import { badRequest, StatusError } from './status-error.ts';

/** The real server says no more than this, whichever operation failed. */
const rejected = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function steps(pointer: unknown): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) throw rejected();
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function indexOf(step: string, end: number): number {
  if (!/^(0|[1-9]\d*)$/.test(step)) throw rejected();
  const index = Number(step);
  if (index > end) throw rejected();
  return index;
}

function child(parent: unknown, step: string): unknown {
  if (Array.isArray(parent)) return parent[indexOf(step, parent.length - 1)];
  if (!isJsonObject(parent) || !Object.hasOwn(parent, step)) throw rejected();
  return parent[step];
}

function read(document: unknown, pointer: unknown): unknown {
  return steps(pointer).reduce<unknown>(child, document);
}

/** The container that a pointer's last step is in; a missing one is an error, never made. */
function locate(document: unknown, pointer: unknown): { parent: JsonObject | unknown[]; step: string } {
  const path = steps(pointer);
  const step = path.pop();
  if (step === undefined) throw rejected();
  const parent = path.reduce<unknown>(child, document);
  if (!Array.isArray(parent) && !isJsonObject(parent)) throw rejected();
  return { parent, step };
}

function add(document: unknown, pointer: unknown, value: unknown): void {
  const { parent, step } = locate(document, pointer);
  if (Array.isArray(parent)) {
    parent.splice(step === '-' ? parent.length : indexOf(step, parent.length), 0, value);
  } else parent[step] = value;
}

function remove(document: unknown, pointer: unknown): unknown {
  const { parent, step } = locate(document, pointer);
  const value = child(parent, step);
  if (Array.isArray(parent)) parent.splice(Number(step), 1);
  else delete parent[step];
  return value;
}

function replace(document: unknown, pointer: unknown, value: unknown): void {
  const { parent, step } = locate(document, pointer);
  child(parent, step);
  if (Array.isArray(parent)) parent[Number(step)] = value;
  else parent[step] = value;
}

function applyOne(document: unknown, operation: JsonPatchOperation): void {
  switch (operation.op) {
    case 'add':
      return add(document, operation.path, structuredClone(operation.value));
    case 'replace':
      return replace(document, operation.path, structuredClone(operation.value));
    case 'remove':
      return void remove(document, operation.path);
    case 'copy':
      return add(document, operation.path, structuredClone(read(document, operation.from)));
    case 'move':
      return add(document, operation.path, remove(document, operation.from));
    case 'test':
      if (!sameJson(read(document, operation.path), operation.value)) throw rejected();
      return undefined;
    default:
      throw rejected();
  }
}

/** Throws 400 when the patch is no list, 422 when an operation cannot be done. */
export function applyJsonPatch(document: JsonObject, patch: unknown): JsonObject {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
  for (const operation of patch) {
    if (!isJsonObject(operation)) throw rejected();
    applyOne(document, operation as unknown as JsonPatchOperation);
  }
  return document;
}
