/** A candidate's view of the Lease: what it said last, since when, and when it will be free. Watches rather than polls. */
import { onAbort } from './abort.ts';
import type { ResourceClient } from './client.ts';
import type { Clock } from './clock.ts';
import { readLease, type LeaseRecord } from './lease-record.ts';
import type { Lease } from './types/index.ts';

/** What ended a wait. `broken`: the watch is over, the Lease has to be read again. */
export type WaitEnd = 'changed' | 'timeout' | 'broken';

export interface Observation {
  readonly record: LeaseRecord;
  /** Monotonic time at which this record was first seen here: all clocks but one's own may be wrong. */
  readonly since: number;
  /** As last seen; `undefined` when the object is gone. */
  readonly lease: Lease | undefined;
}

export interface LeaseObserverOptions {
  readonly leases: ResourceClient<Lease>;
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
  /** For a Lease that says no duration. */
  readonly leaseDurationMs: number;
  readonly onHolder: (holder: string) => void;
}

export class LeaseObserver {
  readonly #options: LeaseObserverOptions;
  #seen: (Observation & { readonly raw: string }) | undefined;
  #wake: ((why: WaitEnd) => void) | undefined;
  #missed: WaitEnd | undefined;

  constructor(options: LeaseObserverOptions) {
    this.#options = options;
  }

  get seen(): Observation | undefined {
    return this.#seen;
  }

  /** Takes in what the server said, `undefined` for no such object. */
  observe(lease: Lease | undefined): void {
    const { clock, leaseDurationMs, onHolder } = this.#options;
    if (!lease) {
      // The holder of a deleted Lease may still be at work: its time runs on from when it was last seen.
      if (this.#seen) this.#seen = { ...this.#seen, lease: undefined, raw: '' };
      return;
    }
    // As client-go: an edit of labels is no renewal, and only a change of the record starts the time anew.
    const raw = JSON.stringify(lease.spec ?? {});
    if (this.#seen?.raw === raw) {
      this.#seen = { ...this.#seen, lease };
      return;
    }
    const record = readLease(lease, leaseDurationMs);
    const changed = record.holder !== this.#seen?.record.holder;
    this.#seen = { record, since: clock.monotonic(), lease, raw };
    if (changed) onHolder(record.holder);
  }

  /** Milliseconds until the Lease may be taken: 0 when it is free, expired, or was never there. */
  freeInMs(): number {
    if (!this.#seen || this.#seen.record.holder === '') return 0;
    return Math.max(0, this.#seen.since + this.#seen.record.durationMs - this.#options.clock.monotonic());
  }

  /** Watches from what was seen last, until the result is disposed of. The end of the watch is told to `wait` as `broken`. */
  watch(onError: (error: unknown) => void): Disposable {
    const stop = new AbortController();
    this.#missed = undefined;
    void this.#follow(stop.signal).then(
      () => !stop.signal.aborted && this.#tell('broken'),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        onError(error);
        this.#tell('broken');
      },
    );
    return { [Symbol.dispose]: () => stop.abort(new DOMException('no longer watching the lease', 'AbortError')) };
  }

  /** Until the Lease changes, the watch ends or `timeoutMs` have passed. Rejects when the signal aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<WaitEnd> {
    if (this.#missed) {
      const missed = this.#missed;
      this.#missed = undefined;
      return Promise.resolve(missed);
    }
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const end = (): void => {
        this.#wake = undefined;
        timer.cancel();
        forget();
      };
      this.#wake = (why) => {
        end();
        resolve(why);
      };
      const timer = this.#options.clock.setTimer(timeoutMs, () => this.#wake?.('timeout'));
      const forget = onAbort(signal, () => {
        end();
        reject(signal.reason as Error);
      });
    });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { leases, namespace, name } = this.#options;
    const resourceVersion = this.#seen?.lease?.metadata?.resourceVersion;
    const events = leases.watch({
      namespace,
      fieldSelector: `metadata.name=${name}`,
      ...(resourceVersion !== undefined && { resourceVersion }),
      signal,
    });
    for await (const event of events) {
      if (signal.aborted) return;
      if (event.type === 'BOOKMARK' || event.object.metadata?.name !== name) continue;
      this.observe(event.type === 'DELETED' ? undefined : event.object);
      this.#tell('changed');
    }
  }

  #tell(why: WaitEnd): void {
    if (this.#wake) this.#wake(why);
    // Nobody waits just now. A broken watch outweighs a change: it makes the reader look again in any case.
    else if (this.#missed !== 'broken') this.#missed = why;
  }
}
