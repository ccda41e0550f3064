/** Tags of one vCenter by its REST API, in a session of its own that all callers share. Entry point: `TagClient.attached`. */
import { CloudError, isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import {
  xmlChild,
  xmlChildren,
  xmlText,
  HttpClient,
  isHttpError,
  tokenCredentials,
  type ApiError,
  type ErrorRule,
  type HttpClientOptions,
  type Operation,
} from '@outrigger/provider-kit';
import type { AttachedTag, ManagedObject } from '../inventory/vcenter.ts';

/** The API is at `/api` since 7.0 U2, and before that at `/rest`, where answers are in a `value`. */
type Flavour = 'api' | 'rest';

export interface TagClientOptions {
  /** Without credentials, format and errors. */
  readonly http: HttpClientOptions;
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'redact'>;
  /** The header `Authorization` of a login at this path. Rejects where the credentials serve for no REST session. */
  readonly authorization: (path: string, call: CallContext) => Promise<string>;
}

/** A tag or a category. */
interface Known {
  readonly name: string;
  /** The ID of the tag's. */
  readonly category: string;
  readonly until: number;
}

const OBJECTS_A_REQUEST = 1_000;
/** So long names of tags and categories are believed: they may be renamed. */
const KNOWN_FOR_MS = 10 * 60_000;
const REFUSED_FOR_MS = 120_000;

const PATHS = {
  api: { session: '/api/session', tagging: '/api/cis/tagging', action: 'action', id: '{id}' },
  rest: {
    session: '/rest/com/vmware/cis/session',
    tagging: '/rest/com/vmware/cis/tagging',
    action: '~action',
    id: 'id:{id}',
  },
} as const;

const errors: readonly ErrorRule[] = [
  { code: 'UNAUTHENTICATED', means: 'unauthenticated' },
  { code: 'UNAUTHORIZED', means: 'forbidden' },
  { code: 'NOT_FOUND', means: 'not-found' },
  { code: 'TIMED_OUT', means: 'timeout' },
  { code: 'RESOURCE_INACCESSIBLE', means: 'unavailable' },
  { code: 'SERVICE_UNAVAILABLE', means: 'unavailable' },
];

export class TagClient {
  readonly #login: HttpClient;
  readonly #http: HttpClient;
  readonly #options: TagClientOptions;
  #flavour: Flavour | undefined;
  /** The session that is used, for the logout. */
  #session: string | undefined;
  readonly #known = new Map<string, Known>();

  constructor(options: TagClientOptions) {
    const http = { ...options.http, errors, errorOf: restError };
    this.#options = options;
    this.#login = new HttpClient(http);
    this.#http = new HttpClient({
      ...http,
      credentials: tokenCredentials({
        host: options.host,
        headers: (value) => ({ 'vmware-api-session-id': value }),
        refusedForMs: REFUSED_FOR_MS,
        fetch: async (call) => ({ value: (this.#session = await this.#signIn(call)) }),
      }),
    });
  }

  /** By reference; an object without such tags has an empty list. */
  async attached(
    objects: readonly ManagedObject[],
    categories: readonly string[],
    call: CallContext,
  ): Promise<ReadonlyMap<string, readonly AttachedTag[]>> {
    const found = new Map<string, readonly AttachedTag[]>(objects.map(({ reference }) => [reference, []]));
    if (categories.length === 0) return found;
    for (let start = 0; start < objects.length; start += OBJECTS_A_REQUEST) {
      const asked = objects.slice(start, start + OBJECTS_A_REQUEST);
      const answer = await this.#ask(call, 'POST', '/tag-association', {
        action: 'list-attached-tags-on-objects',
        body: { object_ids: asked.map(({ reference, type }) => ({ id: reference, type })) },
      });
      for (const one of isList(answer)) {
        const reference = xmlText(xmlChild(one, 'object_id', 'id')) ?? '';
        const tags = await Promise.all(xmlChildren(one, 'tag_ids').map((id) => this.#tag(String(id), call)));
        found.set(
          reference,
          tags.filter((tag) => tag !== undefined).filter(({ category }) => categories.includes(category)),
        );
      }
    }
    return found;
  }

  /** Logs out, if there is a session. */
  async close(call: CallContext, timeoutMs: number): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (session !== undefined && this.#flavour) {
      const { session: path } = PATHS[this.#flavour];
      await this.#login.request(call, `DELETE ${path}`, { headers: { 'vmware-api-session-id': session }, timeoutMs });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http[Symbol.asyncDispose]();
    await this.#login[Symbol.asyncDispose]();
  }

  async #tag(id: string, call: CallContext): Promise<AttachedTag | undefined> {
    const tag = await this.#read('/tag', id, call);
    const category = tag && (await this.#read('/category', tag.category, call));
    return category && { category: category.name, name: tag.name };
  }

  /** `undefined`: it was deleted in between. */
  async #read(path: '/tag' | '/category', id: string, call: CallContext): Promise<Known | undefined> {
    const now = this.#options.host.clock.now();
    const kept = this.#known.get(id);
    if (kept && now < kept.until) return kept;
    // What is not asked for any more is forgotten.
    for (const [one, { until }] of this.#known) if (now >= until) this.#known.delete(one);
    try {
      const answer = await this.#ask(call, 'GET', path, { id });
      const text = (name: string): string => xmlText(xmlChild(answer, name)) ?? '';
      const known = { name: text('name'), category: text('category_id'), until: now + KNOWN_FOR_MS };
      this.#known.set(id, known);
      return known;
    } catch (error) {
      if (isCloudError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  async #ask(
    call: CallContext,
    method: 'GET' | 'POST',
    path: string,
    { action, body, id }: { readonly action?: string; readonly body?: unknown; readonly id?: string },
  ): Promise<unknown> {
    // The session says which of the two it is.
    if (!this.#flavour) await this.#detect(call);
    const { action: parameter, id: place, tagging } = PATHS[this.#flavour as Flavour];
    const operation = `${method} ${tagging}${path}${id === undefined ? '' : `/${place}`}` as Operation;
    const answer = await this.#http.request<unknown>(call, operation, {
      idempotent: true,
      ...(id !== undefined && { params: { id } }),
      ...(action !== undefined && { query: { [parameter]: action }, name: `${operation}?action=${action}` }),
      ...(body !== undefined && { body }),
    });
    return this.#flavour === 'rest' ? xmlChild(answer, 'value') : answer;
  }

  /** A question without credentials: where there is no such path, it is 404. */
  async #detect(call: CallContext): Promise<void> {
    try {
      await this.#login.request(call, 'GET /api/session', { idempotent: false });
      this.#flavour = 'api';
    } catch (error) {
      if (isHttpError(error, 404)) this.#flavour = 'rest';
      else if (isCloudError(error, 'unauthenticated')) this.#flavour = 'api';
      else throw error;
    }
  }

  async #signIn(call: CallContext): Promise<string> {
    const flavour = this.#flavour ?? 'rest';
    const { session } = PATHS[flavour];
    const authorization = await this.#options.authorization(session, call);
    const answer = await this.#login.request<unknown>(call, `POST ${session}`, { headers: { authorization } });
    const value = xmlText(flavour === 'rest' ? xmlChild(answer, 'value') : answer);
    if (value !== undefined) return value;
    throw new CloudError('unavailable', 'vCenter took the login to its REST API and gave no session');
  }
}

/** `{"error_type": "NOT_FOUND", "messages": […]}`, or `{"type": "com.vmware.vapi.std.errors.not_found", "value": {…}}`. */
function restError(body: unknown): ApiError | undefined {
  const code = xmlText(xmlChild(body, 'error_type')) ?? xmlText(xmlChild(body, 'type'))?.replace(/^.*\./u, '');
  if (code === undefined) return undefined;
  const [message] = [...xmlChildren(body, 'messages'), ...xmlChildren(xmlChild(body, 'value'), 'messages')];
  return { code: code.toUpperCase(), message: xmlText(xmlChild(message, 'default_message')) ?? '' };
}

function isList(answer: unknown): readonly unknown[] {
  if (answer === undefined || answer === null) return [];
  if (Array.isArray(answer)) return answer as readonly unknown[];
  throw new CloudError('unavailable', 'vCenter answered with no list of tags; nothing is concluded from it');
}
