/**
 * Reads of single machines, one a node. They begin slowly: the first goes alone, each one that proves absence doubles how
 * many go together, and one that does not ends the run for a while. So hundreds of nodes that are gone are read in a few
 * round trips, and a cloud whose lists lie or that fails is not asked a hundred times for it. While reads fail, each is one
 * request: the run is what sends again, and not the call budget beneath it too. Those of a large share are paced besides: they
 * have minutes, and a cloud that is wrong about a thousand machines should not be asked about all of them. What is refused of one
 * machine alone ends no run: the others are read on, one at a time until absence is proved again, and that machine is paced from then
 * on, also when its node was Ready in between, and slows no others down. So a cloud that refuses all of them is asked about each once,
 * in turn, and then at the pace.
 */
import { asError, isCloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, InstanceLookups } from '@outrigger/cloud-runtime';
import { onAbort, type Clock, type Logger, type Timer } from '@outrigger/kube';

const MOST_TOGETHER = 64;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** A read that takes longer no longer keeps others from being sent: one slow machine holds up no other. */
const SLOW_MS = 1_000;

/** Of a large share, and of those that were refused: so many at once, and then one in this time, or so often that all are read in `PACED_ALL_MS`. */
const PACED_AT_ONCE = 10;
const PACED_MS = 2_000;
const PACED_ALL_MS = 300_000;
/** Since it was refused last; longer than from one read of a machine to the next. */
const REFUSED_MS = 900_000;

/** The cloud works, and has answered about the one machine. */
const OF_ONE_MACHINE: readonly CloudErrorCode[] = [
  'conflict',
  'forbidden',
  'invalid',
  'unsupported',
  'implemented-elsewhere',
  'configuration',
];

/** What to read, as it is when its turn comes. */
export interface ReadRequest {
  readonly node: NodeRef;
  /** Monotonic: an answer to an older request does not count. */
  readonly notBefore: number;
}

export interface DirectReadsOptions {
  readonly lookups: Pick<InstanceLookups, 'read'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends all reads. */
  readonly signal: AbortSignal;
  /** Asked when the turn of a key comes; `undefined`: it need not be read any more. */
  readonly requestOf: (key: string) => ReadRequest | undefined;
  /** There is no hurry to read it. */
  readonly isPaced: (key: string) => boolean;
  /** The answer, or none when it was not read after all. */
  readonly onAnswer: (key: string, answer: DatedAnswer | undefined) => void;
}

export class DirectReads {
  readonly #options: DirectReadsOptions;
  readonly #queued = new Set<string>();
  /** Queued behind the others: what cannot be read must not keep from being read what can. */
  readonly #queuedBehind = new Set<string>();
  readonly #paced = new Set<string>();
  /** Monotonic: when the paced reads that were sent are used up at their rate. */
  #pacedUntil = 0;
  /** From one to the next, while any is paced. */
  #pacedEveryMs = PACED_MS;
  #pacedTimer: Timer | undefined;
  /** Keys whose last read proved nothing. */
  readonly #doubtful = new Set<string>();
  /** Those whose last read was refused for that machine alone, and until when that counts; the next to end first. */
  readonly #refused = new Map<string, number>();
  /** By key: who is read. Another object under the same key: another node, or another question. */
  readonly #running = new Map<string, object>();
  /** Running, and not slow. */
  #together = 0;
  #most = 1;
  #pauseMs = FIRST_PAUSE_MS;
  /** The last read that ended has failed. */
  #failing = false;
  #pause: Timer | undefined;

