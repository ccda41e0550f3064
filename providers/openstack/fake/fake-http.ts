/** What passes between a client and the fake services. */

/** One prefix of the fake's one address each, as DevStack does it. */
export type FakeService = 'identity' | 'compute' | 'network' | 'load-balancer' | 'volume';

export interface FakeRequest {
  readonly method: string;
  readonly service: FakeService;
  /** `http://127.0.0.1:<port>`, as the client named it. */
  readonly origin: string;
  /** Below the service's prefix, without the query, still encoded. */
  readonly path: string;
  /** Path and query together, as sent. */
  readonly target: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; `undefined` without. */
  readonly body: unknown;
}

export interface FakeResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`: a proxy's page, half an answer. */
  readonly text?: string;
}

/** Whom a token speaks for. */
export interface Caller {
  readonly userId: string;
  readonly projectId: string;
  readonly roles: readonly string[];
}

export const isAdmin = (caller: Caller): boolean => caller.roles.includes('admin');

/** An answer that ends a handler. Each service has its own shape of the body. */
export class Refusal extends Error {
  readonly response: FakeResponse;

  constructor(response: FakeResponse) {
    super(`${response.status} ${JSON.stringify(response.body)}`);
    this.response = response;
  }
}

/** The object under one key of a request's body: `{"port": {…}}`. */
export function bodyOf(request: FakeRequest, key: string): Record<string, unknown> | undefined {
  const { body } = request;
  if (typeof body !== 'object' || body === null) return undefined;
  const inner = (body as Record<string, unknown>)[key];
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? (inner as Record<string, unknown>)
    : undefined;
}
