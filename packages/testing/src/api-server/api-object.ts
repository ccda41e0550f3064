/** API objects as the embedded server sees them: raw JSON, so that fields it does not know survive. */
import type { KubeObject, ObjectMeta } from '@outrigger/kube';

export type JsonObject = Record<string, unknown>;

/** Any API object, with whatever fields its kind has. */
export interface ApiObject extends KubeObject {
  [field: string]: unknown;
}

/** An object on its way into storage: its metadata is there. */
export interface NamedObject extends ApiObject {
  metadata: ObjectMeta;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value under `path`, or undefined as soon as a step is missing. */
export function valueAt(object: unknown, ...path: readonly (string | number)[]): unknown {
  let value = object;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as JsonObject)[String(step)];
  }
  return value;
}

/** The string under `path`, empty when there is none. */
export function stringAt(object: unknown, ...path: readonly (string | number)[]): string {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : '';
}

/** The list under `path`, empty when there is none. */
export function listAt(object: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The object under `field`, made when it is missing. */
export function section(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  if (isJsonObject(value)) return value;
  const made: JsonObject = {};
  object[field] = made;
  return made;
}

/** Drops fields that the API never writes when they are empty (Go's `omitempty`), so that patches see the same shape as on a real server. */
export function omitEmpty(object: unknown, ...fields: readonly string[]): void {
  if (!isJsonObject(object)) return;
  for (const field of fields) {
    const value = object[field];
    const empty =
      value === null ||
      value === '' ||
      value === false ||
      value === 0 ||
      (Array.isArray(value) && value.length === 0) ||
      (isJsonObject(value) && Object.keys(value).length === 0);
    if (empty) delete object[field];
  }
}

/** Equal as JSON values, whatever the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((value, i) => sameJson(value, b[i]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
