/**
 * Which version of each object we wrote last: a store that has not seen it yet must not be acted on, or the same is written
 * twice. Only until the store has seen it, or a minute has passed: after etcd was restored from a backup, versions are lower
 * than those that we wrote, and what the server shows is what there is.
 */
import { onAbort, type Clock, type KubeObject, type ObjectMeta, type Timer } from '@outrigger/kube';

/** No watch that works is so late. What is written twice after it does no harm: all writes carry preconditions. */
const BELIEVED_AFTER_MS = 60_000;

interface Written {
  readonly uid: string | undefined;
  readonly version: bigint;
  /** Monotonic. */
  readonly at: number;
}

export interface WrittenVersionsOptions {
  readonly clock: Clock;
  /** Ends the timer. */
  readonly signal: AbortSignal;
  /** The store was behind when it was asked about this key, and is believed from now on: look at the object again. */
  readonly onBelieved: (key: string) => void;
}

export class WrittenVersions {
  readonly #options: WrittenVersionsOptions;
  readonly #written = new Map<string, Written>();
  /** Keys that somebody waits for. */
  readonly #awaited = new Set<string>();
  #timer: Timer | undefined;

  constructor(options: WrittenVersionsOptions) {
    this.#options = options;
    onAbort(options.signal, () => this.#timer?.cancel());
  }

  /** The server answered a write with this metadata. */
  note(key: string, { uid, resourceVersion }: ObjectMeta): void {
    const version = versionOf(resourceVersion);
    if (version === undefined) return;
    // The last is the newest: in the order of their times.
    this.#written.delete(key);
    this.#written.set(key, { uid, version, at: this.#options.clock.monotonic() });
  }

  /** Whether `object` is from before our last write. The watch will bring the newer one, or `onBelieved` be called. */
  isBehind(key: string, object: KubeObject): boolean {
    const written = this.#written.get(key);
    if (!written || written.uid !== object.metadata?.uid) return false;
    const version = versionOf(object.metadata?.resourceVersion);
    const isSeen = version === undefined || version >= written.version;
    if (isSeen || this.#options.clock.monotonic() - written.at >= BELIEVED_AFTER_MS) {
      this.forget(key);
      return false;
    }
    this.#awaited.add(key);
    this.#schedule();
    return true;
  }

  forget(key: string): void {
    this.#written.delete(key);
    this.#awaited.delete(key);
  }

  #schedule(): void {
    const { clock, signal } = this.#options;
    if (this.#timer || this.#awaited.size === 0 || signal.aborted) return;
    const [oldest] = this.#written.values();
    const delayMs = Math.max(0, (oldest?.at ?? 0) + BELIEVED_AFTER_MS - clock.monotonic());
    this.#timer = clock.setTimer(delayMs, () => {
      this.#timer = undefined;
      this.#expire();
      this.#schedule();
    });
  }

  #expire(): void {
    const before = this.#options.clock.monotonic() - BELIEVED_AFTER_MS;
    for (const [key, { at }] of this.#written) {
      if (at > before) return;
      const isAwaited = this.#awaited.has(key);
      this.forget(key);
      if (isAwaited) this.#options.onBelieved(key);
    }
  }
}

/** Versions of one kind can be compared as numbers (KEP-5504); what is no number is not compared. */
export function versionOf(resourceVersion: string | undefined): bigint | undefined {
  return resourceVersion !== undefined && /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
