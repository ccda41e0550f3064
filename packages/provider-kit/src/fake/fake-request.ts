/** What passes between a client and a fake cloud. */

/** A request as it came, and what is known of it. */
export interface FakeRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** `GET /servers/{id}`, or the model's own name; without a route method and path. */
  readonly operation: string;
  /** `undefined`: of none. */
  readonly account: string | undefined;
}

/** An answer as it goes. */
export interface FakeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** What a request asks for, read by its model. */
export interface FakeInput {
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Each once; of a list of values an array. */
  readonly query: Readonly<Record<string, unknown>>;
  /** `undefined`: there is none. */
  readonly body: unknown;
}

/** What a behaviour gives back. */
export interface FakeResult {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** `undefined`: none. */
  readonly body?: unknown;
  /** The member of the body with the items, of a list: what a rule `empty-list` empties. Default: it is none. */
  readonly list?: string;
}
