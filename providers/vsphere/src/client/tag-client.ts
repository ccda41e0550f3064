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
import type { AttachedTag, ManagedObject, TagOptions } from '../inventory/vcenter.ts';

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
  readonly readAt: number;
}

const OBJECTS_A_REQUEST = 1_000;
/** So long names of tags and categories are believed: they may be renamed. */
const KNOWN_FOR_MS = 10 * 60_000;
const OLD_FOR_MS = 24 * 3_600_000;
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
  readonly #credentials: ReturnType<typeof tokenCredentials>;
  #flavour: Flavour | undefined;
  /** The session that is used, for the logout. */
  #session: string | undefined;
  readonly #known = new Map<string, Known>();

  constructor(options: TagClientOptions) {
    const http = { ...options.http, errors, errorOf: restError };
    this.#options = options;
    this.#login = new HttpClient(http);
    this.#credentials = tokenCredentials({
      host: options.host,
      headers: (value) => ({ 'vmware-api-session-id': value }),
      refusedForMs: REFUSED_FOR_MS,
      fetch: async (call) => ({ value: (this.#session = await this.#signIn(call)) }),
    });
    this.#http = new HttpClient({ ...http, credentials: this.#credentials });
  }

  /** By reference; an object without such tags has an empty list. */
  async attached(
    objects: readonly ManagedObject[],
    categories: readonly string[],
    call: CallContext,
    { oldNames = false }: TagOptions = {},
  ): Promise<ReadonlyMap<string, readonly AttachedTag[]>> {
    const found = new Map<string, readonly AttachedTag[]>(objects.map(({ reference }) => [reference, []]));
    if (categories.length === 0) return found;
    for (let start = 0; start < objects.length; start += OBJECTS_A_REQUEST) {
      const asked = objects.slice(start, start + OBJECTS_A_REQUEST);
      const answer = await this.#ask(call, 'POST', '/tag-association', {
        action: 'list-attached-tags-on-objects',
        body: { object_ids: asked.map(({ reference, type }) => ({ id: reference, type })) },
      });
      const ids = isList(answer).map((one): [string, readonly string[]] => [
        xmlText(xmlChild(one, 'object_id', 'id')) ?? '',
        xmlChildren(one, 'tag_ids').map(String),
      ]);
      const tags = await this.#named(
        '/tag',
        ids.flatMap(([, tags]) => tags),
        call,
        oldNames,
      );
      const byID = await this.#named(
        '/category',
        [...tags.values()].map(({ category }) => category),
        call,
        oldNames,
      );
      for (const [reference, attached] of ids) {
        const named = attached.flatMap((id): AttachedTag[] => {
          const tag = tags.get(id);
          const category = byID.get(tag?.category ?? '')?.name;
          return tag && category !== undefined && categories.includes(category) ? [{ category, name: tag.name }] : [];
        });
        found.set(reference, named);
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

  /** Each is read once. What is missing was deleted in between. */
  async #named(
    path: '/tag' | '/category',
    ids: readonly string[],
    call: CallContext,
    oldNames: boolean,
  ): Promise<ReadonlyMap<string, Known>> {
    const now = this.#options.host.clock.now();
    // What is not asked for any more is forgotten.
    for (const [id, { readAt }] of this.#known) if (now - readAt >= OLD_FOR_MS) this.#known.delete(id);
    const known = await Promise.all(
      [...new Set(ids)].map(async (id): Promise<[string, Known | undefined]> => {
        const kept = this.#known.get(id);
        const isKnown = kept && now - kept.readAt < (oldNames ? OLD_FOR_MS : KNOWN_FOR_MS);
        return [id, isKnown ? kept : await this.#read(path, id, call)];
      }),
    );
    return new Map(known.filter((one): one is [string, Known] => one[1] !== undefined));
  }

  async #read(path: '/tag' | '/category', id: string, call: CallContext): Promise<Known | undefined> {
    const readAt = this.#options.host.clock.now();
    try {
      const answer = await this.#ask(call, 'GET', path, { id });
      const text = (name: string): string => xmlText(xmlChild(answer, name)) ?? '';
      const known = { name: text('name'), category: text('category_id'), readAt };
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
    if (!this.#flavour) await this.#credentials(call, false);
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

  /** Where the newer API is not, its path is 404. */
  async #signIn(call: CallContext): Promise<string> {
    try {
      return await this.#signInBy(this.#flavour ?? 'api', call);
    } catch (error) {
      if (this.#flavour || !isHttpError(error, 404)) throw error;
      return this.#signInBy('rest', call);
    }
  }

  async #signInBy(flavour: Flavour, call: CallContext): Promise<string> {
    const { session } = PATHS[flavour];
    const authorization = await this.#options.authorization(session, call);
    const answer = await this.#login.request<unknown>(call, `POST ${session}`, { headers: { authorization } });
    this.#flavour = flavour;
    const value = xmlText(flavour === 'rest' ? xmlChild(answer, 'value') : answer);
    if (value !== undefined) return value;
    throw new CloudError('unavailable', 'vCenter accepted the login to its REST API and returned no session');
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
