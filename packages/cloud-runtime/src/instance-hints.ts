/**
 * What a provider hints of machines that have changed. A hint wakes look-ups and proves nothing: whatever the provider gives, and however
 * fast, costs a bounded number of these. Entry point: `createInstanceHints`.
 */
import type { CallContext, InstanceHint, Instances } from '@outrigger/cloud-provider';
import { raceAbort, sleepOn, type Clock, type Logger, type Timer } from '@outrigger/kube';
import { batchSizeOf } from './answer-defaults.ts';
import type { MakeCallContext } from './make-call-context.ts';

/** Machines to be asked about: some by name or by provider ID, or all of them. */
export interface HintedMachines {
  readonly all: boolean;
  readonly names: ReadonlySet<string>;
  readonly providerIDs: ReadonlySet<string>;
}

export interface InstanceHints {
  /** Hears of hints, a batch of the provider's size every 5 s at most, and `all` once a minute at most. Returns the way to stop. */
  subscribe(listener: (hinted: HintedMachines) => void): () => void;
}

export interface InstanceHintsOptions {
  readonly instances: Instances;
  readonly callContext: MakeCallContext;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the listening. */
  readonly signal: AbortSignal;
}

const TOLD_EVERY_MS = 5_000;
const ALL_EVERY_MS = 60_000;
/** More than these that wait to be told are told as all. */
const MOST_WAITING = 10_000;
/** Hints that are taken in one turn of the event loop: an iterator that always has one holds up nobody. */
const TAKEN_IN_A_TURN = 50;
/** After so many the iterator is left alone for as long as a batch takes to be told: it would cost CPU and say nothing more. */
const TAKEN_AT_ONCE = 1_000;
/** Before what ended or failed is begun anew; doubles. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
/** What went on for so long did not fail. */
const GOOD_AFTER_MS = 60_000;
/** A name or an ID of more characters is no machine's. */
const MOST_CHARACTERS = 1_024;

/** `undefined`: the provider gives none. Nothing is asked for while nobody listens. */
export function createInstanceHints(options: InstanceHintsOptions): InstanceHints | undefined {
  return options.instances.changes ? new Hints(options) : undefined;
}

class Hints implements InstanceHints {
  readonly #options: InstanceHintsOptions;
  readonly #most: number;
  readonly #listeners = new Set<(hinted: HintedMachines) => void>();
  /** By provider ID and name. In the order in which they came. */
  readonly #waiting = new Map<string, InstanceHint>();
  #allWaits = false;
  #toldAt = -Infinity;
  #allToldAt = -Infinity;
  #timer: { readonly at: number; readonly handle: Timer } | undefined;
  #listening: AbortController | undefined;

  constructor(options: InstanceHintsOptions) {
    this.#options = options;
    this.#most = batchSizeOf(options.instances);
  }

  subscribe(listener: (hinted: HintedMachines) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#listening) void this.#listen((this.#listening = new AbortController()));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#listening?.abort(new DOMException('hints are no longer used', 'AbortError'));
      this.#listening = undefined;
    };
  }

  /** Never rejects. */
  async #listen({ signal: unheard }: AbortController): Promise<void> {
    const { clock, logger } = this.#options;
    const signal = AbortSignal.any([unheard, this.#options.signal]);
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const begunAt = clock.monotonic();
      let error: unknown;
      try {
        await this.#follow(signal);
      } catch (thrown) {
        error = thrown;
      }
      if (signal.aborted) return;
      if (clock.monotonic() - begunAt >= GOOD_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      const fields = { retryIn: `${pauseMs}ms`, ...(error !== undefined && { error }) };
      const text = 'The provider gives no hints of changed machines for now';
      // Nothing depends on them: a person is told where it lasts.
      if (pauseMs >= LONGEST_PAUSE_MS) logger.warn(text, fields);
      else logger.verbose(2, text, fields);
      await sleepOn(clock, pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { callContext, clock, instances } = this.#options;
    const call: CallContext = callContext({ signal, priority: 'background', reads: true });
    const iterator = instances.changes?.(call)[Symbol.asyncIterator]();
    if (!iterator) return;
    try {
      for (let taken = 1; ; taken++) {
        const { done = false, value } = await raceAbort(iterator.next(), signal);
        if (done) return;
        this.#take(value);
        if (taken % TAKEN_IN_A_TURN === 0) await new Promise<void>((resolve) => void setImmediate(resolve));
        if (taken % TAKEN_AT_ONCE === 0) await sleepOn(clock, TOLD_EVERY_MS, signal);
        signal.throwIfAborted();
      }
    } finally {
      // Not waited for: what does not end must not keep us.
      void Promise.resolve(iterator.return?.()).catch(() => undefined);
    }
  }

  #take(hint: InstanceHint | undefined): void {
    const { name, providerID } = (hint ?? {}) as { readonly name?: unknown; readonly providerID?: unknown };
    const known = { ...(isText(providerID) && { providerID }), ...(isText(name) && { name }) };
    if (known.providerID ?? known.name) this.#waiting.set(JSON.stringify([known.providerID, known.name]), known);
    else if (providerID === undefined && name === undefined) this.#allWaits = true;
    if (this.#waiting.size > MOST_WAITING) {
      this.#allWaits = true;
      this.#waiting.clear();
    }
    this.#tell();
  }

  /** What may be told now; of the rest, later. */
  #tell(): void {
    if (this.#listeners.size === 0) return;
    const { clock, logger, signal } = this.#options;
    const dueAt = Math.min(
      this.#waiting.size > 0 ? this.#toldAt + TOLD_EVERY_MS : Infinity,
      this.#allWaits ? Math.max(this.#toldAt + TOLD_EVERY_MS, this.#allToldAt + ALL_EVERY_MS) : Infinity,
    );
    if (dueAt === Infinity || signal.aborted) return;
    const now = clock.monotonic();
    if (this.#timer && this.#timer.at <= dueAt) return;
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    if (now < dueAt) {
      // It tells whoever listens then.
      const fire = (): void => {
        this.#timer = undefined;
        this.#tell();
      };
      this.#timer = { at: dueAt, handle: clock.setTimer(dueAt - now, fire, { unref: true }) };
      return;
    }
    const hinted = this.#next(now);
    for (const listener of this.#listeners) {
      try {
        listener(hinted);
      } catch (error) {
        logger.error('A listener of hints of changed machines failed', { error });
      }
    }
    this.#tell();
  }

  #next(now: number): HintedMachines {
    this.#toldAt = now;
    const [names, providerIDs] = [new Set<string>(), new Set<string>()];
    if (this.#allWaits && now >= this.#allToldAt + ALL_EVERY_MS) {
      this.#allWaits = false;
      this.#allToldAt = now;
      this.#waiting.clear();
      return { all: true, names, providerIDs };
    }
    for (const [key, { name, providerID }] of [...this.#waiting].slice(0, this.#most)) {
      this.#waiting.delete(key);
      if (providerID !== undefined) providerIDs.add(providerID);
      if (name !== undefined) names.add(name);
    }
    return { all: false, names, providerIDs };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MOST_CHARACTERS;
}
