/** For tests of leader election: a server that holds one Lease, and machines whose clocks can be skewed, stopped and killed. */
import type { ResourceClient, WatchEvent } from '../client.ts';
import { sleepOn, type Clock, type Timer } from '../clock.ts';
import { resources } from '../resources.ts';
import { StatusError } from '../status-error.ts';
import type { Lease } from '../types/index.ts';

/** True time: a `FakeClock` of the testing package, which only test files may import. */
export type TrueClock = Clock & { settle(): Promise<void> };

/** The clock of one machine: set off from true time, at another speed, and held still with the process by SIGSTOP. */
export class MachineClock implements Clock {
  readonly #base: TrueClock;
  readonly #rate: number;
  #wallOffsetMs: number;
  #stopped = false;
  #dead = false;
  readonly #held = new Set<() => void>();

  constructor(base: TrueClock, options: { readonly rate?: number; readonly wallOffsetMs?: number } = {}) {
    this.#base = base;
    this.#rate = options.rate ?? 1;
    this.#wallOffsetMs = options.wallOffsetMs ?? 0;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  now(): number {
    return this.#base.now() + this.#wallOffsetMs;
  }

  monotonic(): number {
    return this.#base.monotonic() * this.#rate;
  }

  skew(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const run = (): void => {
      if (this.#stopped) this.#held.add(run);
      else fire();
    };
    const timer = this.#base.setTimer(delayMs / this.#rate, run);
    return {
      cancel: () => {
        timer.cancel();
        this.#held.delete(run);
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** SIGSTOP: time goes on, nothing of this process runs. */
  stop(): void {
    this.#stopped = true;
  }

  /** SIGKILL. */
  kill(): void {
    this.#stopped = true;
    this.#dead = true;
  }

  /** SIGCONT: `first` runs before any timer that has come due, as a callback of a socket would. */
  async resume(first: () => void): Promise<void> {
    if (this.#dead) return;
    this.#stopped = false;
    first();
    for (const run of this.#held) {
      this.#held.delete(run);
      run();
      await this.#base.settle();
    }
  }
}

export interface Wire {
  /** One way, in milliseconds. */
  readonly latencyMs: () => number;
  /** What becomes of the next request. */
  readonly fate?: () => 'ok' | 'request-lost' | 'answer-lost';
  /** False: the server forbids it. */
  readonly watch?: boolean;
}

/** Only `get`, `create`, `update` and `watch`, with optimistic concurrency. */
export class FakeLeaseServer {
  readonly #clock: TrueClock;
  readonly #watchers = new Set<() => void>();
  readonly #log: WatchEvent<Lease>[] = [];
  #lease: Lease | undefined;
  #version = 0;
  requests = { get: 0, create: 0, update: 0, watch: 0 };

  constructor(clock: TrueClock) {
    this.#clock = clock;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** What another writer does to the Lease. */
  edit(change: (lease: Lease) => Lease): void {
    if (this.#lease) this.#store(change(structuredClone(this.#lease)), 'MODIFIED');
  }

  remove(): void {
    if (this.#lease) this.#publish({ type: 'DELETED', object: this.#lease });
    this.#lease = undefined;
  }

  /** Ends all watches, as a server does now and then. */
  cutWatches: () => void = () => {};

  /** As seen by a machine over its wire. */
  client(machine: MachineClock, wire: Wire): ResourceClient<Lease> {
    const call = async (work: () => Lease, signal?: AbortSignal): Promise<Lease> => {
      const fate = wire.fate?.() ?? 'ok';
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        if (signal?.aborted) reject(signal.reason as Error);
      });
      aborted.catch(() => {});
      // What is on the wire arrives whether or not the sender still wants it to.
      const arrived = this.#clock.sleep(wire.latencyMs()).then(() => (fate === 'request-lost' ? undefined : work()));
      arrived.catch(() => {});
      const answered = async (): Promise<Lease> => {
        const result = await arrived.then(
          (lease) => ({ lease }),
          (error: unknown) => ({ error }),
        );
        if (fate !== 'ok') return await aborted;
        await machine.sleep(wire.latencyMs());
        if ('error' in result) throw result.error as Error;
        return structuredClone(result.lease as Lease);
      };
      return await Promise.race([answered(), aborted]);
    };
    const client = {
      resource: resources.leases,
      get: (_ref: unknown, options: { signal?: AbortSignal }) => {
        this.requests.get++;
        return call(() => this.#current(), options.signal);
      },
      create: (lease: Lease, options: { signal?: AbortSignal }) => {
        this.requests.create++;
        return call(() => {
          if (this.#lease) throw new StatusError('POST leases', 409, { reason: 'AlreadyExists' });
          return this.#store(lease, 'ADDED');
        }, options.signal);
      },
      update: (lease: Lease, options: { signal?: AbortSignal }) => {
        this.requests.update++;
        return call(() => {
          if (this.#current().metadata?.resourceVersion !== lease.metadata?.resourceVersion) {
            throw new StatusError('PUT lease', 409, { reason: 'Conflict' });
          }
          return this.#store(lease, 'MODIFIED');
        }, options.signal);
      },
      watch: (options: { signal?: AbortSignal; resourceVersion?: string }) => {
        this.requests.watch++;
        return this.#watch(machine, wire, Number(options.resourceVersion ?? 0), options.signal);
      },
    };
    return client as unknown as ResourceClient<Lease>;
  }

  async *#watch(
    machine: MachineClock,
    wire: Wire,
    from: number,
    signal?: AbortSignal,
  ): AsyncGenerator<WatchEvent<Lease>> {
    await machine.sleep(wire.latencyMs(), signal);
    if (wire.watch === false) throw new StatusError('GET leases', 403, { reason: 'Forbidden' });
    let at = this.#log.findIndex((event) => Number(event.object.metadata?.resourceVersion) > from);
    if (at < 0) at = this.#log.length;
    const state = { over: false };
    const cutWatches = this.cutWatches;
    let wake = (): void => {};
    const onEvent = (): void => wake();
    const onAbort = (): void => {
      state.over = true;
      wake();
    };
    this.cutWatches = () => {
      state.over = true;
      cutWatches();
      onEvent();
    };
    this.#watchers.add(onEvent);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      while (!state.over) {
        const event = this.#log[at];
        if (event) {
          at++;
          await machine.sleep(wire.latencyMs(), signal);
          yield structuredClone(event);
        } else {
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    } finally {
      this.#watchers.delete(onEvent);
    }
  }

  #current(): Lease {
    if (!this.#lease) throw new StatusError('GET lease', 404, { reason: 'NotFound' });
    return this.#lease;
  }

  #store(lease: Lease, type: 'ADDED' | 'MODIFIED'): Lease {
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    this.#publish({ type, object: this.#lease });
    return this.#lease;
  }

  #publish(event: WatchEvent<Lease>): void {
    this.#log.push(event);
    for (const tell of this.#watchers) tell();
  }
}
