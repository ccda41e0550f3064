/** For tests: nodes in memory behind the client and the store, with the patch semantics that the controller relies on. */
import { isDeepStrictEqual } from 'node:util';
import {
  StatusError,
  type Client,
  type JsonPatchOperation,
  type KubeObject,
  type ListPage,
  type Node,
  type Patch,
  type ResourceClient,
  type Store,
  type ResourceEvent,
} from '@outrigger/kube';

export interface RecordedWrite {
  readonly name: string;
  readonly subresource: string;
  readonly patch: Patch;
}

/** Called before each request; throw to fail it, or change nodes to race with it. */
export type BeforeRequest = (request: {
  readonly verb: 'get' | 'patch';
  readonly name: string;
  readonly subresource: string;
}) => void;

export class FakeNodeApi {
  readonly nodes: Map<string, Node> = new Map();
  readonly writes: RecordedWrite[] = [];
  gets: number = 0;
  before: BeforeRequest = () => {};
  /** How long a write is under way. */
  writing: () => Promise<void> = () => Promise.resolve();
  /** Called after a write took effect; throw for an answer that is lost. */
  after: BeforeRequest = () => {};
  /** Of the first list, so many are told at once and the others in a later turn, as a store does with thousands. */
  firstSlice: number = Infinity;
  /** While true, the store does not hear of changes. */
  holdWatch: boolean = false;
  /** Throw to fail a list. */
  beforeList: () => void = () => {};
  readonly #seen = new Map<string, Node>();
  readonly #listeners = new Set<(change: ResourceEvent<Node>) => void>();
  #version = 100;

  put(node: Node): void {
    const name = node.metadata?.name ?? '';
    this.nodes.set(name, { ...node, metadata: { ...node.metadata, resourceVersion: String(++this.#version) } });
    this.publish();
  }

  remove(name: string): void {
    this.nodes.delete(name);
    this.publish();
  }

  /** Lets the store see what is there, as the watch would. */
  publish(): void {
    if (this.holdWatch) return;
    const changes: ResourceEvent<Node>[] = [];
    for (const [key, object] of this.nodes) {
      const previous = this.#seen.get(key);
      if (previous === object) continue;
      changes.push(previous ? { type: 'update', key, object, previous } : { type: 'add', key, object });
      this.#seen.set(key, object);
    }
    for (const [key, previous] of this.#seen) {
      if (this.nodes.has(key)) continue;
      this.#seen.delete(key);
      changes.push({ type: 'delete', key, previous });
    }
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }

  readonly store: Store<Node> = ((api: FakeNodeApi): Store<Node> => ({
    synced: true,
    whenSynced: () => Promise.resolve(),
    get: (key) => api.#seen.get(key),
    values: () => api.#seen.values(),
    get size(): number {
      return api.#seen.size;
    },
    subscribe: (listener) => {
      const first = [...api.#seen];
      const tell = (those: typeof first): void => {
        for (const [key, object] of those) listener({ type: 'add', key, object });
      };
      tell(first.slice(0, api.firstSlice));
      if (first.length > api.firstSlice) queueMicrotask(() => tell(first.slice(api.firstSlice)));
      api.#listeners.add(listener);
      return () => void api.#listeners.delete(listener);
    },
  }))(this);

  readonly client: Pick<Client, 'of'> = {
    of: <T extends KubeObject>(): ResourceClient<T> => this.#nodeClient() as unknown as ResourceClient<T>,
  };

  #nodeClient(): Pick<ResourceClient<Node>, 'get' | 'pages' | 'patch'> {
    const get = async ({ name }: { name: string }): Promise<Node> => {
      await Promise.resolve();
      this.gets += 1;
      this.before({ verb: 'get', name, subresource: '' });
      return this.#existing(name, `GET ${name}`);
    };
    const patch = async (
      { name }: { name: string },
      patch: Patch,
      options: { subresource?: string } = {},
    ): Promise<Node> => {
      await this.writing();
      const subresource = options.subresource ?? '';
      this.before({ verb: 'patch', name, subresource });
      this.writes.push({ name, subresource, patch });
      this.put(applyPatch(this.#existing(name, `PATCH ${name}`), patch));
      this.after({ verb: 'patch', name, subresource });
      return this.#existing(name, `PATCH ${name}`);
    };
    const { nodes } = this;
    const beforeList = (): void => this.beforeList();
    const pages = async function* (): AsyncIterable<ListPage<Node>> {
      await Promise.resolve();
      beforeList();
      yield { items: [...nodes.values()], resourceVersion: '1' };
    };
    return { get, pages, patch } as Pick<ResourceClient<Node>, 'get' | 'pages' | 'patch'>;
  }

  #existing(name: string, request: string): Node {
    const node = this.nodes.get(name);
    if (!node) throw new StatusError(request, 404, { reason: 'NotFound', code: 404 });
    return node;
  }
}

/** What the API server makes of the patches in use: JSON patch, and strategic merge of a node's status. */
function applyPatch(node: Node, patch: Patch): Node {
  const copy = structuredClone(node);
  if (patch.type === 'json') {
    for (const operation of patch.operations) applyOperation(copy, operation);
    return copy;
  }
  if (patch.type !== 'strategic') throw new Error(`patch type ${patch.type} is not expected`);
  const body = patch.body as { metadata?: { uid?: string }; status?: Node['status'] };
  const { uid } = body.metadata ?? {};
  if (uid !== undefined && uid !== copy.metadata?.uid) {
    throw new StatusError('PATCH', 409, { reason: 'Conflict', code: 409, message: 'Precondition failed: UID' });
  }
  const { addresses, conditions } = body.status ?? {};
  const status = { ...copy.status };
  if (addresses) status.addresses = addresses.filter((item) => !('$patch' in item));
  for (const condition of conditions ?? []) {
    const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type);
    status.conditions = [...others, condition];
  }
  return { ...copy, status };
}

function applyOperation(root: object, operation: JsonPatchOperation): void {
  const path = operation.path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = path.pop() ?? '';
  let parent: unknown = root;
  for (const part of path) parent = (parent as Record<string, unknown> | undefined)?.[part];
  if (typeof parent !== 'object' || parent === null) throw invalid(operation);
  const target = parent as Record<string, unknown>;
  if (operation.op === 'add') {
    target[last] = operation.value;
  } else if (operation.op === 'test') {
    if (!isDeepStrictEqual(target[last], operation.value)) throw invalid(operation);
  } else if (operation.op === 'remove') {
    if (!(last in target)) throw invalid(operation);
    if (Array.isArray(target)) target.splice(Number(last), 1);
    else delete target[last];
  } else {
    throw new Error(`operation ${operation.op} is not expected`);
  }
}

function invalid({ op, path }: JsonPatchOperation): StatusError {
  return new StatusError('PATCH', 422, { reason: 'Invalid', code: 422, message: `${op} ${path} failed` });
}
