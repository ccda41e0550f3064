/** What a fake cloud was asked, and what was wrong with it. */

export interface FakeCall {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** `GET /servers/{id}`, or the model's own name; without a route method and path. */
  readonly operation: string;
  readonly query: Readonly<Record<string, string>>;
  /** As it was read; `undefined`: there was none. */
  readonly body: unknown;
  /** 0: the connection was closed in place of an answer. */
  readonly status: number;
  /** `undefined`: of none. */
  readonly account: string | undefined;
  /** What of the request or of the answer does not fit the model, each `request: body.size: must be …`. Refusals by state are none. */
  readonly problems: readonly string[];
  /** Milliseconds since the Unix epoch, when it came. */
  readonly at: number;
}

const MOST_CALLS = 10_000;

/** The last 10,000 calls, in the order in which they were answered. */
export class FakeCallLog {
  #calls: FakeCall[] = [];
  #dropped = 0;
  #problems: string[] = [];
  readonly #onCall: ((call: FakeCall) => void) | undefined;

  constructor(onCall?: (call: FakeCall) => void) {
    this.#onCall = onCall;
  }

  add(call: FakeCall): void {
    this.#onCall?.(call);
    this.#calls.push(call);
    // In blocks: one by one would move the whole each time.
    if (this.#calls.length >= 2 * MOST_CALLS) {
      this.#dropped += MOST_CALLS;
      this.#calls = this.#calls.slice(MOST_CALLS);
    }
    const more = call.problems.map((problem) => `${call.operation}: ${problem}`);
    if (this.#problems.length < MOST_CALLS) this.#problems.push(...more);
  }

  all(): readonly FakeCall[] {
    return this.#calls.slice(-MOST_CALLS);
  }

  /** How many there were since the start or the last `clear`, also those that are no longer kept. */
  get count(): number {
    return this.#dropped + this.#calls.length;
  }

  /** Of each operation how many: `{ 'GET /servers': 2 }`. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.all()) counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
  }

  /** Forgets the calls, not their problems. */
  clear(): void {
    this.#calls = [];
    this.#dropped = 0;
  }

  /** The problems so far, each once: for a test that sends what is wrong on purpose. What is not taken, the fake's disposal throws. */
  takeProblems(): readonly string[] {
    const taken = [...new Set(this.#problems)];
    this.#problems = [];
    return taken;
  }
}
