/** Creates, changes and deletes objects by the rules of the API. Synchronous: each call is one transaction. */
import type { Clock } from '@outrigger/kube';
import { isJsonObject, sameJson, stringAt, valueAt, type ApiObject, type NamedObject } from './api-object.ts';
import type { RuleContext } from './kind-rules.ts';
import { findKind, storageKind, type Kind } from './kinds.ts';
import {
  generateName,
  keepServerMeta,
  specChanged,
  stampNew,
  tidyMeta,
  validateMeta,
  validateMetaUpdate,
} from './object-meta.ts';
import { parseStored, type ObjectStorage, type StoredObject } from './object-storage.ts';
import { createAllocator } from './service-allocator.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  forbidden,
  internalError,
  invalid,
  invalidValue,
  notFound,
  type FieldError,
} from './status-error.ts';

/** Where a request points at. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string | undefined;
}

export interface DeleteRequest {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly dryRun?: boolean;
}

export interface WriteResult {
  /** The object as it is now; for a deletion that has ended, as it was last. */
  readonly object: StoredObject;
  readonly created?: boolean;
  /** Set when the object is gone from storage. */
  readonly removed?: boolean;
}

const CHANGED = 'the object has been modified; please apply your changes to the latest version and try again';

export class Registry {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #allocator: RuleContext['allocator'] = createAllocator();

  constructor(storage: ObjectStorage, clock: Clock, random: () => number) {
    this.#storage = storage;
    this.#clock = clock;
    this.#random = random;
  }

  /** Throws 404 when it is not there. */
  get(target: Target): StoredObject {
    const stored = this.#storage.get(target.kind, keyFor(target));
    if (!stored) throw notFound(target.kind, target.name);
    return stored;
  }

