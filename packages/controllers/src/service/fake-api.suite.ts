/** For tests: objects in memory behind a store and the client, with the patch semantics that the controller relies on. */
import { isDeepStrictEqual } from 'node:util';
import {
  keyOfObject,
  StatusError,
  type Client,
  type JsonPatchOperation,
  type KubeObject,
  type Node,
  type Patch,
  type ResourceClient,
  type Service,
  type Store,
  type ResourceEvent,
} from '@outrigger/kube';

export class FakeStore<T extends KubeObject> {
  readonly objects: Map<string, T> = new Map();
  readonly #seen = new Map<string, T>();
  readonly #listeners = new Set<(change: ResourceEvent<T>) => void>();
  /** While true, the store does not hear of changes. */
  holdWatch: boolean = false;
  #version = 100;

  put(object: T): T {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    this.objects.set(keyOfObject(object), stored);
    this.publish();
    return stored;
  }

  remove(key: string): void {
    this.objects.delete(key);
    this.publish();
  }

  /** Of the first list, so many are told at once and the others so much later, as a store does with thousands. */
  firstSlice: { readonly size: number; readonly rest: Promise<unknown> } | undefined;

  /** Lets the store see what is there, as the watch would. */
  publish(): void {
    if (this.holdWatch) return;
    const changes: ResourceEvent<T>[] = [];
    for (const [key, object] of this.objects) {
      const previous = this.#seen.get(key);
      if (previous === object) continue;
      changes.push(previous ? { type: 'update', key, object, previous } : { type: 'add', key, object });
      this.#seen.set(key, object);
    }
    for (const [key, previous] of this.#seen) {
      if (this.objects.has(key)) continue;
      this.#seen.delete(key);
      changes.push({ type: 'delete', key, previous });
    }
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }

  readonly store: Store<T> = ((fake: FakeStore<T>): Store<T> => ({
    synced: true,
    whenSynced: () => Promise.resolve(),
    get: (key) => fake.#seen.get(key),
    values: () => fake.#seen.values(),
    get size(): number {
      return fake.#seen.size;
    },
    subscribe: (listener) => {
      const first = [...fake.#seen];
      const tell = (those: typeof first): void => {
        for (const [key, object] of those) listener({ type: 'add', key, object });
      };
      const { size, rest } = fake.firstSlice ?? { size: first.length };
      tell(first.slice(0, size));
      void rest?.then(() => tell(first.slice(size)));
      fake.#listeners.add(listener);
      return () => void fake.#listeners.delete(listener);
    },
  }))(this);
}

/** Services that can be patched, and nodes that cannot. */
export class FakeApi {
  readonly services: FakeStore<Service> = new FakeStore();
  readonly nodes: FakeStore<Node> = new FakeStore();
  readonly patches: { readonly name: string; readonly patch: Patch }[] = [];
  /** Called before and after each patch took effect; throw to fail it or lose its answer. */
  before: (name: string) => void = () => {};
  /** How long a patch is on its way. */
  writing: () => Promise<void> = () => Promise.resolve();
  after: (name: string) => void = () => {};
  /** How long a list is on its way. */
  reading: () => Promise<void> = () => Promise.resolve();
  /** Called when a Service is gone for good. */
  onGone: (service: Service) => void = () => {};
  /** By name of a Service, which no two have: where that is not `default`. */
  readonly namespaces: Map<string, string> = new Map();
  #uid = 0;

  /** Makes a Service, or changes the spec and metadata of the one of this name. */
  apply(name: string, spec: NonNullable<Service['spec']>, metadata: NonNullable<Service['metadata']> = {}): Service {
    const before = this.get(name);
    const namespace = this.#namespaceOf(name);
    const service: Service = {
      ...before,
      apiVersion: 'v1',
      kind: 'Service',
      spec,
      metadata: { ...(before?.metadata ?? { uid: `uid-${++this.#uid}` }), name, namespace, ...metadata },
    };
    return this.services.put(service);
  }

  get(name: string): Service | undefined {
    return this.services.objects.get(`${this.#namespaceOf(name)}/${name}`);
  }

  #namespaceOf(name: string): string {
    return this.namespaces.get(name) ?? 'default';
  }

