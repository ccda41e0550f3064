/** What can end a request early: its signal, its time-out, a broken connection, the closing of the transport. */
import type { Clock, Timer } from '../clock.ts';
import { onAbort } from '../abort.ts';
import type { TransportRequest } from '../transport.ts';
import { TransportError } from './transport-error.ts';

/** Milliseconds until the whole answer has come, unless the request says otherwise. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** One request from `send` to the last byte of its answer. The first failure wins. */
export class RequestScope {
  readonly request: TransportRequest;
  readonly server: string;
  /** No limit: a watch. */
  readonly unlimited: boolean;
  /** Aborts when the scope fails: for steps that take a signal. */
  readonly #abort = new AbortController();
  readonly #forget: (() => void) | undefined;
  readonly #timer: Timer | undefined;
  readonly #onEnd: (scope: RequestScope) => void;
  #onFail: ((error: Error) => void) | undefined;
  #failure: Error | undefined;
  #done = false;

  /** `onEnd` is called once, when the scope is done or has failed. Throws the signal's reason if it has aborted. */
  constructor(request: TransportRequest, server: string, clock: Clock, onEnd: (scope: RequestScope) => void) {
    request.signal?.throwIfAborted();
    this.request = request;
    this.server = server;
    this.#onEnd = onEnd;
    const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.unlimited = timeoutMs === 0;
    const { signal } = request;
    this.#forget = signal && onAbort(signal, () => this.fail(signal.reason as Error));
    if (!this.unlimited) {
      this.#timer = clock.setTimer(timeoutMs, () => {
        const what = `${request.method} ${request.path}: no whole answer within ${timeoutMs} ms`;
        this.fail(new TransportError('timeout', server, what, { sent: true }));
      });
    }
  }

  /** Why the request ended early, `undefined` if it did not. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Calls `stop` when the scope fails, at once if it has. Takes the place of the `stop` before. */
  onFail(stop: (error: Error) => void): void {
    this.#onFail = stop;
    if (this.#failure) stop(this.#failure);
  }

  /** Asks for leave to write the request now. Throws what the scope failed with, or what `beforeSend` says. */
  beforeSend(): void {
    if (this.#failure) throw this.#failure;
    try {
      this.request.beforeSend?.();
    } catch (error) {
      this.fail(error as Error);
      throw error;
    }
  }

  /** Ends the request with an error. After the end it does nothing. */
  fail(error: Error): void {
    if (this.#done) return;
    this.#failure = error;
    this.#end();
    this.#abort.abort(error);
    this.#onFail?.(error);
  }

  /** The whole answer has been read, or nobody wants the rest. */
  finish(): void {
    if (!this.#done) this.#end();
  }

  #end(): void {
    this.#done = true;
    this.#timer?.cancel();
    this.#forget?.();
    this.#onEnd(this);
  }
}
