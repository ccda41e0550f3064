/** Requests about one kind: options become paths, queries, headers and bodies; answers become objects or errors. */
import type { AnswerEncodings } from './answer-encodings.ts';
import type {
  CallOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  Patch,
  ResourceClient,
  Selectors,
  SmallAnswer,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { KubeObject, ObjectRef, PartialObjectMetadata } from './kube-object.ts';
import { decodeLines } from './line-decoder.ts';
import { apiVersionOf, pathOf, type Resource } from './resource.ts';
import { readList, readWatchEvent, type ListAnswer } from './protobuf/envelope.ts';
import { decodeFrames } from './protobuf/frame-decoder.ts';
import {
  discard,
  isProtobuf,
  isResponseError,
  MAX_PAGE_BYTES,
  parseJson,
  readBody,
  readError,
  readJson,
  ResponseError,
} from './response-body.ts';
import { StatusError, type Status } from './status-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';
import { warningsOf } from './warning-header.ts';

/** Called with each warning of the server: deprecations, unknown fields. */
export type WarningHook = (warning: string, request: { readonly method: string; readonly path: string }) => void;

/** Sends, and turns an answer that is an error into a throw. */
export type Send = (request: TransportRequest) => Promise<TransportResponse>;

const JSON_TYPE = 'application/json';
const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // JSON is YAML, and every server with apply takes this type.
  apply: 'application/apply-patch+yaml',
} as const;
const DEFAULT_PAGE_SIZE = 500;
/** So many pages are asked for before larger ones are tried again. */
const PAGES_OF_A_SIZE = 4;
/** What an answer cut to its metadata calls itself, whatever it is of. */
const PARTIAL = { group: 'meta.k8s.io', version: 'v1', kind: 'PartialObjectMetadata' } as const;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) parameters.set(key, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

function metadataAs(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

function writeQuery(options: WriteOptions): Query {
  return {
    dryRun: options.dryRun ? 'All' : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
  };
}

function selectorQuery(options: Selectors): Query {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
}

/** `Send` over a transport. Hands warnings to `onWarning`. */
export function createSend(transport: Transport, onWarning?: WarningHook): Send {
  return async (request) => {
    const response = await transport.send(request);
    const path = request.path.replace(/\?.*/, '');
    const warnings = onWarning && response.headers['warning'];
    if (warnings) for (const text of warningsOf(warnings)) onWarning(text, { method: request.method, path });
    if (response.status >= 300) throw await readError(`${request.method} ${path}`, response);
    return response;
  };
}

/** `ResourceClient` over a `Send`. */
export class HttpResourceClient<T extends KubeObject> implements ResourceClient<T> {
  readonly resource: Resource<T>;
  readonly #send: Send;
  readonly #encodings: AnswerEncodings;

  constructor(resource: Resource<T>, send: Send, encodings: AnswerEncodings) {
    this.resource = resource;
    this.#send = send;
    this.#encodings = encodings;
  }

  get(ref: ObjectRef, options: CallOptions & SmallAnswer): Promise<PartialObjectMetadata>;
  get(ref: ObjectRef, options?: CallOptions & { readonly resourceVersion?: string }): Promise<T>;
  get(
    ref: ObjectRef,
    options: CallOptions & Partial<SmallAnswer> & { readonly resourceVersion?: string } = {},
  ): Promise<T & PartialObjectMetadata> {
    const query = queryOf({ resourceVersion: options.resourceVersion });
    return this.#ask('GET', this.#pathOf(ref) + query, options, { accept: this.#accept(options) });
  }

  async list(options: ListOptions = {}): Promise<ListPage<T>> {
    const path = this.#collection(options.namespace);
    const query = queryOf({
      ...selectorQuery(options),
      limit: options.limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const response = await this.#request('GET', path + query, options, {
      accept: this.#acceptMany('PartialObjectMetadataList', options),
    });
    const isPage = options.limit !== undefined && options.limit > 1;
    const { metadata, items } = await this.#readList(`GET ${path}`, response, isPage ? MAX_PAGE_BYTES : undefined);
    if (!metadata || items === undefined) {
      throw new ResponseError('response-unexpected', `GET ${path}: the answer is not a list`);
    }
    return {
      // Go writes an empty slice as null.
      items: this.#named(items ?? []),
      resourceVersion: metadata.resourceVersion ?? '',
      ...(metadata.continue && { continue: metadata.continue }),
      ...(metadata.remainingItemCount !== undefined && { remainingItemCount: metadata.remainingItemCount }),
    };
  }

  async *pages(options: ListOptions = {}): AsyncGenerator<ListPage<T>, void, void> {
    const { continue: begun, limit = DEFAULT_PAGE_SIZE, resourceVersion, resourceVersionMatch, ...rest } = options;
    // Continued pages carry the version in their token; the server refuses both (resourceVersion and continue).
    const version = {
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(resourceVersionMatch && { resourceVersionMatch }),
    };
    let from: ListOptions = begun ? { continue: begun } : version;
    let pages = 0;
    for (let size = limit; ;) {
      let page: ListPage<T>;
      try {
        page = await this.list({ ...rest, ...from, limit: size });
      } catch (error) {
        if (size === 1 || !isResponseError(error) || error.code !== 'response-too-large') throw error;
        // How large objects are, those who write them say.
        size = size === 0 ? DEFAULT_PAGE_SIZE : Math.max(1, Math.floor(size / 4));
        pages = 0;
        continue;
      }
      yield page;
      if (!page.continue) return;
      from = { continue: page.continue };
      // The large ones may be over; where they are not, few pages are asked for twice.
      if (++pages % PAGES_OF_A_SIZE === 0) size = Math.min(size * 2, limit || DEFAULT_PAGE_SIZE);
    }
  }

  async *watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>, void, void> {
    const path = this.#collection(options.namespace);
    const query = queryOf({
      watch: true,
      ...selectorQuery(options),
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
      allowWatchBookmarks: options.allowWatchBookmarks ?? true,
      sendInitialEvents: options.sendInitialEvents,
      timeoutSeconds: options.timeoutSeconds,
    });
    const response = await this.#request(
      'GET',
      path + query,
      { traffic: 'watch', timeoutMs: 0, ...options },
      { accept: this.#acceptMany('PartialObjectMetadata', options) },
    );
    const request = `watch of ${path}`;
    try {
      // One loop for both: each generator more costs every event a turn.
      for await (const part of isProtobuf(response) ? decodeFrames(response.body) : decodeLines(response.body)) {
        const event = (
          typeof part === 'string' ? parseJson(request, part) : readWatchEvent(this.resource.kind, part)
        ) as WatchEvent<T> | { readonly type: 'ERROR'; readonly object: Status };
        switch (event.type) {
          case 'ADDED':
          case 'MODIFIED':
          case 'DELETED':
          case 'BOOKMARK':
            yield event;
            break;
          case 'ERROR':
            throw new StatusError(request, 500, event.object, { origin: 'watch-event' });
          default:
            throw new ResponseError('response-unexpected', `${request}: what came is no watch event`);
        }
      }
    } catch (error) {
      throw this.#encodings.judge(request, this.resource, error);
    }
  }

  create(object: T, options: WriteOptions & { readonly namespace?: string; readonly name?: string } = {}): Promise<T> {
    const namespace = options.namespace ?? object.metadata?.namespace;
    const path = options.name ? this.#pathOf({ name: options.name, namespace }, options) : this.#scope(namespace);
    return this.#ask('POST', path + queryOf(writeQuery(options)), options, { body: JSON.stringify(object) });
  }

  update(object: T, options: WriteOptions = {}): Promise<T> {
    const { name = '', namespace } = object.metadata ?? {};
    const path = this.#pathOf({ name, namespace }, options) + queryOf(writeQuery(options));
    return this.#ask('PUT', path, options, { body: JSON.stringify(object) });
  }

  patch(ref: ObjectRef, patch: Patch, options: WriteOptions & SmallAnswer): Promise<PartialObjectMetadata>;
  patch(ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<T>;
  async patch(
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions & Partial<SmallAnswer> = {},
  ): Promise<T & PartialObjectMetadata> {
    if (patch.type === 'apply' && !options.fieldManager) {
      throw new TypeError(`apply to ${this.resource.kind} ${ref.name}: server-side apply needs a fieldManager`);
    }
    const force = patch.type === 'apply' ? patch.force : undefined;
    const path = this.#pathOf(ref, options) + queryOf({ ...writeQuery(options), force });
    return this.#ask('PATCH', path, options, {
      accept: this.#accept(options),
      contentType: PATCH_TYPES[patch.type],
      body: JSON.stringify(patch.type === 'json' ? patch.operations : patch.body),
    });
  }

  async delete(ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    await this.#delete(this.#pathOf(ref), 'PartialObjectMetadata', options);
  }

  async deleteCollection(options: DeleteOptions & Selectors & { readonly namespace?: string } = {}): Promise<void> {
    // Refused with a 406 for the other form, after the deed is done.
    const path = this.#scope(options.namespace) + queryOf(selectorQuery(options));
    await this.#delete(path, 'PartialObjectMetadataList', options);
  }

  async #delete(path: string, answer: Parameters<typeof metadataAs>[0], options: DeleteOptions): Promise<void> {
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: options.preconditions,
      propagationPolicy: options.propagationPolicy,
      gracePeriodSeconds: options.gracePeriodSeconds,
      dryRun: options.dryRun ? ['All'] : undefined,
    });
    const accept = `${metadataAs(answer)},${JSON_TYPE}`;
    await discard(await this.#request('DELETE', path, options, { accept, body }));
  }

  /** Of lists and watches. */
  #acceptMany(cut: Parameters<typeof metadataAs>[0], { trimmed }: { readonly trimmed?: boolean }): string {
    if (this.resource.answer) return metadataAs(cut);
    return (trimmed && this.#encodings.protobufAccept(this.resource)) || JSON_TYPE;
  }

  async #readList(request: string, response: TransportResponse, limit?: number): Promise<Partial<ListAnswer<T>>> {
    const bytes = await readBody(request, response, limit);
    if (!isProtobuf(response)) return parseJson(request, bytes.toString()) as Partial<ListAnswer<T>>;
    try {
      return readList(this.resource.kind, bytes) as ListAnswer<T>;
    } catch (error) {
      throw this.#encodings.judge(request, this.resource, error);
    }
  }

  /** Servers leave kind and apiVersion out of the items of a list; a watch or a get of the same object has them. */
  #named(items: T[]): T[] {
    const { kind } = this.resource.answer ? PARTIAL : this.resource;
    const apiVersion = apiVersionOf(this.resource.answer ? PARTIAL : this.resource);
    for (const item of items) {
      item.kind ??= kind;
      item.apiVersion ??= apiVersion;
    }
    return items;
  }

  /** The collection in a namespace; of a namespaced kind without one, all namespaces. */
  #collection(namespace: string | undefined): string {
    return pathOf(this.resource, { namespace });
  }

  /** Like `#collection`, for calls that the server has per namespace only. */
  #scope(namespace: string | undefined): string {
    if (this.resource.namespaced && !namespace) throw new TypeError(`${this.resource.kind}: no namespace given`);
    return this.#collection(namespace);
  }

  #pathOf(ref: ObjectRef, options: { readonly subresource?: string } = {}): string {
    // An empty name is the path of the collection, and a delete would empty it. URLs resolve dots.
    if (!ref.name || ref.name === '.' || ref.name === '..') {
      throw new TypeError(`${this.resource.kind}: ${JSON.stringify(ref.name)} is no object's name`);
    }
    this.#scope(ref.namespace);
    return pathOf(this.resource, ref) + (options.subresource ? `/${options.subresource}` : '');
  }

  #accept(options: Partial<SmallAnswer>): string {
    return (options.answer ?? this.resource.answer) ? metadataAs('PartialObjectMetadata') : JSON_TYPE;
  }

  async #ask<A>(
    method: TransportRequest['method'],
    path: string,
    options: CallOptions,
    content: { readonly accept?: string; readonly contentType?: string; readonly body?: string },
  ): Promise<A> {
    const response = await this.#request(method, path, options, content);
    return (await readJson(`${method} ${path.replace(/\?.*/, '')}`, response)) as A;
  }

  async #request(
    method: TransportRequest['method'],
    path: string,
    options: CallOptions,
    content: { readonly accept?: string; readonly contentType?: string; readonly body?: string },
  ): Promise<TransportResponse> {
    return this.#send({
      method,
      path,
      headers: {
        accept: content.accept ?? JSON_TYPE,
        ...(content.body !== undefined && { 'content-type': content.contentType ?? JSON_TYPE }),
      },
      ...(content.body !== undefined && { body: content.body }),
      ...(options.traffic && { traffic: options.traffic }),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      signal: options.signal,
    });
  }
}
