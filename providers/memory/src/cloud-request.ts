/** Requests to the cloud: the same shape in process and over HTTP. */

export interface CloudRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query, without host. */
  readonly path: string;
  readonly body?: unknown;
}

export interface CloudResponse {
  readonly status: number;
  readonly retryAfterSeconds?: number | undefined;
  /** JSON. Of a failure: `{code, message}`. */
  readonly body: unknown;
}

/** Sends one request; rejects only when there is no answer. */
export type SendToCloud = (request: CloudRequest, signal: AbortSignal) => Promise<CloudResponse>;

/** The cloud refuses: becomes a response. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}
