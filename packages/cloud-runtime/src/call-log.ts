/** The last requests to the cloud, all of them and by object, for `explain` and the debug page. */

export interface CallRecord {
  /** The operation's name; never with IDs in it. */
  readonly operation: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** `ok`, `http-<status>`, a `CloudErrorCode`, `aborted` or `error`. */
  readonly code: string;
  readonly priority: string;
  /** Which send of this request it was, from 1. */
  readonly attempt: number;
}

const REMEMBERED = 256;
/** Requests for one object: a quiet one's are still known when the log of all has gone round. */
const REMEMBERED_FOR_ONE = 8;
/** Objects: those that were asked about least lately are dropped. They share the records of their batches. */
const OBJECTS = 20_000;
/** An object goes to the end of the line once in so many requests: a request may be about hundreds, and each move costs more than the rest. */
const MOVED_EVERY = 1_000;

/** A ring, and a small one for each object: remembering costs the same for ever. */
export class CallLog {
  readonly #records: CallRecord[] = [];
  readonly #byObject = new Map<string, { readonly records: CallRecord[]; movedAt: number }>();
  #next = 0;
  #added = 0;

  /** `about`: UIDs of the objects for whose sake it was sent. */
  add(record: CallRecord, about: readonly string[] = []): void {
    this.#records[this.#next] = record;
    this.#next = (this.#next + 1) % REMEMBERED;
    this.#added += 1;
    for (const uid of about) {
      const known = this.#byObject.get(uid) ?? { records: [], movedAt: -Infinity };
      const { movedAt, records } = known;
      records.push(record);
      if (records.length > REMEMBERED_FOR_ONE) records.shift();
      if (this.#added < movedAt + MOVED_EVERY) continue;
      known.movedAt = this.#added;
      this.#byObject.delete(uid);
      this.#byObject.set(uid, known);
    }
    for (const [oldest] of this.#byObject) {
      if (this.#byObject.size <= OBJECTS) break;
      this.#byObject.delete(oldest);
    }
  }

  /** Newest last. With `uid`: those for this object only. */
  list(uid?: string): readonly CallRecord[] {
    if (uid !== undefined) return [...(this.#byObject.get(uid)?.records ?? [])];
    return [...this.#records.slice(this.#next), ...this.#records.slice(0, this.#next)];
  }
}
