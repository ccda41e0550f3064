/** What each message of a watch in protobuf begins with: its length, in 32 bits, most significant byte first. */
const LENGTH_BYTES = 4;

/** `LineGate` for a watch in protobuf: lets a number of whole messages through, then closes; before that, if asked, half of the next. */
export class FrameGate {
  readonly #frames: number;
  /** Whether it closes in the middle of a message. */
  readonly half: boolean;
  #passed = 0;
  /** What came of the message that is not whole yet. */
  #last: Buffer = Buffer.alloc(0);
  #closed: boolean;

  constructor(frames: number, half: boolean) {
    this.#frames = frames;
    this.half = half;
    this.#closed = frames === 0 && !half;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Half of a last message that had no end. */
  rest(): Buffer {
    return this.#last.subarray(0, Math.floor(this.#last.length / 2));
  }

  /** The part of what has come that passes. */
  take(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#last, chunk]);
    let whole = 0;
    let next = endOfFrame(bytes, 0);
    for (; next !== undefined && this.#passed < this.#frames; next = endOfFrame(bytes, whole)) {
      whole = next;
      this.#passed++;
    }
    this.#last = bytes.subarray(whole);
    if (this.#passed < this.#frames) return bytes.subarray(0, whole);
    this.#closed = !this.half || next !== undefined;
    if (!this.half || next === undefined) return bytes.subarray(0, whole);
    return bytes.subarray(0, whole + Math.floor((next - whole) / 2));
  }
}

/** Of the message at `start`, if it is all there. */
function endOfFrame(bytes: Buffer, start: number): number | undefined {
  if (bytes.length - start < LENGTH_BYTES) return undefined;
  const end = start + LENGTH_BYTES + bytes.readUInt32BE(start);
  return end <= bytes.length ? end : undefined;
}
