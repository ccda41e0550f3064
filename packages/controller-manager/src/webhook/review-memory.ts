/**
 * What reviews hold of the memory, from their first byte to their answer: limited for each, for each caller, and for all, whoever the
 * callers are. Where there is too little, a review that is still arriving gives way: `firstToGo` says which.
 */
import type { Readable } from 'node:stream';
import { firstToGo, type Claim } from '../serving/first-to-go.ts';
import { ReviewError } from './admission-review.ts';
import { sizeOfJson } from './json-size.ts';

export interface Caller {
  /** Its address. */
  readonly peer: string;
  /** It has shown the certificate of an API server. */
  readonly trusted: boolean;
}

const MiB = 1024 * 1024;
/** Two objects of the largest size that the API server takes (3 MiB), and what is around them. */
export const MOST_BYTES: number = 6.5 * MiB;
/** Of one review. The largest of the objects that webhooks are asked about has a tenth of it. */
const MOST_VALUES = 200_000;
const MOST_DEPTH = 500;
/** What a byte of text, and a value, may take once they are parsed. */
const [BYTES_PER_BYTE, BYTES_PER_VALUE] = [2, 64];
/** The first holds one review of the largest size. */
const [MOST_OF_CALLER, MOST_OF_ALL] = [26 * MiB, 40 * MiB];
const FIRST_BUFFER = 4_096;

export class ReviewMemory {
  /** Oldest first. */
  readonly #held = new Set<HeldReview>();
  readonly #mostAtOnce: number;

  /** `mostAtOnce`: reviews of one caller that are being answered; of all there may be twice as many. */
  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce;
  }

  /** Until it is disposed of. */
  hold(caller: Caller): HeldReview {
    const review = new HeldReview(caller, {
      claim: (size) => this.#claim(review, size),
      admit: () => this.#admit(review),
      release: () => void this.#held.delete(review),
    });
    this.#held.add(review);
    return review;
  }

  #claim(review: HeldReview, size: number): void {
    review.size = size;
    // Each turn frees the memory of one.
    for (;;) {
      // Those that have given way hold nothing any more.
      const arriving = [...this.#held].filter(({ busy, size: held }) => !busy && held > 0);
      const theirs = (one: HeldReview): boolean => one.peer === review.peer;
      let gone: HeldReview | undefined;
      if (sizeOf([...this.#held].filter(theirs)) > MOST_OF_CALLER) gone = firstToGo(arriving.filter(theirs));
      else if (sizeOf(this.#held) > MOST_OF_ALL) gone = firstToGo(arriving);
      else return;
      const error = new ReviewError('there are too many reviews, or they are too large', 429);
      if (gone === undefined || gone === review) throw error;
      gone.giveWay(error);
    }
  }

  #admit({ peer }: HeldReview): void {
    const answered = [...this.#held].filter(({ busy }) => busy);
    const theirs = answered.filter((one) => one.peer === peer);
    if (theirs.length >= this.#mostAtOnce || answered.length >= 2 * this.#mostAtOnce) {
      throw new ReviewError(`${answered.length} reviews are being answered already`, 429);
    }
  }
}

function sizeOf(reviews: Iterable<HeldReview>): number {
  let sum = 0;
  for (const { size } of reviews) sum += size;
  return sum;
}

interface Share {
  /** Throws a `ReviewError` when there is not so much. */
  readonly claim: (size: number) => void;
  /** The same, when too many are being answered. */
  readonly admit: () => void;
  readonly release: () => void;
}

export class HeldReview implements Claim, Disposable {
  readonly peer: string;
  readonly trusted: boolean;
  readonly #share: Share;
  #refuse: ((error: ReviewError) => void) | undefined;
  size = 0;
  busy = false;

  constructor({ peer, trusted }: Caller, share: Share) {
    this.peer = peer;
    this.trusted = trusted;
    this.#share = share;
  }

  /** The text, read to its end. Rejects with a `ReviewError`. */
  async read(incoming: Readable): Promise<string> {
    const { buffer } = await this.#receive(incoming);
    const text = Buffer.from(buffer);
    try {
      const { depth, values } = sizeOfJson(text);
      if (values > MOST_VALUES) throw new ReviewError(`a review has at most ${MOST_VALUES} values`, 413);
      if (depth > MOST_DEPTH) throw new ReviewError(`a review is at most ${MOST_DEPTH} objects deep`, 413);
      this.#share.claim(BYTES_PER_BYTE * text.length + BYTES_PER_VALUE * values);
      this.#share.admit();
      this.busy = true;
      return text.toString();
    } finally {
      buffer.transfer(0);
    }
  }

  /** Another one needs the memory more. */
  giveWay(error: ReviewError): void {
    this.size = 0;
    this.#refuse?.(error);
  }

  [Symbol.dispose](): void {
    this.#share.release();
  }

  /** Into one buffer that grows: of a body in chunks of one byte, the chunks would take a hundred times as much. */
  #receive(incoming: Readable): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
      let bytes = new Uint8Array(0);
      let length = 0;
      // What is moved is freed where it was, at once; the collector would leave it until there is much of it.
      const resize = (size: number): void => void (bytes = new Uint8Array(bytes.buffer.transfer(size)));
      const settle = (): void => {
        this.#refuse = undefined;
        incoming.off('data', onData).off('end', onEnd).off('close', onGone);
        incoming.pause();
      };
      const fail = (error: unknown): void => {
        settle();
        resize(0);
        reject(error);
      };
      const onData = (chunk: Uint8Array): void => {
        const needed = length + chunk.length;
        try {
          if (needed > MOST_BYTES) throw new ReviewError(`a review is at most ${MOST_BYTES} bytes`, 413);
          if (needed > bytes.length) {
            const size = Math.min(MOST_BYTES, Math.max(needed, 2 * bytes.length, FIRST_BUFFER));
            this.#share.claim(size);
            resize(size);
          }
        } catch (error) {
          fail(error);
          return;
        }
        bytes.set(chunk, length);
        length = needed;
        // Node's HTTP parser makes a buffer for each chunk. What only a chunk holds is freed now: the collector waits for 64 MiB of it.
        if (chunk.buffer instanceof ArrayBuffer && chunk.buffer.byteLength === chunk.length) chunk.buffer.transfer(0);
      };
      const onEnd = (): void => {
        settle();
        resize(length);
        resolve(bytes);
      };
      const onGone = (): void => fail(new ReviewError('the caller has gone'));
      this.#refuse = fail;
      // `error` is followed by `close`.
      incoming
        .on('data', onData)
        .on('end', onEnd)
        .on('close', onGone)
        .on('error', () => {});
    });
  }
}
