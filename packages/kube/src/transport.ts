/**
 * The one door to an API server. A `Transport` sends a request and streams the answer; it knows connections, TLS,
 * credentials and time-outs, and nothing of Kubernetes objects.
 */

/** Which connections a request may share. Watches and leases never wait behind ordinary requests. */
export type TrafficClass = 'default' | 'watch' | 'lease';

/** Names in lower case. A list: the header once for each value, as the server reads the groups of an impersonation. `undefined`: none. */
export interface RequestHeaders {
  readonly accept?: string;
  readonly authorization?: string;
  readonly 'content-type'?: string;
  readonly [name: string]: string | readonly string[] | undefined;
}

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path with query, for example `/api/v1/nodes?limit=500`. */
  readonly path: string;
  readonly headers?: RequestHeaders;
  readonly body?: string;
  /** Default: `default`. */
  readonly traffic?: TrafficClass;
  readonly signal?: AbortSignal | undefined;
  /** Until the whole answer has come, in milliseconds. 0: no limit (watches). Default: 60,000. */
  readonly timeoutMs?: number;
  /**
   * Called each time just before the request is handed to the socket, after every wait for a connection, TLS or a free
   * stream; nothing is awaited in between. What it throws is thrown by `send`, and nothing is sent.
   */
  readonly beforeSend?: (() => void) | undefined;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives. It must be read to its end or returned from (`break`), which closes the stream. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to one API server. Closing it aborts what is in flight. */
export interface Transport extends AsyncDisposable {
  /** Throws a `TransportError` when no answer came; an answer of any status is a response. */
  send(request: TransportRequest): Promise<TransportResponse>;
}

/** Wraps a transport: fencing by leadership, rate limits, retries, recording, metrics. The first in the list is the outermost. */
export type TransportLayer = (inner: Transport) => Transport;
