/**
 * Reads of single machines, one a node. They begin slowly: the first goes alone, each one that proves absence doubles how
 * many go together, and one that does not ends the run for a while. So hundreds of nodes that are gone are read in a few
 * round trips, and a cloud whose lists lie or that fails is not asked a hundred times for it. While reads fail, each is one
 * request: the run is what sends again, and not the call budget beneath it too. Those of a large share are paced besides: they
 * have minutes, and a cloud that is wrong about a thousand machines should not be asked about all of them.
 *
 * Those that are read for the first time, those whose last read proved nothing, and those that are paced take turns: none of the three
 * waits for the end of another. But before a machine is read again, all that have waited longer are read for the first time: while reads
 * fail, each costs seconds, and one that is proved to be gone would go twice as late. What is one machine's own trouble ends no run, and
 * that machine is paced from then on: a refusal of it alone, or a second read that proves nothing while others prove absence. So a cloud
 * that refuses all of them is asked about each once, in turn, and then at the pace. What is known of a machine is kept when its node is
 * Ready in between.
 */
import { asError, isCloudError, type CloudErrorCode, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, InstanceLookups } from '@outrigger/cloud-runtime';
import { onAbort, type Clock, type Logger, type Timer } from '@outrigger/kube';

const MOST_TOGETHER = 64;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** A read that takes longer no longer keeps others from being sent: one slow machine holds up no other. */
const SLOW_MS = 1_000;

/** Of those that are paced: so many at once, and then one in this time, or so often that all are read in `PACED_ALL_MS`. */
const PACED_AT_ONCE = 10;
const PACED_MS = 2_000;
const PACED_ALL_MS = 300_000;
/** Of a read, since then; longer than from one read of a machine to the next. */
const REMEMBERED_MS = 900_000;
/** A node that was forgotten and is asked about again so soon after its machine was read can wait. */
const READ_LATELY_MS = 30_000;
/** Whoever has no turn for so long has waited for more than the pace. */
const LATE_MS = PACED_ALL_MS + 30_000;
/** Between two looks for those. */
const LATE_EVERY_MS = 10_000;

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
  /** It has waited for its turn for minutes, and still does. */
  readonly onLate: (key: string) => void;
}

/** What its reads have shown. */
interface Past {
  /** Monotonic: of the last change. */
  readonly at: number;
  /** Monotonic: it is paced until then. */
  readonly pacedUntil: number;
  /** The last read proved nothing. */
  readonly isDoubtful: boolean;
  /** How many reads, of any machine, had proved absence when that one ended. */
  readonly proved: number;
}

const NO_PAST: Past = { at: -Infinity, pacedUntil: -Infinity, isDoubtful: false, proved: 0 };

export class DirectReads {
  readonly #options: DirectReadsOptions;
  /** By key, since when (monotonic) it waits. */
  readonly #first = new Map<string, number>();
  /** Read before, in vain: what cannot be read must not keep from being read what can. */
  readonly #again = new Map<string, number>();
  readonly #paced = new Map<string, number>();
  /** Whose turn is next. */
  readonly #turns = [this.#first, this.#again, this.#paced];
  /** Monotonic: when the paced reads that were sent are used up at their rate. */
  #pacedUntil = 0;
  /** From one to the next, while any is paced. */
  #pacedEveryMs = PACED_MS;
  #pacedTimer: Timer | undefined;
  /** The one that changed longest ago first. */
  readonly #pasts = new Map<string, Past>();
  /** Reads that proved absence. */
  #proved = 0;
  /** By key: who is read. Another object under the same key: another node, or another question. */
  readonly #running = new Map<string, object>();
  /** Running, and not slow. */
  #together = 0;
  #most = 1;
  #pauseMs = FIRST_PAUSE_MS;
  /** The last read that ended has failed. */
  #failing = false;
  #pause: Timer | undefined;
  #toldLateAt = -Infinity;

