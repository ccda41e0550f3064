/** A clock that stands still until it is told to move, so that no unit test sleeps. */
import { sleepOn, type Clock, type Timer } from '@outrigger/kube';

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

/** How many turns of the event loop `advance` gives the code under test after each timer to set its next one. */
const TURNS = 3;

/** `Clock` for tests. Wall clock and monotonic reading move together, unless `skewWallClock` sets the wall clock off. */
export class FakeClock implements Clock {
  #monotonic = 0;
  #wall: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  /** `start`: the wall clock at the beginning, in milliseconds since the Unix epoch. Default: 2026-01-01T00:00:00Z. */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const entry: Pending = { at: this.#monotonic + Math.max(0, delayMs), order: this.#order++, fire };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Timers that are set and have not fired. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer, `undefined` when there is none. */
  get nextTimerIn(): number | undefined {
    const next = this.#next();
    return next && next.at - this.#monotonic;
  }

  /** Moves the wall clock alone: what NTP or an operator does. */
  skewWallClock(byMs: number): void {
    this.#wall += byMs;
  }

  /** Moves time on by `ms`, firing timers in order, and letting the code that waited on each run before the next fires. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    await this.settle();
    for (let next = this.#next(); next && next.at <= end; next = this.#next()) {
      this.#moveTo(next.at);
      this.#pending.delete(next);
      next.fire();
      await this.settle();
    }
    this.#moveTo(end);
    await this.settle();
  }

  /** Lets everything that is ready run, without moving time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
  }

  #moveTo(at: number): void {
    this.#wall += at - this.#monotonic;
    this.#monotonic = at;
  }

  #next(): Pending | undefined {
    let first: Pending | undefined;
    for (const entry of this.#pending) {
      if (!first || entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry;
    }
    return first;
  }
}
