/** The typed client: what can be asked of the API, per kind. `createClient` makes one over a `Transport`. */
import type { KubeObject, ObjectRef, PartialObjectMetadata } from './kube-object.ts';
import type { Resource } from './resource.ts';
import type { TrafficClass } from './transport.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the whole answer has come. Default: 60,000; no limit for watches. */
  readonly timeoutMs?: number;
  /** Default: `default` (`watch` for watches). */
  readonly traffic?: TrafficClass;
}

export interface WriteOptions extends CallOptions {
  /** Validate and admit, but do not persist. */
  readonly dryRun?: boolean;
  /** Name of this writer in managedFields. */
  readonly fieldManager?: string;
  /** What the server does with fields that it does not know. Default: the server's own (`Warn`). */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** `status`, `token`, … Default: the object itself. */
  readonly subresource?: string;
}

export interface Selectors {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Of lists and watches. */
interface TrimOptions {
  /**
   * Objects may come without what `defaultTransform` drops: then the server is asked for protobuf, where this program can read
   * it, which costs it and this process less. Default: false, objects are whole, in the JSON that they came as.
   */
  readonly trimmed?: boolean;
}

export interface ListOptions extends CallOptions, Selectors, TrimOptions {
  /** Only this namespace. Default: all. */
  readonly namespace?: string;
  /** Page size. Default: no paging, the whole list at once. */
  readonly limit?: number;
  /** Where the last page ended. */
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Set when there is another page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions extends CallOptions, Selectors, TrimOptions {
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  /** Ask for BOOKMARK events. Default: true. */
  readonly allowWatchBookmarks?: boolean;
  /** WatchList: begin with all objects, then a bookmark annotated `k8s.io/initial-events-end`. */
  readonly sendInitialEvents?: boolean;
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds?: number;
}

/** One event of a watch. An ERROR is thrown as a `StatusError` instead. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: PartialObjectMetadata };

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly body: unknown }
  | { readonly type: 'strategic'; readonly body: unknown }
  /** Server-side apply; `fieldManager` is required then. */
  | { readonly type: 'apply'; readonly body: unknown; readonly force?: boolean };

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  /** The delete happens only if these still hold; otherwise 409 `Conflict`. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly gracePeriodSeconds?: number;
}

/** Asks the server to answer with metadata only: a write at scale need not carry the object back. */
export interface SmallAnswer {
  readonly answer: 'metadata';
}

/** All that can be asked about one kind. Every method throws a `StatusError` for an answer that is an error, a `TransportError` when there was none. */
export interface ResourceClient<T extends KubeObject> {
  readonly resource: Resource<T>;
  get(ref: ObjectRef, options?: CallOptions & { readonly resourceVersion?: string }): Promise<T>;
  get(ref: ObjectRef, options: CallOptions & SmallAnswer): Promise<PartialObjectMetadata>;
  /** One page, or all if no limit is set. */
  list(options?: ListOptions): Promise<ListPage<T>>;
  /**
   * All pages, `limit` (default 500) objects each, or fewer where these are more than 16 MiB. Throws the server's 410 when the list expires
   * on the way.
   */
  pages(options?: ListOptions): AsyncIterable<ListPage<T>>;
  /** Ends when the server closes the watch; throws when it breaks. Events are parsed one by one. */
  watch(options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create(object: T, options?: WriteOptions & { readonly namespace?: string; readonly name?: string }): Promise<T>;
  /** Replaces the object; its `metadata.resourceVersion`, if set, must still be the current one. */
  update(object: T, options?: WriteOptions): Promise<T>;
  patch(ref: ObjectRef, patch: Patch, options: WriteOptions & SmallAnswer): Promise<PartialObjectMetadata>;
  patch(ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<T>;
  delete(ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  deleteCollection(options?: DeleteOptions & Selectors & { readonly namespace?: string }): Promise<void>;
}

/** A client of one API server. */
export interface Client {
  of<T extends KubeObject>(resource: Resource<T>): ResourceClient<T>;
  /** A GET of any path, parsed: `/version`, discovery, `/readyz`. `accept`: default `application/json`. */
  raw(path: string, options?: CallOptions & { readonly accept?: string }): Promise<unknown>;
}
