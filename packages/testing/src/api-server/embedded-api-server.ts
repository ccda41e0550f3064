/**
 * An API server in the process: real HTTP, real TLS, the kinds that cloud controllers touch, and the semantics of the real one
 * as far as its contract suite goes. Start it with `startEmbeddedApiServer`.
 */
import { systemClock, systemRandom, type Clock, type ObjectMeta } from '@outrigger/kube';
import { ApiHandler, type RequestRecord } from './api-handler.ts';
import { type ApiObject, type NamedObject } from './api-object.ts';
import type { User } from './authentication.ts';
import { CertificateAuthority, type CertificateAndKey } from '../control-plane/certificate-authority.ts';
import { makeKubeconfig, type Kubeconfig } from './kubeconfig.ts';
import { findKind, KINDS, kindOf, type Kind } from './kinds.ts';
import { Listener } from './listener.ts';
import { ObjectStorage, parseStored } from './object-storage.ts';
import { Registry } from './registry.ts';
import { WatchHub } from './watch.ts';

export interface EmbeddedApiServerOptions {
  /** Timestamps, bookmarks and time-outs of watches. Default: the machine's. */
  readonly clock?: Clock;
  /** HTTP/2 and HTTP/1.1 over TLS, or plain HTTP/1.1. Default: true. */
  readonly tls?: boolean;
  /** Default: 0, a free one. */
  readonly port?: number;
  /** Bearer tokens and whose they are. Default: `admin-token` of `admin` in `system:masters`. */
  readonly tokens?: Readonly<Record<string, User>>;
  /** Objects to begin with, stored without validation. */
  readonly seed?: Iterable<ApiObject>;
  /** How many past events watches can begin from. Each may hold an object of its own in memory. Default: 5,000. */
  readonly watchWindow?: number;
  /** Whether `sendInitialEvents` is served. Default: true. */
  readonly watchList?: boolean;
  /** Time between bookmarks, in milliseconds. Default: 60,000. */
  readonly bookmarkIntervalMs?: number;
  /** The least a watch lasts that names no time-out, in milliseconds; it lasts up to twice that. Default: 1,800,000. */
  readonly watchTimeoutMs?: number;
  /** What `/version` says. Default: `v1.37.1`. */
  readonly gitVersion?: string;
  /** Generated names, spread of time-outs. From 0 to below 1. Default: the machine's. */
  readonly random?: () => number;
  /** How many answered requests `requests` keeps. Default: 10,000. */
  readonly requestLog?: number;
}

/** The objects behind the server, for tests: no validation, no preconditions, but watches see every change. */
export interface EmbeddedStore {
  /** Revision of the last write. */
  readonly revision: number;
  /** Stores the object as it is; `kind` and `apiVersion` say where. Throws a `TypeError` for a kind that the server does not have. */
  put(object: ApiObject): NamedObject;
  get(resource: ResourceName, name: string, namespace?: string): NamedObject | undefined;
  list(resource: ResourceName): NamedObject[];
  /** Removes the object at once, finalizers or not. False when there was none. */
  delete(resource: ResourceName, name: string, namespace?: string): boolean;
}

/** `nodes`, or `leases` with `group: 'coordination.k8s.io'`; a `Resource` of `@outrigger/kube` fits. */
export interface ResourceName {
  readonly group?: string;
  readonly plural: string;
}

