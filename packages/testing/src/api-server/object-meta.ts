/** The rules for `metadata`, which hold for objects of every kind. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, omitEmpty, sameJson, type ApiObject, type NamedObject } from './api-object.ts';
import type { Kind } from './kinds.ts';
import { labelKeyProblem, labelValueProblem, nameProblem } from './label-syntax.ts';
import { forbiddenValue, invalidValue, requiredValue, type FieldError } from './status-error.ts';

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const MAX_GENERATED_BASE = 58;

/** Drops what the API would not write, so that an empty map and no map are the same thing. */
export function tidyMeta(object: ApiObject): NamedObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : (object.metadata = {});
  omitEmpty(
    metadata,
    'labels',
    'annotations',
    'finalizers',
    'ownerReferences',
    'generateName',
    'namespace',
    'selfLink',
  );
  // Field ownership is not tracked here: see the README.
  delete metadata.managedFields;
  return object as NamedObject;
}

/** `generateName` with five letters behind it, as upstream picks them. */
export function generateName(base: string, random: () => number): string {
  let suffix = '';
  for (let i = 0; i < 5; i++) suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)];
  return base.slice(0, MAX_GENERATED_BASE) + suffix;
}

/** Sets what only the server sets. */
export function stampNew(object: NamedObject, kind: Kind, now: string): void {
  const { metadata } = object;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = now;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.resourceVersion;
  delete metadata.generation;
  if (kind.rules.generation) metadata.generation = 1;
}

/** Carries over what clients cannot change. */
export function keepServerMeta(object: NamedObject, old: NamedObject): void {
  const { metadata } = object;
  metadata.uid ??= old.metadata.uid ?? '';
  if (old.metadata.creationTimestamp !== undefined) metadata.creationTimestamp = old.metadata.creationTimestamp;
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
    const value = old.metadata[field];
    if (value === undefined) delete metadata[field];
    else (metadata as Record<string, unknown>)[field] = value;
  }
}

export function validateMeta(object: NamedObject, kind: Kind): FieldError[] {
  const { name = '', labels = {}, annotations = {}, finalizers = [] } = object.metadata;
  const errors: FieldError[] = [];
  if (name === '') return [requiredValue('metadata.name', 'name or generateName is required')];
  const problem = nameProblem(name, kind.rules.name ?? 'subdomain');
  if (problem) errors.push(invalidValue('metadata.name', name, problem));
  for (const [key, value] of Object.entries(labels)) {
    const keyProblem = labelKeyProblem(key);
    if (keyProblem) errors.push(invalidValue('metadata.labels', key, keyProblem));
    const valueProblem = typeof value === 'string' ? labelValueProblem(value) : 'must be a string';
    if (valueProblem) errors.push(invalidValue('metadata.labels', value, valueProblem));
  }
  for (const [key, value] of Object.entries(annotations)) {
    const keyProblem = labelKeyProblem(key.toLowerCase());
    if (keyProblem) errors.push(invalidValue('metadata.annotations', key, keyProblem));
    if (typeof value !== 'string') errors.push(invalidValue('metadata.annotations', value, 'must be a string'));
  }
  for (const [i, finalizer] of finalizers.entries()) {
    const qualified = finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer);
    const why =
      labelKeyProblem(finalizer) ??
      (qualified ? undefined : 'name is neither a standard finalizer name nor is it fully qualified');
    if (why) errors.push(invalidValue(`metadata.finalizers[${i}]`, finalizer, why));
  }
  return errors;
}

export function validateMetaUpdate(object: NamedObject, old: NamedObject): FieldError[] {
  const errors: FieldError[] = [];
  if (object.metadata.uid !== old.metadata.uid) {
    errors.push(invalidValue('metadata.uid', object.metadata.uid, 'field is immutable'));
  }
  const before = old.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  if (old.metadata.deletionTimestamp !== undefined && added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    errors.push(
      forbiddenValue(
        'metadata.finalizers',
        `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      ),
    );
  }
  return errors;
}

/** Whether spec (for kinds without one: anything but metadata and status) differs, which `generation` counts. */
export function specChanged(object: NamedObject, old: NamedObject): boolean {
  const { metadata: _m1, status: _s1, ...spec } = object;
  const { metadata: _m2, status: _s2, ...oldSpec } = old;
  return !sameJson(spec, oldSpec);
}
