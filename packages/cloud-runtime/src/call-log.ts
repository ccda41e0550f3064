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
/** Objects: those that were asked about least lately are dropped. */
const OBJECTS = 20_000;

interface Entry {
  /** How many requests there were before. */
  readonly at: number;
  readonly record: CallRecord;
}

const NOBODY: readonly string[] = [];

/** Of one call of the contract, which may send hundreds of requests about hundreds of objects: the last ones. */
type CallEntries = Entry[];

/** A ring, and what the last calls about each object have sent. A request costs the same however many objects it is about. */
export class CallLog {
  readonly #records: CallRecord[] = [];
  readonly #byCall = new WeakMap<readonly string[], CallEntries>();
  readonly #byObject = new Map<string, readonly CallEntries[]>();
  #added = 0;

  /** `about`: UIDs of the objects for whose sake it was sent; of one call, always the same array. */
  add(record: CallRecord, about: readonly string[] = NOBODY): void {
    this.#records[this.#added % REMEMBERED] = record;
    const entries = this.#byCall.get(about) ?? this.#begin(about);
    entries.push({ at: this.#added++, record });
    if (entries.length > REMEMBERED_FOR_ONE) entries.shift();
  }

  #begin(about: readonly string[]): CallEntries {
    const entries: CallEntries = [];
    this.#byCall.set(about, entries);
    for (const uid of about) {
      const calls = [...lastOf(this.#byObject.get(uid) ?? []), entries];
      // Those that were asked about last are at the end.
      this.#byObject.delete(uid);
      this.#byObject.set(uid, calls);
    }
    for (const [oldest] of this.#byObject) {
      if (this.#byObject.size <= OBJECTS) break;
      this.#byObject.delete(oldest);
    }
    return entries;
  }

  /** Newest last. With `uid`: those for this object only. */
  list(uid?: string): readonly CallRecord[] {
    if (uid === undefined) {
      const next = this.#added % REMEMBERED;
      return [...this.#records.slice(next), ...this.#records.slice(0, next)];
    }
    const entries = (this.#byObject.get(uid) ?? []).flat().sort((a, b) => a.at - b.at);
    return entries.slice(-REMEMBERED_FOR_ONE).map(({ record }) => record);
  }
}

/** As many calls as have what is remembered of an object. */
function lastOf(calls: readonly CallEntries[]): readonly CallEntries[] {
  let count = 0;
  const first = calls.findLastIndex((entries) => (count += entries.length) >= REMEMBERED_FOR_ONE);
  return calls.slice(Math.max(0, first));
}
