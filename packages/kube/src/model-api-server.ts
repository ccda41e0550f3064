/**
 * A model of an API server for this package's unit tests, as a `Transport`: one kind, a revision counter, a window of
 * history, lists in pages, watches, initial streams, and faults that are asked for. No sockets, no time of its own.
 */
import type { KubeObject, ObjectMeta } from './kube-object.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** What to do to a request instead of answering it. */
export type Fault =
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    }
  | { readonly kind: 'error-event'; readonly status: object }
  /** The answer is cut after so many bytes. */
  | { readonly kind: 'cut'; readonly bytes: number; readonly how: CutHow };

/** `half`: half a line, then the end, as of a proxy that gives up. */
export type CutHow = 'end' | 'reset' | 'half';

export interface ModelObject extends KubeObject {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string };
  value: number;
}

interface HistoryEntry {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ModelObject;
}

const encoder = new TextEncoder();

/** `meta/v1 Status` as the server words it. */
export function status(code: number, reason: string, message: string, more: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, ...more };
}

export const EXPIRED: object = status(410, 'Expired', 'too old resource version');
export const TOO_LARGE: object = status(504, 'Timeout', 'Timeout: Too large resource version: 9, current: 1', {
  details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 },
});

/** Lines that wait for a reader. */
class LineStream implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  readonly #signal: AbortSignal | undefined;
  #end: 'open' | 'ended' | Error = 'open';
  #wake = Promise.withResolvers<void>();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', () => this.end(signal.reason as Error), { once: true });
  }

  get open(): boolean {
    return this.#end === 'open';
  }

  push(text: string): void {
    if (this.open) this.#chunks.push(encoder.encode(text));
    this.#wake.resolve();
  }

  end(how: 'ended' | Error): void {
    if (this.open) this.#end = how;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        if (this.#signal?.aborted) throw this.#signal.reason as Error;
        const chunk = this.#chunks.shift();
        if (chunk) yield chunk;
        else if (this.#end === 'ended') return;
        else if (this.#end !== 'open') throw this.#end;
        else {
          await this.#wake.promise;
          this.#wake = Promise.withResolvers();
        }
      }
    } finally {
      this.end('ended');
    }
  }
}

export class ModelApiServer implements Transport {
  readonly objects: Map<string, ModelObject> = new Map();
  /** Every request so far, newest last. */
  readonly requests: TransportRequest[] = [];
  /** Consumed one a request. */
  readonly faults: Fault[] = [];
  /** What it makes of `sendInitialEvents`. `refuses`: 422. `ignores`: as if it were not there, as before Kubernetes 1.27. */
  initialStreams: 'has' | 'refuses' | 'ignores' = 'has';
  revision = 1;
  /** History up to here is forgotten. */
  compacted = 0;
  #uids = 0;
  readonly #history: HistoryEntry[] = [];
  readonly #snapshots = new Map<number, readonly ModelObject[]>();
  readonly #watches = new Set<LineStream>();

  put(name: string, value: number): void {
    const before = this.objects.get(name);
    const resourceVersion = String(++this.revision);
    const metadata = { name, uid: before?.metadata.uid ?? `uid-${++this.#uids}`, resourceVersion };
    const object = { apiVersion: 'v1', kind: 'Node', metadata, value };
    this.objects.set(name, object);
    this.#record(before ? 'MODIFIED' : 'ADDED', object);
  }

  remove(name: string): void {
    const before = this.objects.get(name);
    if (!before) return;
    this.objects.delete(name);
    const resourceVersion = String(++this.revision);
    this.#record('DELETED', { ...before, metadata: { ...before.metadata, resourceVersion } });
  }

  /** Forgets history and continue tokens. */
  compact(): void {
    this.compacted = this.revision;
    this.#snapshots.clear();
  }