  create(target: Target, body: ApiObject, dryRun = false): WriteResult {
    const kind = storageKind(target.kind);
    const object = tidyMeta(target.kind.view ? target.kind.view.toStored(tidyMeta(body)) : body);
    const { metadata } = object;
    this.#placeInNamespace(target, object);
    if (metadata.resourceVersion) throw internalError('resourceVersion should not be set on objects to be created');
    if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, this.#random);
    const name = metadata.name ?? '';
    const context = this.#context();
    stampNew(object, kind, context.now);
    if (kind.rules.statusOnCreate === 'drop') delete object['status'];
    kind.rules.defaults?.(object);
    this.#check(target.kind, name, [...validateMeta(object, kind), ...(kind.rules.validate?.(object) ?? [])]);
    if (kind.namespaced) this.#requireNamespace(metadata.namespace ?? '', target.kind, name);
    if (this.#storage.get(kind, keyFor({ ...target, name }))) throw alreadyExists(target.kind, name);
    this.#check(target.kind, name, kind.rules.prepareCreate?.(object, context) ?? []);
    if (dryRun) {
      kind.rules.released?.(object, context);
      return { object: unstored(kind, object), created: true };
    }
    return { object: this.#storage.put(kind, object), created: true };
  }

  /** Replaces the object, or its status. */
  update(target: Target, body: ApiObject, dryRun = false): WriteResult {
    const kind = storageKind(target.kind);
    const object = tidyMeta(target.kind.view ? target.kind.view.toStored(tidyMeta(body)) : body);
    if (object.metadata.name !== target.name) {
      throw badRequest(
        `the name of the object (${object.metadata.name ?? ''}) does not match the name on the URL (${target.name})`,
      );
    }
    this.#placeInNamespace(target, object);
    const stored = this.#storage.get(kind, keyFor(target));
    if (!stored) {
      if (!kind.rules.createOnUpdate || target.subresource) throw notFound(target.kind, target.name);
      delete object.metadata.resourceVersion;
      return this.create(target, object, dryRun);
    }
    if (kind.rules.versionRequired && !object.metadata.resourceVersion) {
      throw invalid({ group: target.kind.group, kind: target.kind.plural }, target.name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
    const { uid } = object.metadata;
    if (uid !== undefined && uid !== stored.uid) {
      throw conflict(
        target.kind,
        target.name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.uid}`,
      );
    }
    return this.#replace(target, stored, object, dryRun);
  }

  /** Changes the current object with `change`, which gets a copy that it may write to. */
  patch(target: Target, change: (current: NamedObject) => ApiObject, dryRun = false): WriteResult {
    const stored = this.get(target);
    const current = parseStored(stored);
    const changed = change(target.kind.view ? target.kind.view.fromStored(current) : current);
    const object = tidyMeta(target.kind.view ? target.kind.view.toStored(tidyMeta(changed)) : changed);
    if (object.metadata.name !== target.name) {
      throw badRequest(
        `the name of the object (${object.metadata.name ?? ''}) does not match the name on the URL (${target.name})`,
      );
    }
    this.#placeInNamespace(target, object);
    return this.#replace(target, stored, object, dryRun);
  }

  delete(target: Target, request: DeleteRequest): WriteResult {
    const kind = storageKind(target.kind);
    const stored = this.get(target);
    const { uid, resourceVersion } = request;
    const subject = { ...target.kind, plural: target.kind.kind };
    if (uid !== undefined && uid !== stored.uid) {
      throw conflict(
        subject,
        target.name,
        `the UID in the precondition (${uid}) does not match the UID in record (${stored.uid}). The object might have been deleted and then recreated`,
      );
    }
    if (resourceVersion !== undefined && resourceVersion !== String(stored.revision)) {
      throw conflict(
        subject,
        target.name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${stored.revision}). The object might have been modified`,
      );
    }
    const object = parseStored(stored);
    const finalizers = finalizersAfter(object.metadata.finalizers ?? [], request.propagationPolicy);
    const namespaced =
      kind.plural === 'namespaces' && (valueAt(object, 'spec', 'finalizers') as unknown[] | undefined)?.length;
    const default_ = kind.rules.gracePeriodSeconds?.(object) ?? 0;
    const grace = default_ === 0 ? 0 : (request.gracePeriodSeconds ?? default_);
    if (finalizers.length === 0 && grace === 0 && !namespaced) {
      if (request.dryRun) return { object: stored, removed: true };
      kind.rules.released?.(object, this.#context());
      return { object: this.#storage.remove(kind, stored.key) ?? stored, removed: true };
    }
    const pending = object.metadata.deletionTimestamp;
    const shorter = (object.metadata.deletionGracePeriodSeconds ?? 0) > grace;
    if (pending !== undefined && !shorter && sameJson(finalizers, object.metadata.finalizers ?? [])) {
      return { object: stored };
    }
    if (finalizers.length > 0) object.metadata.finalizers = finalizers;
    else delete object.metadata.finalizers;
    if (pending === undefined || shorter) {
      object.metadata.deletionTimestamp = timestamp(this.#clock.now() + grace * 1_000);
      object.metadata.deletionGracePeriodSeconds = grace;
      if (object.metadata.generation !== undefined) object.metadata.generation++;
    }
    if (kind.plural === 'namespaces') object['status'] = { ...(object['status'] as object), phase: 'Terminating' };
    if (request.dryRun) return { object: unstored(kind, object) };
    return { object: this.#storage.put(kind, object) };
  }

  #replace(target: Target, stored: StoredObject, object: NamedObject, dryRun: boolean): WriteResult {
    const kind = storageKind(target.kind);
    const old = parseStored(stored);
    const { resourceVersion } = object.metadata;
    if (resourceVersion && resourceVersion !== String(stored.revision))
      throw conflict(target.kind, target.name, CHANGED);
    keepServerMeta(object, old);
    if (target.subresource === 'status') keepAllBut(object, old, 'status');
    else if (target.subresource === 'finalize') keepAllBut(object, old, 'spec');
    else if (kind.status) keep(object, old, 'status');
    kind.rules.defaults?.(object);
    const context = this.#context();
    this.#check(target.kind, target.name, [
      ...validateMeta(object, kind),
      ...validateMetaUpdate(object, old),
      ...(kind.rules.validate?.(object) ?? []),
    ]);
    if (target.subresource === undefined) {
      this.#check(target.kind, target.name, kind.rules.prepareUpdate?.(object, old, context) ?? []);
    }
    this.#check(target.kind, target.name, kind.rules.validateUpdate?.(object, old) ?? []);
    if (kind.rules.generation && specChanged(object, old)) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
    if (dryRun) return { object: unstored(kind, object) };
    if (this.#endsDeletion(kind, object)) {
      kind.rules.released?.(object, context);
      return { object: this.#storage.remove(kind, stored.key, object) ?? stored, removed: true };
    }
    // A write that changes nothing is none: no revision, no event.
    object.metadata.resourceVersion = String(stored.revision);
    if (sameJson({ ...object, kind: 0, apiVersion: 0 }, { ...old, kind: 0, apiVersion: 0 })) return { object: stored };
    return { object: this.#storage.put(kind, object) };
  }

  #endsDeletion(kind: Kind, object: NamedObject): boolean {
    if (object.metadata.deletionTimestamp === undefined) return false;
    if ((object.metadata.finalizers ?? []).length > 0) return false;
    if (kind.plural === 'namespaces')
      return ((valueAt(object, 'spec', 'finalizers') as unknown[] | undefined) ?? []).length === 0;
    return (object.metadata.deletionGracePeriodSeconds ?? 0) === 0;
  }

  #placeInNamespace({ kind, namespace }: Target, object: NamedObject): void {
    if (!kind.namespaced) {
      delete object.metadata.namespace;
      return;
    }
    if (object.metadata.namespace && object.metadata.namespace !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    object.metadata.namespace = namespace;
  }

  #requireNamespace(name: string, kind: Kind, object: string): void {
    const namespaces = findKind('', 'v1', 'namespaces');
    const stored = namespaces && this.#storage.get(namespaces, name);
    if (!namespaces || !stored) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, name);
    if (stored.fields['status.phase'] === 'Terminating') {
      throw forbidden(kind, object, `unable to create new content in namespace ${name} because it is being terminated`);
    }
  }

  #check(kind: Kind, name: string, errors: readonly FieldError[]): void {
    if (errors.length > 0) throw invalid(kind, name, errors);
  }

  #context(): RuleContext {
    return { now: timestamp(this.#clock.now()), allocator: this.#allocator };
  }
}

/** RFC 3339 in whole seconds. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function keyFor({ kind, namespace, name }: Pick<Target, 'kind' | 'namespace' | 'name'>): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}

function keep(object: NamedObject, old: NamedObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = structuredClone(old[field]);
}

/** Metadata goes through with status, as on the built-in kinds of the real server. */
function keepAllBut(object: NamedObject, old: NamedObject, changed: string): void {
  const fields = new Set([...Object.keys(object), ...Object.keys(old)]);
  for (const field of fields) if (field !== 'metadata' && field !== changed) keep(object, old, field);
}

function finalizersAfter(finalizers: readonly string[], propagation: string | undefined): string[] {
  const rest = finalizers.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (propagation === 'Orphan') return [...rest, 'orphan'];
  if (propagation === 'Foreground') return [...rest, 'foregroundDeletion'];
  if (propagation === 'Background') return rest;
  return [...finalizers];
}

/** An object as an answer only: what a dry run would have stored. */
function unstored(kind: Kind, object: NamedObject): StoredObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  const bytes = Buffer.from(JSON.stringify({ kind: kind.kind, apiVersion: kind.apiVersion, ...rest }));
  return {
    kind,
    key: '',
    name: stringAt(object, 'metadata', 'name'),
    namespace: stringAt(object, 'metadata', 'namespace'),
    uid: stringAt(object, 'metadata', 'uid'),
    revision: 0,
    bytes,
    labels: isJsonObject(object.metadata.labels) ? object.metadata.labels : {},
    fields: {},
  };
}