export interface EmbeddedApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`; the same after a restart. */
  readonly url: string;
  /** The authority of the serving and client certificates, PEM; undefined without TLS. */
  readonly ca: string | undefined;
  /** The first of the tokens. */
  readonly token: string;
  readonly store: EmbeddedStore;
  /** Answered requests, oldest first. A watch is here once it has ended. */
  readonly requests: readonly RequestRecord[];
  /** Open watches. */
  readonly watches: number;
  /** With a client certificate over TLS unless `token` is asked for. */
  kubeconfig(credentials?: 'certificate' | 'token'): Kubeconfig;
  /** A client certificate signed by the server's authority. Rejects without TLS. */
  issueClientCertificate(user: string, groups?: readonly string[]): Promise<CertificateAndKey>;
  clearRequests(): void;
  /** Forgets all past events: watches from before now get 410. */
  compact(): void;
  /** Resets every connection and listens again on the same port; objects and revision stay. */
  restart(): Promise<void>;
}

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const ADMIN: User = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

/** Starts a server on 127.0.0.1. Rejects when the port is taken. */
export async function startEmbeddedApiServer(options: EmbeddedApiServerOptions = {}): Promise<EmbeddedApiServer> {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const storage = new ObjectStorage(options.watchWindow ?? 5_000);
  const registry = new Registry(storage, clock, random);
  const watches = new WatchHub(storage, clock, options.bookmarkIntervalMs ?? 60_000);
  const tokens = new Map(Object.entries(options.tokens ?? { 'admin-token': ADMIN }));
  const requestLog = options.requestLog ?? 10_000;
  let requests: RequestRecord[] = [];
  const handler = new ApiHandler({
    storage,
    registry,
    watches,
    clock,
    random,
    tokens,
    watchList: options.watchList ?? true,
    watchTimeoutMs: options.watchTimeoutMs ?? 1_800_000,
    gitVersion: options.gitVersion ?? 'v1.37.1',
    onRequest: (record) => {
      requests.push(record);
      if (requests.length > requestLog * 2) requests = requests.slice(-requestLog);
    },
  });
  const store = createStore(storage);
  createNamespaces(registry);
  for (const object of options.seed ?? []) store.put(object);

  const security = options.tls === false ? undefined : await createSecurity();
  const open = (port: number): Promise<Listener> =>
    Listener.open({
      port,
      tls: security && { serving: security.serving, clientCa: security.authority.certificate },
      handle: (request, response) => void handler.handle(request, response),
    });
  let listener = await open(options.port ?? 0);
  const { port } = listener;
  const url = `${security ? 'https' : 'http'}://127.0.0.1:${port}`;
  const ca = security?.authority.certificate;
  const [token = ''] = tokens.keys();

  return {
    url,
    ca,
    token,
    store,
    get requests() {
      return requests;
    },
    get watches() {
      return watches.size;
    },
    kubeconfig: (credentials = 'certificate') =>
      makeKubeconfig(url, ca, security && credentials === 'certificate' ? security.admin : { token }),
    issueClientCertificate: async (user, groups = []) => {
      if (!security)
        throw new TypeError(
          'the embedded API server runs without TLS: start it with tls: true for client certificates',
        );
      return await security.authority.signClient({ user, groups });
    },
    clearRequests: () => {
      requests = [];
    },
    compact: () => storage.compact(),
    restart: async () => {
      watches.cutAll();
      await listener[Symbol.asyncDispose]();
      listener = await open(port);
    },
    [Symbol.asyncDispose]: async () => {
      watches.cutAll();
      await listener[Symbol.asyncDispose]();
    },
  };
}

async function createSecurity(): Promise<{
  authority: CertificateAuthority;
  serving: CertificateAndKey;
  admin: CertificateAndKey;
}> {
  // The machine's clock, not the server's: TLS compares with that whatever a test's clock says.
  const authority = await CertificateAuthority.create(systemClock.now());
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const [serving, admin] = await Promise.all([
    authority.signServing({ dns: names, ips: ['127.0.0.1', '::1'] }),
    authority.signClient({ user: ADMIN.username, groups: ['system:masters'] }),
  ]);
  return { authority, serving, admin };
}

function createNamespaces(registry: Registry): void {
  const kind = findKind('', 'v1', 'namespaces');
  if (!kind) return;
  for (const name of NAMESPACES) registry.create({ kind, namespace: '', name: '' }, { metadata: { name } });
}

function createStore(storage: ObjectStorage): EmbeddedStore {
  const find = ({ group = '', plural }: ResourceName): Kind => {
    const kind = KINDS.find((candidate) => candidate.group === group && candidate.plural === plural);
    if (!kind) throw new TypeError(`the embedded API server has no ${group === '' ? plural : `${plural}.${group}`}`);
    return kind;
  };
  const key = (kind: Kind, name: string, namespace = 'default'): string =>
    kind.namespaced ? `${namespace}/${name}` : name;
  return {
    get revision() {
      return storage.revision;
    },
    put: (object) => {
      const kind = kindOf(object);
      if (!kind) throw new TypeError(`the embedded API server has no kind ${object.kind} in ${object.apiVersion}`);
      const metadata: ObjectMeta = object.metadata ?? {};
      const named: NamedObject = {
        ...object,
        metadata: {
          uid: crypto.randomUUID(),
          ...metadata,
          ...(kind.namespaced ? { namespace: metadata.namespace ?? 'default' } : {}),
        },
      };
      return parseStored(storage.put(kind, named));
    },
    get: (resource, name, namespace) => {
      const kind = find(resource);
      const stored = storage.get(kind, key(kind, name, namespace));
      return stored && parseStored(stored);
    },
    list: (resource) => storage.list(find(resource)).map(parseStored),
    delete: (resource, name, namespace) => {
      const kind = find(resource);
      return storage.remove(kind, key(kind, name, namespace)) !== undefined;
    },
  };
}