  constructor(options: DirectReadsOptions) {
    this.#options = options;
    onAbort(options.signal, () => this.#stop());
  }

  /** Reads in turn, unless that has been asked for already. */
  ask(key: string): void {
    if (this.#options.signal.aborted || this.#running.has(key)) return;
    const queue =
      this.#options.isPaced(key) || this.#isRefused(key)
        ? this.#paced
        : this.#doubtful.has(key)
          ? this.#queuedBehind
          : this.#queued;
    // Whoever waits there already keeps its turn.
    if (queue !== this.#paced) this.#paced.delete(key);
    if (this.#paced.size === 0) this.#pacedEveryMs = PACED_MS;
    queue.add(key);
    this.#quicken(PACED_ALL_MS / this.#paced.size);
    this.#next();
  }

  /** By the longest that the queue has been: by what is left of it, the last ones of a thousand would wait for a quarter of an hour. */
  #quicken(everyMs: number): void {
    if (everyMs >= this.#pacedEveryMs) return;
    const now = this.#options.clock.monotonic();
    const owedMs = Math.max(0, this.#pacedUntil - now);
    this.#pacedUntil = now + (owedMs * everyMs) / this.#pacedEveryMs;
    this.#pacedEveryMs = everyMs;
  }

  /** Whether it waits for its turn among those that are paced. */
  isPaced(key: string): boolean {
    return this.#paced.has(key);
  }

  /** The answer is of no use any more. */
  forget(key: string): void {
    for (const keys of [this.#queued, this.#queuedBehind, this.#paced, this.#doubtful]) keys.delete(key);
    this.#running.delete(key);
  }

  #next(): void {
    for (;;) {
      if (this.#pause || this.#together >= this.#most || this.#options.signal.aborted) return;
      const key = this.#take();
      if (key === undefined) return;
      const request = this.#options.requestOf(key);
      if (request) void this.#read(key, request);
      else this.#options.onAnswer(key, undefined);
    }
  }

  #take(): string | undefined {
    for (const keys of [this.#queued, this.#queuedBehind]) {
      for (const key of keys) {
        keys.delete(key);
        return key;
      }
    }
    return this.#takePaced();
  }

  #takePaced(): string | undefined {
    const [key] = this.#paced;
    if (key === undefined || this.#pacedTimer) return undefined;
    const { clock } = this.#options;
    const now = clock.monotonic();
    const everyMs = this.#pacedEveryMs;
    // Whole milliseconds: a fraction of one may be lost beside the time that a clock shows.
    const waitMs = Math.ceil(this.#pacedUntil - now - (PACED_AT_ONCE - 1) * everyMs);
    if (waitMs > 0) {
      this.#pacedTimer = clock.setTimer(waitMs, () => {
        this.#pacedTimer = undefined;
        this.#next();
      });
      return undefined;
    }
    this.#paced.delete(key);
    this.#pacedUntil = Math.max(this.#pacedUntil, now) + everyMs;
    return key;
  }

  async #read(key: string, { node, notBefore }: ReadRequest): Promise<void> {
    const { lookups, clock, signal, logger, onAnswer } = this.#options;
    const mark = {};
    this.#running.set(key, mark);
    this.#together += 1;
    let counted = true;
    const leave = (): void => {
      if (counted) this.#together -= 1;
      counted = false;
    };
    const slow = clock.setTimer(SLOW_MS, () => {
      leave();
      this.#next();
    });
    const asOf = clock.monotonic();
    let answer: DatedAnswer;
    try {
      const once = this.#failing ? { maxAttempts: 1 } : {};
      answer = await lookups.read(node, { need: 'state', signal, notBefore, ...once });
    } catch (thrown) {
      const error = asError(thrown);
      if (!signal.aborted) logger.warn('Read of a machine ended without an answer', { node: node.name, error });
      answer = { asOf, result: { kind: 'failed', error } };
    }
    slow.cancel();
    leave();
    if (signal.aborted) return;
    this.#learn(key, answer);
    if (this.#running.get(key) === mark) {
      if (answer.result.kind === 'absent') this.#doubtful.delete(key);
      else this.#doubtful.add(key);
      this.#running.delete(key);
      onAnswer(key, answer);
    }
    this.#next();
  }

  #isRefused(key: string): boolean {
    return (this.#refused.get(key) ?? 0) > this.#options.clock.monotonic();
  }

  #learn(key: string, answer: DatedAnswer): void {
    const wasRefused = this.#isRefused(key);
    this.#refused.delete(key);
    if (isRefused(answer)) {
      const now = this.#options.clock.monotonic();
      for (const [other, until] of this.#refused) {
        if (until > now) break;
        this.#refused.delete(other);
      }
      this.#refused.set(key, now + REFUSED_MS);
      if (!wasRefused) this.#most = 1;
      return;
    }
    const { result } = answer;
    this.#failing = result.kind === 'failed';
    if (result.kind === 'absent') {
      this.#most = Math.min(MOST_TOGETHER, this.#most * 2);
      this.#pauseMs = FIRST_PAUSE_MS;
      return;
    }
    this.#most = 1;
    // A provider that cannot prove absence has not failed.
    if (result.kind === 'missing') return;
    // Those that were under way together are one bad experience.
    if (this.#pause) return;
    this.#pause = this.#options.clock.setTimer(this.#pauseMs, () => {
      this.#pause = undefined;
      this.#next();
    });
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  #stop(): void {
    this.#pause?.cancel();
    this.#pacedTimer?.cancel();
    this.#queued.clear();
    this.#queuedBehind.clear();
    this.#paced.clear();
    this.#running.clear();
  }
}

function isRefused({ result }: DatedAnswer): boolean {
  return result.kind === 'failed' && OF_ONE_MACHINE.some((code) => isCloudError(result.error, code));
}