  /** Sends a bookmark on every watch. `resourceVersion` as some servers have it: empty. */
  bookmark(resourceVersion: string = String(this.revision)): void {
    for (const watch of this.#watches) watch.push(bookmarkLine(resourceVersion));
  }

  /** Ends every watch. */
  cut(how: CutHow): void {
    for (const watch of this.#watches) {
      if (how === 'half') watch.push('{"type":"MODIFIED","object":{"metadata":{"na');
      watch.end(how === 'reset' ? new Error('connection reset') : 'ended');
    }
    this.#watches.clear();
  }

  /** Sends a line on every watch. */
  say(line: object): void {
    for (const watch of this.#watches) watch.push(`${JSON.stringify(line)}\n`);
  }

  get watches(): number {
    return [...this.#watches].filter((watch) => watch.open).length;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    const fault = this.faults.shift();
    if (fault?.kind === 'reset') throw new Error('connection reset');
    if (fault?.kind === 'answer') return answer(fault.status, fault.body, fault.headers);
    if (fault?.kind === 'error-event') return answer(200, { type: 'ERROR', object: fault.status });
    const query = new URLSearchParams(request.path.split('?')[1]);
    const response =
      query.get('watch') === 'true' ? this.#watch(query, request.signal ?? undefined) : this.#list(query);
    return fault ? { ...response, body: cutOff(response.body, fault.bytes, fault.how) } : response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut('reset');
  }

  #record(type: HistoryEntry['type'], object: ModelObject): void {
    this.#history.push({ revision: this.revision, type, object });
    for (const watch of this.#watches) watch.push(`${JSON.stringify({ type, object })}\n`);
  }

  #list(query: URLSearchParams): TransportResponse {
    const [revisionText, offsetText] = (query.get('continue') ?? `${this.revision}:0`).split(':');
    const revision = Number(revisionText);
    const offset = Number(offsetText);
    if (offset === 0) this.#snapshots.set(revision, [...this.objects.values()]);
    const snapshot = this.#snapshots.get(revision);
    if (!snapshot) return answer(410, EXPIRED);
    const limit = Number(query.get('limit')) || snapshot.length;
    const next = offset + limit;
    const more = next < snapshot.length ? { continue: `${revision}:${next}` } : {};
    return answer(200, {
      metadata: { resourceVersion: String(revision), ...more },
      items: snapshot.slice(offset, next),
    });
  }

  #watch(query: URLSearchParams, signal: AbortSignal | undefined): TransportResponse {
    const initial = query.get('sendInitialEvents') === 'true';
    if (initial && this.initialStreams === 'refuses') {
      return answer(422, status(422, 'Invalid', 'sendInitialEvents is forbidden for watch'));
    }
    const from = Number(query.get('resourceVersion') ?? 0);
    if (from > 0 && from < this.compacted) return answer(200, { type: 'ERROR', object: EXPIRED });
    if (from > this.revision) return answer(504, TOO_LARGE);
    const stream = new LineStream(signal);
    if (from === 0)
      for (const object of this.objects.values()) stream.push(`${JSON.stringify({ type: 'ADDED', object })}\n`);
    if (initial && this.initialStreams === 'has') {
      stream.push(bookmarkLine(String(this.revision), { 'k8s.io/initial-events-end': 'true' }));
    }
    for (const { revision, type, object } of this.#history) {
      if (from > 0 && revision > from) stream.push(`${JSON.stringify({ type, object })}\n`);
    }
    this.#watches.add(stream);
    return { status: 200, headers: {}, body: stream };
  }
}

function bookmarkLine(resourceVersion: string, annotations?: Record<string, string>): string {
  return `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Node', metadata: { resourceVersion, annotations } } })}\n`;
}

/** An answer made up by hand: a string body goes out as it is, anything else as JSON. */
export function answer(code: number, body: unknown = '', headers: Record<string, string> = {}): TransportResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  return { status: code, headers: { 'content-type': type, ...headers }, body: chunksOf(text) };
}

// oxlint-disable-next-line typescript/require-await -- a stream that is all there
async function* chunksOf(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield encoder.encode(text);
}

async function* cutOff(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
  how: CutHow,
): AsyncGenerator<Uint8Array, void, void> {
  let left = bytes;
  for await (const chunk of body) {
    // `end` keeps to whole lines, as a server does that closes in good order.
    const size = how === 'end' && left < chunk.byteLength ? 0 : Math.min(left, chunk.byteLength);
    if (size > 0) yield chunk.subarray(0, size);
    left -= chunk.byteLength;
    if (left <= 0) break;
  }
  if (how === 'reset') throw new Error('connection reset');
}
