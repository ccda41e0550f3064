const NEWLINE = 10;

/** Lets a number of whole lines through, then closes; before that, if asked, half of the line that follows. */
export class LineGate {
  readonly #lines: number;
  /** Whether it closes in the middle of a line. */
  readonly half: boolean;
  #passed = 0;
  /** The line in the middle of which the gate shall close, as far as it has come. */
  #last: Buffer = Buffer.alloc(0);
  #closed: boolean;

  constructor(lines: number, half: boolean) {
    this.#lines = lines;
    this.half = half;
    this.#closed = lines === 0 && !half;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Half of a last line that had no end. */
  rest(): Buffer {
    return this.#last.subarray(0, Math.floor(this.#last.length / 2));
  }

  /** The part of the chunk that passes. */
  take(chunk: Buffer): Buffer {
    let start = 0;
    while (this.#passed < this.#lines) {
      const newline = chunk.indexOf(NEWLINE, start);
      if (newline < 0) return chunk;
      start = newline + 1;
      this.#passed++;
    }
    const whole = chunk.subarray(0, start);
    if (!this.half) {
      this.#closed = true;
      return whole;
    }
    this.#last = Buffer.concat([this.#last, chunk.subarray(start)]);
    const newline = this.#last.indexOf(NEWLINE);
    if (newline < 0) return whole;
    this.#closed = true;
    return Buffer.concat([whole, this.#last.subarray(0, Math.floor(newline / 2))]);
  }
}