  delete(name: string): void {
    const service = this.get(name);
    if (!service) return;
    if ((service.metadata?.finalizers ?? []).length === 0) return this.#gone(service);
    this.services.put({ ...service, metadata: { ...service.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  }

  #gone(service: Service): void {
    this.onGone(service);
    this.services.remove(keyOfObject(service));
  }

  readonly client: Pick<Client, 'of'> = {
    of: <T extends KubeObject>(): ResourceClient<T> =>
      ({ list: this.#list, patch: this.#patch }) as unknown as ResourceClient<T>,
  };

  /** Of one name. */
  readonly #list = async ({
    fieldSelector = '',
  }: {
    fieldSelector?: string;
  }): Promise<{ items: readonly Service[] }> => {
    await this.reading();
    const service = this.get(fieldSelector.replace('metadata.name=', ''));
    return { items: service ? [service] : [] };
  };

  readonly #patch = async ({ name }: { name: string }, patch: Patch): Promise<Service> => {
    await this.writing();
    this.before(name);
    this.patches.push({ name, patch });
    const service = this.get(name);
    if (!service) throw new StatusError(`PATCH ${name}`, 404, { reason: 'NotFound', code: 404 });
    const patched = patchService(service, patch);
    const gone = patched.metadata?.deletionTimestamp && (patched.metadata.finalizers ?? []).length === 0;
    if (gone) this.#gone(service);
    const answer = gone ? patched : this.services.put(patched);
    this.after(name);
    return answer;
  };
}

/** A strategic merge patch of a Service's status, or a JSON patch of its addresses, as far as the controller uses them. */
export function patchService(service: Service, patch: Patch): Service {
  if (patch.type === 'json') return patchAddresses(service, patch.operations);
  if (patch.type !== 'strategic') throw new Error(`patch type ${patch.type} is not expected`);
  const body = patch.body as { metadata: Record<string, unknown>; status?: Record<string, unknown> };
  const { uid, annotations = {}, finalizers = [], resourceVersion } = body.metadata;
  if (uid !== service.metadata?.uid) {
    const details = { causes: [{ field: 'metadata.uid', message: 'field is immutable' }] };
    throw new StatusError('PATCH', 422, { reason: 'Invalid', code: 422, details });
  }
  if (resourceVersion !== undefined && resourceVersion !== service.metadata?.resourceVersion) {
    throw new StatusError('PATCH', 409, { reason: 'Conflict', code: 409 });
  }
  const removed = (body.metadata['$deleteFromPrimitiveList/finalizers'] ?? []) as readonly string[];
  const kept = (service.metadata?.finalizers ?? []).filter((name) => !removed.includes(name));
  const merged = { ...service.metadata?.annotations, ...(annotations as Record<string, string | null>) };
  const metadata = {
    ...service.metadata,
    finalizers: [...new Set([...kept, ...(finalizers as readonly string[])])],
    annotations: Object.fromEntries(Object.entries(merged).filter((e): e is [string, string] => e[1] !== null)),
  };
  const status = { ...service.status };
  const { loadBalancer, conditions } = (body.status ?? {}) as {
    loadBalancer?: { ingress: NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress'] | null };
    conditions?: readonly (NonNullable<NonNullable<Service['status']>['conditions']>[number] & { $patch?: string })[];
  };
  if (loadBalancer) status.loadBalancer = loadBalancer.ingress ? { ingress: loadBalancer.ingress } : {};
  for (const condition of conditions ?? []) {
    const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type);
    status.conditions = condition.$patch === 'delete' ? others : [...others, condition];
  }
  return { ...service, metadata, status };
}

function patchAddresses(service: Service, operations: readonly JsonPatchOperation[]): Service {
  const status = structuredClone({ loadBalancer: {}, ...service.status });
  const document = { ...service, status };
  for (const operation of operations) {
    const names = operation.path.slice(1).split('/');
    const [last = ''] = names.splice(-1);
    const parent = names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
    const fields = parent as Record<string, unknown>;
    if (operation.op === 'add' && operation.path.startsWith('/status/loadBalancer/')) {
      if (service.spec?.type !== 'LoadBalancer' && (operation.value as readonly unknown[]).length > 0) {
        const details = { causes: [{ field: 'status.loadBalancer.ingress', message: 'Forbidden' }] };
        throw new StatusError('PATCH', 422, { reason: 'Invalid', code: 422, details });
      }
      fields[last] = operation.value;
    } else if (operation.op !== 'test') throw new Error(`${operation.op} ${operation.path} is not expected`);
    else if (!isDeepStrictEqual(fields[last], operation.value)) {
      throw new StatusError('PATCH', 422, { reason: 'Invalid', code: 422 });
    }
  }
  return document;
}