  constructor(options: DirectReadsOptions) {
    this.#options = options;
    onAbort(options.signal, () => this.#stop());
  }

  /** Reads in turn, unless that has been asked for already. */
  ask(key: string): void {
    if (this.#options.signal.aborted || this.#running.has(key)) return;
    const now = this.#options.clock.monotonic();
    const { pacedUntil, isDoubtful } = this.#pastOf(key, now);
    const isPaced = pacedUntil > now || this.#options.isPaced(key);
    const waiting = isPaced ? this.#paced : isDoubtful ? this.#again : this.#first;
    // Whoever waits there already keeps its turn.
    for (const other of this.#turns) if (other !== waiting) other.delete(key);
    if (this.#paced.size === 0) this.#pacedEveryMs = PACED_MS;
    waiting.set(key, waiting.get(key) ?? now);
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
    for (const waiting of this.#turns) waiting.delete(key);
    this.#running.delete(key);
    this.#wasReadLately(key);
  }

  /** If it was. */
  #wasReadLately(key: string): void {
    const past = this.#pasts.get(key);
    if (!past) return;
    this.#pasts.set(key, { ...past, pacedUntil: Math.max(past.pacedUntil, past.at + READ_LATELY_MS) });
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
    for (const [i, waiting] of this.#turns.entries()) {
      const [[key, since] = []] = waiting;
      if (key === undefined || since === undefined) continue;
      if (waiting === this.#again && since > this.#firstSince()) continue;
      if (waiting === this.#paced && !this.#mayTakePaced()) continue;
      waiting.delete(key);
      this.#turns.push(...this.#turns.splice(i, 1));
      return key;
    }
    return undefined;
  }

  /** Since when the one of them that has waited longest waits. */
  #firstSince(): number {
    const [since = Infinity] = this.#first.values();
    return since;
  }

  #mayTakePaced(): boolean {
    if (this.#pacedTimer) return false;
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
      return false;
    }
    this.#pacedUntil = Math.max(this.#pacedUntil, now) + everyMs;
    return true;
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
    const { isDoubtful } = this.#remember(key, {});
    let answer: DatedAnswer;
    try {
      const once = this.#failing || isDoubtful ? { maxAttempts: 1 } : {};
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
      this.#running.delete(key);
      onAnswer(key, answer);
    } else {
      this.#wasReadLately(key);
    }
    this.#tellLate();
    this.#next();
  }

  #tellLate(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#toldLateAt < LATE_EVERY_MS) return;
    this.#toldLateAt = now;
    for (const waiting of this.#turns) {
      for (const [key, since] of waiting) if (now - since >= LATE_MS) this.#options.onLate(key);
    }
  }

  #pastOf(key: string, now: number): Past {
    const past = this.#pasts.get(key);
    return past && now - past.at < REMEMBERED_MS ? past : NO_PAST;
  }

  #remember(key: string, news: Partial<Past>): Past {
    const now = this.#options.clock.monotonic();
    const past = { ...this.#pastOf(key, now), at: now, ...news };
    this.#pasts.delete(key);
    for (const [other, { at }] of this.#pasts) {
      if (now - at < REMEMBERED_MS) break;
      this.#pasts.delete(other);
    }
    this.#pasts.set(key, past);
    return past;
  }

  #learn(key: string, answer: DatedAnswer): void {
    const { kind } = answer.result;
    if (kind === 'absent') {
      this.#proved += 1;
      this.#remember(key, { pacedUntil: -Infinity, isDoubtful: false });
      this.#failing = false;
      this.#most = Math.min(MOST_TOGETHER, this.#most * 2);
      this.#pauseMs = FIRST_PAUSE_MS;
      return;
    }
    const now = this.#options.clock.monotonic();
    const before = this.#pastOf(key, now);
    const othersAreProved = before.isDoubtful && before.proved < this.#proved;
    const isItsOwn = isRefused(answer) || (kind !== 'missing' && othersAreProved);
    const paced = isItsOwn ? { pacedUntil: now + REMEMBERED_MS } : {};
    this.#remember(key, { isDoubtful: true, proved: this.#proved, ...paced });
    if (isItsOwn && before.pacedUntil > now) return;
    this.#most = 1;
    if (isItsOwn) return;
    this.#failing = kind === 'failed';
    // A provider that cannot prove absence has not failed. Those that were under way together are one bad experience.
    if (kind === 'missing' || this.#pause) return;
    this.#pause = this.#options.clock.setTimer(this.#pauseMs, () => this.#endPause());
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  #endPause(): void {
    this.#pause = undefined;
    this.#next();
  }

  #stop(): void {
    this.#pause?.cancel();
    this.#pacedTimer?.cancel();
    for (const waiting of this.#turns) waiting.clear();
    this.#running.clear();
  }
}

function isRefused({ result }: DatedAnswer): boolean {
  return result.kind === 'failed' && OF_ONE_MACHINE.some((code) => isCloudError(result.error, code));
}
