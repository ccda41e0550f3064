/** From a method and a path to the handler, and to the name under which the request is counted. */
import type { Caller, FakeRequest, FakeResponse } from './fake-http.ts';

export interface Arrival {
  readonly request: FakeRequest;
  /** The path's variables, decoded: `id` of `/servers/{id}`. */
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
}

export type Handler = (arrival: Arrival) => FakeResponse;

export interface Route {
  /** `GET /servers/{id}`. */
  readonly name: string;
  readonly handler: Handler;
  /** Answered without a token: version documents, and keystone's tokens. */
  readonly isPublic: boolean;
}

interface Entry extends Route {
  readonly segments: readonly string[];
}

const VARIABLE = /^\{(\w+)\}$/;

export class RouteTable {
  readonly #entries = new Map<string, Entry[]>();

  /** `pattern`: a method and a path with variables, `GET /servers/{id}`. What is added first wins. */
  on(pattern: string, handler: Handler, { isPublic = false }: { readonly isPublic?: boolean } = {}): this {
    const [method = '', path = ''] = pattern.split(' ');
    const segments = path.split('/').slice(1);
    const key = `${method} ${segments.length}`;
    const entries = this.#entries.get(key) ?? [];
    entries.push({ name: pattern, handler, isPublic, segments });
    this.#entries.set(key, entries);
    return this;
  }

  match(method: string, path: string): { readonly route: Route; readonly params: Record<string, string> } | undefined {
    const segments = path.split('/').slice(1);
    for (const route of this.#entries.get(`${method} ${segments.length}`) ?? []) {
      const params = matchSegments(route.segments, segments);
      if (params) return { route, params };
    }
    return undefined;
  }
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.entries()) {
    const given = segments[index] ?? '';
    const variable = wanted.startsWith('{') ? VARIABLE.exec(wanted)?.[1] : undefined;
    if (variable === undefined) {
      if (given !== wanted) return undefined;
    } else {
      if (given === '') return undefined;
      params[variable] = decodeURIComponent(given);
    }
  }
  return params;
}
