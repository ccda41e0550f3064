/** Answers requests: from HTTP to the registry and back. */
import type { Clock } from '@outrigger/kube';
import { isJsonObject, type ApiObject } from './api-object.ts';
import { authenticate, type User } from './authentication.ts';
import { aggregatedDiscovery, apiGroup, apiGroups, coreVersions, resourceList, wantsAggregated } from './discovery.ts';
import {
  parseObject,
  readBody,
  sendBytes,
  sendChunks,
  sendError,
  sendJson,
  type HttpRequest,
  type HttpResponse,
} from './http-exchange.ts';
import type { Kind } from './kinds.ts';
import { listBody } from './list-body.ts';
import { listOptionsInvalid, listPage, parseResourceVersion, parseSelection } from './list.ts';
import type { ObjectStorage } from './object-storage.ts';
import { patchOf, unsupportedMediaType } from './patch-type.ts';
import { openApiDocument, openApiIndex } from './open-api.ts';
import type { Registry, WriteResult } from './registry.ts';
import { PROTOBUF, readProtobuf } from './protobuf-body.ts';
import { Encoder, negotiate } from './representation.ts';
import { parseResourcePath, type ResourcePath } from './request-target.ts';
import { badRequest, expired, StatusError, tooLargeResourceVersion } from './status-error.ts';
import type { WatchHub } from './watch.ts';
import { parseDeleteOptions, parseDryRun } from './write-options.ts';

/** One request that was answered. */
export interface RequestRecord {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  readonly user: string;
  readonly userAgent: string;
  readonly status: number;
  /** On the server's clock, in milliseconds since the Unix epoch. */
  readonly at: number;
}

export interface ApiHandlerOptions {
  readonly storage: ObjectStorage;
  readonly registry: Registry;
  readonly watches: WatchHub;
  readonly clock: Clock;
  readonly random: () => number;
  readonly tokens: ReadonlyMap<string, User>;
  readonly watchList: boolean;
  readonly watchTimeoutMs: number;
  readonly gitVersion: string;
  onRequest(record: RequestRecord): void;
}

const HEALTH = new Set(['/healthz', '/readyz', '/livez']);

export class ApiHandler {
  readonly #options: ApiHandlerOptions;

  constructor(options: ApiHandlerOptions) {
    this.#options = options;
  }

