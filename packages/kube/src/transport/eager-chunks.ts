/**
 * The bytes of a stream, taken as they come and kept until they are asked for. An HTTP/2 stream loses what was received
 * but not yet read when its connection closes, as a server does right after GOAWAY (`--goaway-chance`): whole answers
 * would break off.
 */
import type { ClientHttp2Stream } from 'node:http2';

/** Bytes kept for a slow reader before the peer is made to wait, and below which it may go on. */
const HIGH_WATER_BYTES = 1 << 20;
const LOW_WATER_BYTES = 1 << 18;

export class EagerChunks implements AsyncIterator<Uint8Array, undefined> {
  readonly #stream: ClientHttp2Stream;
  #chunks: Uint8Array[] = [];
  /** Index of the next chunk: shifting a long array costs more than reading on in it. */
  #next = 0;
  #bytes = 0;
  #ended = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    stream.on('data', (chunk: Uint8Array) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes > HIGH_WATER_BYTES) stream.pause();
      this.#wakeUp();
    });
    stream.once('end', () => {
      // A stream that was reset can end like one that is complete.
      this.#ended = !stream.aborted && stream.rstCode === 0;
      this.#wakeUp();
    });
    stream.on('error', (error: Error) => {
      this.#error ??= error;
    });
    stream.once('close', () => {
      if (!this.#ended) {
        this.#error ??= Object.assign(new Error('stream closed'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
      }
      this.#wakeUp();
    });
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#chunks[this.#next];
      if (chunk) {
        this.#take(chunk);
        return { done: false, value: chunk };
      }
      if (this.#ended) return { done: true, value: undefined };
      if (this.#error) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(chunk: Uint8Array): void {
    this.#next += 1;
    if (this.#next === this.#chunks.length) {
      this.#chunks = [];
      this.#next = 0;
    }
    this.#bytes -= chunk.length;
    if (this.#bytes < LOW_WATER_BYTES && this.#stream.isPaused()) this.#stream.resume();
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
