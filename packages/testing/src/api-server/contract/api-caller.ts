/** Plain HTTP calls to an API server, by `node:https` alone: the suite must not judge a server by our own client. */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** A server under test. */
export interface ApiServerSubject extends AsyncDisposable {
  readonly url: string;
  /** Bearer token of a user who may do everything. */
  readonly token: string;
  /** PEM; undefined for plain HTTP. */
  readonly ca?: string | undefined;
  /** Makes all past revisions unavailable. */
  readonly compact: () => void | Promise<void>;
}

/** JSON as it came; tests read what they expect. */
// oxlint-disable-next-line typescript/no-explicit-any -- answers of many shapes, asserted field by field
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

export interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Json;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: none. */
  readonly token?: string | null;
}

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';

/** A name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomUUID().slice(0, 8)}`;
}

export class ApiCaller implements Disposable {
  readonly #subject: ApiServerSubject;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(subject: ApiServerSubject) {
    this.#subject = subject;
    this.#agent = subject.url.startsWith('https:')
      ? new HttpsAgent({ keepAlive: true, ca: subject.ca })
      : new HttpAgent({ keepAlive: true });
  }

  get subject(): ApiServerSubject {
    return this.#subject;
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, undefined, options);
  }

  post(path: string, body: Json, options?: CallOptions): Promise<Answer> {
    return this.call('POST', path, body, options);
  }

  put(path: string, body: Json, options?: CallOptions): Promise<Answer> {
    return this.call('PUT', path, body, options);
  }

  delete(path: string, body?: Json, options?: CallOptions): Promise<Answer> {
    return this.call('DELETE', path, body, options);
  }

  patch(path: string, type: string, body: Json, options: CallOptions = {}): Promise<Answer> {
    return this.call('PATCH', path, body, { ...options, headers: { ...options.headers, 'content-type': type } });
  }

  async call(method: string, path: string, body?: Json, options: CallOptions = {}): Promise<Answer> {
    const response = await this.#send(method, path, body, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    // By look, not by type: the real server sends the index of OpenAPI as text/plain.
    const parsed: Json = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.statusCode ?? 0, headers: response.headers, body: parsed };
  }

  /** Lines of a watch until the server ends it. Give a `timeoutSeconds`, or stop reading. */
  async *watch(path: string, options: CallOptions = {}): AsyncGenerator<WatchLine> {
    const response = await this.#send('GET', path, undefined, options);
    try {
      let rest = '';
      response.setEncoding('utf8');
      for await (const chunk of response as AsyncIterable<string>) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line) as WatchLine;
      }
    } finally {
      response.destroy();
    }
  }

  /** The first lines of a watch, `count` of them. */
  async firstLines(path: string, count: number, options?: CallOptions): Promise<WatchLine[]> {
    const lines: WatchLine[] = [];
    for await (const line of this.watch(path, options)) {
      lines.push(line);
      if (lines.length === count) break;
    }
    return lines;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body: Json, options: CallOptions): Promise<IncomingMessage> {
    const token = options.token === undefined ? this.#subject.token : options.token;
    const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const send = this.#subject.url.startsWith('https:') ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = send(
        `${this.#subject.url}${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            accept: 'application/json',
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
            ...(payload === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
            ...options.headers,
          },
        },
        resolve,
      );
      request.on('error', reject);
      request.end(payload);
    });
  }
}
