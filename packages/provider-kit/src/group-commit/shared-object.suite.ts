/** An object of a cloud that many write under If-Match, with every way in which a write can go wrong; and a host for who writes it. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import type { FakeClock } from '@outrigger/testing';
import type { SharedObjects, Versioned } from './group-commit.ts';

/** By Service, what it asked for last. */
export type Settings = Readonly<Record<string, number>>;

/**
 * What becomes of one write. `before` and `after`: a 500, without and with effect. `late`: a time-out, and it takes effect later if the
 * object is still the same then. `foreign`: somebody else writes first. `throttled`: a 429. `unread`: the read before it fails.
 */
export type Fault = 'none' | 'before' | 'after' | 'late' | 'foreign' | 'throttled' | 'unread';

/** Somebody else's setting. */
export const FOREIGN = 'foreign';
/** No write that holds this or less is accepted. */
export const BAD = -1;

/** Of each request. */
const LATENCY_MS = 100;

export class SharedObject implements SharedObjects<Settings> {
  settings: Settings = {};
  reads = 0;
  /** Requests, whatever came of them. */
  writes = 0;
  /** Of each write that took effect, what it changed. */
  readonly effects: (readonly (readonly [name: string, value: number])[])[] = [];
  readonly #clock: FakeClock;
  readonly #faults: Fault[];
  #version = 1;

  constructor(clock: FakeClock, faults: readonly Fault[] = []) {
    this.#clock = clock;
    this.#faults = [...faults];
  }

  async read(_id: string, { signal }: CallContext): Promise<Versioned<Settings>> {
    this.reads++;
    await this.#clock.sleep(LATENCY_MS, signal);
    if (this.#faults[0] === 'unread') {
      this.#faults.shift();
      throw new CloudError('unavailable', 'GET: 503');
    }
    return { state: this.settings, version: String(this.#version) };
  }

  async write(
    _id: string,
    settings: Settings,
    version: string,
    { signal }: CallContext,
  ): ReturnType<SharedObjects<Settings>['write']> {
    this.writes++;
    await this.#clock.sleep(LATENCY_MS / 2, signal);
    const fault = this.#faults.shift() ?? 'none';
    if (fault === 'foreign') this.#writeAsAnother();
    if (fault === 'before') throw new CloudError('unavailable', 'PUT: 500');
    if (fault === 'throttled') throw new CloudError('throttled', 'PUT: 429', { retryAfterMs: 1_000 });
    if (fault === 'late') {
      const land = (): void => {
        if (version === String(this.#version) && !badIn(settings)) this.#accept(settings);
      };
      this.#clock.setTimer(3 * LATENCY_MS, land);
      throw new CloudError('timeout', 'PUT: no answer');
    }
    if (version !== String(this.#version)) return { kind: 'changed' };
    const bad = badIn(settings);
    if (bad !== undefined) throw new CloudError('invalid', `PUT: 400 ${bad} is wrong`);
    this.#accept(settings);
    await this.#clock.sleep(LATENCY_MS / 2, signal);
    if (fault === 'after') throw new CloudError('unavailable', 'PUT: 502');
    return { kind: 'written', next: { state: settings, version: String(this.#version) } };
  }

  #writeAsAnother(): void {
    this.#accept({ ...this.settings, [FOREIGN]: (this.settings[FOREIGN] ?? 0) + 1 });
  }

  #accept(settings: Settings): void {
    this.effects.push(Object.entries(settings).filter(([name, value]) => this.settings[name] !== value));
    this.settings = settings;
    this.#version++;
  }
}

function badIn(settings: Settings): string | undefined {
  return Object.keys(settings).find((name) => (settings[name] ?? 0) <= BAD);
}

/** A host whose calls go nowhere but to `send`. */
export function hostWith(clock: FakeClock): Pick<ProviderHost, 'callContext' | 'clock'> {
  return {
    clock,
    callContext: ({ priority = 'background', signal = new AbortController().signal } = {}) => ({
      priority,
      signal,
      logger: silentLogger,
      call: (_operation, send) => send(signal),
    }),
  };
}

export function set(name: string, value: number): (settings: Settings) => Settings {
  return (settings) => (settings[name] === value ? settings : { ...settings, [name]: value });
}
