/** The body of an answer as it arrives. */
import type { RequestScope } from './request-scope.ts';
import { toTransportError } from './transport-error.ts';

export interface BodySource {
  /** The bytes. Not asked for before the body is read. */
  readonly chunks: () => AsyncIterator<Uint8Array>;
  /** Stops the peer: nobody wants the rest. */
  readonly cancel: () => void;
  readonly onChunk?: () => void;
}

/**
 * Iterates a stream once. Not a generator: returning from a generator that was never started runs none of its code,
 * and a body that nobody read would keep its stream open for ever.
 */
export class ResponseBody implements AsyncIterableIterator<Uint8Array> {
  readonly #scope: RequestScope;
  readonly #source: BodySource;
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #ended = false;

  constructor(scope: RequestScope, source: BodySource) {
    this.#scope = scope;
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#ended) return { done: true, value: undefined };
    try {
      this.#throwIfFailed();
      this.#iterator ??= this.#source.chunks();
      const step = await this.#iterator.next();
      if (!step.done) {
        this.#source.onChunk?.();
        return { done: false, value: step.value };
      }
      this.#throwIfFailed();
      this.#ended = true;
      this.#scope.finish();
      return { done: true, value: undefined };
    } catch (error) {
      this.#ended = true;
      const failure = this.#scope.failure ?? toTransportError(error, this.#scope.server, true);
      this.#scope.finish();
      throw failure;
    }
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#ended) {
      this.#ended = true;
      this.#scope.finish();
      this.#source.cancel();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  #throwIfFailed(): void {
    if (this.#scope.failure) throw this.#scope.failure;
  }
}
