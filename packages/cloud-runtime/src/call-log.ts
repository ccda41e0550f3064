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

/** A ring, and a small one for each object: remembering costs the same for ever. */
export class CallLog {
  readonly #records: CallRecord[] = [];
  readonly #byObject = new Map<string, CallRecord[]>();
  #next = 0;

  /** `about`: UIDs of the objects for whose sake it was sent. */
  add(record: CallRecord, about: readonly string[] = []): void {
    this.#records[this.#next] = record;
    this.#next = (this.#next + 1) % REMEMBERED;
    for (const uid of about) {
      const records = this.#byObject.get(uid) ?? [];
      records.push(record);
      if (records.length > REMEMBERED_FOR_ONE) records.shift();
      this.#byObject.delete(uid);
      this.#byObject.set(uid, records);
    }
    for (const [oldest] of this.#byObject) {
      if (this.#byObject.size <= OBJECTS) break;
      this.#byObject.delete(oldest);
    }
  }

  /** Newest last. With `uid`: those for this object only. */
  list(uid?: string): readonly CallRecord[] {
    if (uid !== undefined) return [...(this.#byObject.get(uid) ?? [])];
    return [...this.#records.slice(this.#next), ...this.#records.slice(0, this.#next)];
  }
}