  /** Never rejects: what goes wrong is an answer. */
  async handle(request: HttpRequest, response: HttpResponse): Promise<void> {
    const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '/') ?? [];
    let user: User | undefined;
    response.on('close', () => {
      this.#options.onRequest({
        method: request.method ?? '',
        path,
        query,
        user: user?.username ?? '',
        userAgent: request.headers['user-agent'] ?? '',
        status: response.statusCode,
        at: this.#options.clock.now(),
      });
    });
    response.on('error', () => response.destroy());
    try {
      if (this.#health(path, response)) return;
      user = authenticate(request, this.#options.tokens);
      if (!user) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
      const target = parseResourcePath(path);
      if (target) await this.#resource(target, new URLSearchParams(query), request, response);
      else this.#document(path, request, response);
    } catch (error) {
      sendError(response, error);
    }
  }

  #health(path: string, response: HttpResponse): boolean {
    const [root = ''] = /^\/[a-z]+/.exec(path) ?? [];
    if (!HEALTH.has(root)) return false;
    sendBytes(response, 200, Buffer.from('ok'), 'text/plain; charset=utf-8');
    return true;
  }

  #document(path: string, request: HttpRequest, response: HttpResponse): void {
    if (request.method !== 'GET') throw notServed();
    const { accept } = request.headers;
    if ((path === '/api' || path === '/apis') && wantsAggregated(accept)) {
      const bytes = Buffer.from(JSON.stringify(aggregatedDiscovery(path === '/api')));
      sendBytes(response, 200, bytes, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
      return;
    }
    const document = this.#find(path, request.headers.host ?? '');
    if (document === undefined) throw notServed();
    sendJson(response, 200, document);
  }

  #find(path: string, host: string): unknown {
    if (path === '/version') return this.#version();
    if (path === '/api') return coreVersions(host);
    if (path === '/apis') return apiGroups();
    if (path === '/openapi/v3') return openApiIndex();
    if (path.startsWith('/openapi/v3/'))
      return openApiDocument(path.slice('/openapi/v3/'.length), this.#options.gitVersion);
    const [, root, first, second, ...more] = path.split('/');
    if (root === 'api' && first !== undefined && second === undefined) return resourceList(first);
    if (root !== 'apis' || first === undefined || more.length > 0) return undefined;
    return second === undefined ? apiGroup(first) : resourceList(`${first}/${second}`);
  }

  #version(): object {
    const { gitVersion } = this.#options;
    const [, major = '1', minor = '0'] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
    return {
      major,
      minor,
      gitVersion,
      gitCommit: '',
      gitTreeState: '',
      buildDate: '1970-01-01T00:00:00Z',
      goVersion: '',
      compiler: '',
      platform: 'linux/amd64',
    };
  }

  async #resource(
    target: ResourcePath,
    query: URLSearchParams,
    request: HttpRequest,
    response: HttpResponse,
  ): Promise<void> {
    const { kind, name } = target;
    const encoder = new Encoder(
      kind,
      negotiate(request.headers.accept, query.get('includeObject')),
      this.#options.clock,
    );
    const collection = name === '';
    switch (request.method) {
      case 'GET':
        if (!collection) return this.#get(target, query, encoder, response);
        if (isTrue(query, 'watch')) return this.#watch(target, query, encoder, response);
        return this.#list(target, query, encoder, response);
      case 'POST': {
        if (!collection || (kind.namespaced && target.namespace === '')) throw methodNotAllowed();
        const body = await this.#body(request, kind);
        return this.#written(
          this.#options.registry.create(target, body, parseDryRun(query, 'CreateOptions')),
          encoder,
          response,
        );
      }
      case 'PUT': {
        if (collection) throw methodNotAllowed();
        const body = await this.#body(request, kind);
        return this.#written(
          this.#options.registry.update(target, body, parseDryRun(query, 'UpdateOptions')),
          encoder,
          response,
        );
      }
      case 'PATCH':
        if (collection) throw methodNotAllowed();
        return this.#patch(target, query, request, encoder, response);
      case 'DELETE':
        if (target.subresource !== undefined) throw methodNotAllowed();
        if (collection) return this.#deleteCollection(target, query, request, encoder, response);
        return this.#delete(target, query, request, encoder, response);
      default:
        throw methodNotAllowed();
    }
  }

  #get(target: ResourcePath, query: URLSearchParams, encoder: Encoder, response: HttpResponse): void {
    const asked = parseResourceVersion(query.get('resourceVersion'));
    const { storage } = this.#options;
    if (asked !== undefined && asked > storage.revision) throw tooLargeResourceVersion(asked, storage.revision);
    sendBytes(response, 200, encoder.object(this.#options.registry.get(target)));
  }

  async #list(target: ResourcePath, query: URLSearchParams, encoder: Encoder, response: HttpResponse): Promise<void> {
    const selection = parseSelection(target.kind, target.namespace, query);
    const page = listPage(this.#options.storage, selection, query);
    await sendChunks(response, listBody(page, encoder));
  }

  #watch(target: ResourcePath, query: URLSearchParams, encoder: Encoder, response: HttpResponse): void {
    const { storage, watches, watchList } = this.#options;
    const selection = parseSelection(target.kind, target.namespace, query);
    const from = parseWatchVersion(query);
    const asksInitial = query.get('sendInitialEvents');
    const match = query.get('resourceVersionMatch') ?? '';
    if (asksInitial !== null && !watchList) {
      throw listOptionsInvalid(
        'sendInitialEvents',
        'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
      );
    }
    if (asksInitial === null && match !== '') {
      throw listOptionsInvalid(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    }
    if (asksInitial !== null && match !== 'NotOlderThan') {
      throw listOptionsInvalid(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    }
    const sendInitialEvents = isTrue(query, 'sendInitialEvents');
    if (sendInitialEvents && from !== undefined && from > storage.revision)
      throw tooLargeResourceVersion(from, storage.revision);
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
    if (!sendInitialEvents && from && from < storage.oldestRevision) {
      const status = expired(`too old resource version: ${from} (${storage.oldestRevision})`).toStatus();
      response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      return;
    }
    const close = watches.open({
      selection,
      encoder,
      from,
      sendInitialEvents,
      bookmarks: isTrue(query, 'allowWatchBookmarks'),
      timeoutMs: this.#watchTimeout(query),
      sink: {
        write: (chunk) => response.write(chunk),
        onDrain: (resume) => void response.on('drain', resume),
        end: () => void response.end(),
        cut: () => void response.destroy(),
      },
    });
    response.on('close', close);
  }

  /** As the real server: between the minimum and twice that, so that watches do not all end together. */
  #watchTimeout(query: URLSearchParams): number {
    const seconds = Number(query.get('timeoutSeconds') ?? 0);
    if (seconds > 0) return seconds * 1_000;
    return this.#options.watchTimeoutMs * (1 + this.#options.random());
  }

  async #body(request: HttpRequest, kind: Kind): Promise<ApiObject> {
    const type = mediaType(request) || 'application/json';
    const isProtobuf = type === PROTOBUF;
    if (!isProtobuf && (type.includes('protobuf') || type.includes('cbor'))) throw unsupportedMediaType(type);
    const body = await readBody(request);
    const object = isProtobuf ? readProtobuf(body, kind) : parseObject(body, kind.kind);
    if ((object.kind && object.kind !== kind.kind) || (object.apiVersion && object.apiVersion !== kind.apiVersion)) {
      throw badRequest(
        `${object.kind ?? kind.kind} in version "${object.apiVersion ?? kind.apiVersion}" cannot be handled as a ${kind.kind} in version "${kind.apiVersion}"`,
      );
    }
    if (object.metadata !== undefined && !isJsonObject(object.metadata)) throw badRequest('metadata is no object');
    return object;
  }

  #written(result: WriteResult, encoder: Encoder, response: HttpResponse): void {
    sendBytes(response, result.created ? 201 : 200, encoder.object(result.object));
  }

  async #patch(
    target: ResourcePath,
    query: URLSearchParams,
    request: HttpRequest,
    encoder: Encoder,
    response: HttpResponse,
  ): Promise<void> {
    const type = mediaType(request);
    const apply = patchOf(type, target.kind);
    const text = await readBody(request);
    const result = this.#options.registry.patch(
      target,
      (current) => {
        let patch: unknown;
        try {
          patch = JSON.parse(text.toString('utf8'));
        } catch (error) {
          throw badRequest(`error decoding patch: ${(error as Error).message}`);
        }
        return apply(current, patch);
      },
      parseDryRun(query, 'PatchOptions'),
    );
    this.#written(result, encoder, response);
  }

  async #delete(
    target: ResourcePath,
    query: URLSearchParams,
    request: HttpRequest,
    encoder: Encoder,
    response: HttpResponse,
  ): Promise<void> {
    const options = parseDeleteOptions(query, await readBody(request));
    const { kind, name } = target;
    const { removed, object } = this.#options.registry.delete(target, options);
    // Services are answered with the object, most other kinds with a Status.
    if (!removed || kind.plural === 'services' || kind.plural === 'pods')
      return sendBytes(response, 200, encoder.object(object));
    return sendJson(response, 200, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid: object.uid },
    });
  }

  async #deleteCollection(
    target: ResourcePath,
    query: URLSearchParams,
    request: HttpRequest,
    encoder: Encoder,
    response: HttpResponse,
  ): Promise<void> {
    const { kind } = target;
    if ((kind.namespaced && target.namespace === '') || kind.plural === 'namespaces') throw methodNotAllowed();
    const options = parseDeleteOptions(query, await readBody(request));
    const page = listPage(this.#options.storage, parseSelection(kind, target.namespace, query), query);
    for (const { name, namespace } of page.objects) {
      try {
        this.#options.registry.delete({ kind, name, namespace }, options);
      } catch (error) {
        if (!(error instanceof StatusError && error.code === 404)) throw error;
      }
    }
    await sendChunks(response, listBody(page, encoder));
  }
}

const mediaType = (request: HttpRequest): string => (request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';

const isTrue = (query: URLSearchParams, name: string): boolean => ['true', '1'].includes(query.get(name) ?? '');

/** A watch answers a version that is no number with 500, a list with 400: so does the real server. */
function parseWatchVersion(query: URLSearchParams): number | undefined {
  try {
    return parseResourceVersion(query.get('resourceVersion'));
  } catch (error) {
    throw new StatusError(500, '', (error as Error).message.replace('invalid resource version: ', ''));
  }
}

const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

const notServed = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
