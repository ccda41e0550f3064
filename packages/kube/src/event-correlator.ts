/**
 * Which notes become one Event, and which are held back: client-go's rules
 * (https://github.com/kubernetes/client-go/blob/v0.36.3/tools/record/events_cache.go) with three changes. A Warning is never dropped,
 * only counted up and written later; a Normal note that repeats is written later, too; and a flood of one reason over many objects is
 * folded into one Event.
 */
import { hash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { EventNote } from './event-note.ts';
import { RecentMap } from './internal/recent-map.ts';
import type { KubeObject } from './kube-object.ts';
import { tokenBucket, type RateLimiter } from './rate-limiter.ts';
import type { ObjectReference } from './types/index.ts';

/** Notes that are one Event: a name on the server, a count, a first and a last time. */
export interface EventSeries {
  /** A digest: series are remembered for long, and messages can be. */
  readonly key: string;
  readonly about: ObjectReference;
  readonly type: EventNote['type'];
  readonly reason: string;
  /** Of the last note. Whoever has written it may empty it: the next note brings its own. */
  message: string;
  count: number;
  /** Wall clock, milliseconds. */
  readonly firstAt: number;
  lastAt: number;
  /** Of the Event on the server, once it is there. */
  name: string | undefined;
  /** The name under which it is being created: kept over retries, for the answer to a create may be lost. */
  draft: string | undefined;
  /** Monotonic time since which writing it has failed. */
  failingSince: number | undefined;
  /** Of a flood: some of the objects. */
  readonly examples?: string[];
}

/** `write` after so many milliseconds, or what was done instead. `folded`: counted in this series. */
export type Verdict =
  | { readonly outcome: 'write' | 'folded'; readonly series: EventSeries; readonly afterMs: number }
  | { readonly outcome: 'dropped' };

/** Distinct messages of one reason about one object, from which on they are combined, and how long that is remembered. */
const SIMILAR_MAX = 10;
const SIMILAR_MS = 600_000;
const COMBINED = '(combined from similar events): ';
/** Writes about one object: so many at once, then one each 300 s. */
const SPAM = { burst: 25, qps: 1 / 300 };
/**
 * A Normal note that is on the server already is written again so long after it was repeated, with all that came meanwhile: a node that joins
 * has all Services say once more that they were updated, and the API server has other work then.
 */
const REPEAT_PAUSE_MS = 30_000;
/** How often at most a Warning that is over this budget is written again. */
const WARNING_PAUSE_MS = 60_000;
/** New Normal series of one reason over all objects: so many at once, then one a second. The rest is folded. */
const FLOOD = { burst: 100, qps: 1 };
/** So many each namespace has whatever the others have used up. */
const FLOOD_OF_ONE = { burst: 5, qps: 1 / 60 };
const FLOOD_PAUSE_MS = 10_000;
const FLOOD_EXAMPLES = 5;
/** More than client-go's 4,096: with 5,000 nodes that would forget each node before it comes round again. */
const REMEMBERED = 16_384;
/** The server forgets Events after an hour. */
const SERIES_MS = 3_600_000;
const MAX_MESSAGE_BYTES = 1_024;

interface Similar {
  /** Digests. */
  readonly messages: Set<string>;
  lastAt: number;
}

export class EventCorrelator {
  readonly #clock: Clock;
  readonly #floodAbout: ObjectReference;
  readonly #series = new RecentMap<string, EventSeries>(REMEMBERED);
  readonly #similar = new RecentMap<string, Similar>(REMEMBERED);
  readonly #spam = new RecentMap<string, RateLimiter<string>>(REMEMBERED);
  readonly #floods = new RecentMap<string, RateLimiter<string>>(REMEMBERED);

  /** `floodAbout`: the object that Events about many objects are about. */
  constructor(clock: Clock, floodAbout: KubeObject) {
    this.#clock = clock;
    this.#floodAbout = referenceTo(floodAbout);
  }

  /** `full`: there is no room for another series. */
  correlate(object: KubeObject, note: EventNote, full: boolean): Verdict {
    const about = referenceTo(object);
    const { type, reason } = note;
    const who = [about.apiVersion, about.kind, about.namespace, about.name, about.uid, type];
    const similarKey = digest([...who, reason]);
    const whole = digest([...who, reason, note.message]);
    const combined = this.#isCombined(similarKey, whole);
    const key = combined ? similarKey : whole;
    const message = truncate(combined ? COMBINED + note.message : note.message);
    const known = this.#known(key);
    if (!known && (full || (type === 'Normal' && this.#isFlood(about, reason)))) return this.#fold(about, note);
    const series = known ?? this.#begin(key, about, note, message);
    if (known) {
      known.count++;
      known.lastAt = this.#clock.now();
      known.message = message;
    }
    if (take(this.#spam, digest(who), SPAM, this.#clock)) {
      const isOld = type === 'Normal' && !combined && series.name !== undefined;
      return { outcome: 'write', series, afterMs: isOld ? REPEAT_PAUSE_MS : 0 };
    }
    if (type === 'Normal') return { outcome: 'dropped' };
    return { outcome: 'write', series, afterMs: known ? WARNING_PAUSE_MS : 0 };
  }

  /** Counts a series that could not be written on its own in the Event about many objects. */
  fold(series: EventSeries): EventSeries {
    this.#series.delete(series.key);
    return this.#fold(series.about, series, series.count).series;
  }

  #fold(about: ObjectReference, note: EventNote, count = 1): Extract<Verdict, { series: EventSeries }> {
    const key = digest(['flood', about.kind, note.type, note.reason]);
    const series = this.#known(key) ?? this.#begin(key, this.#floodAbout, note, '', { count: 0, examples: [] });
    const { name = '', namespace } = about;
    const examples = series.examples ?? [];
    if (!examples.includes(name) && examples.push(name) > FLOOD_EXAMPLES) examples.shift();
    series.count += count;
    series.lastAt = this.#clock.now();
    // It is read by others than who may read the Events of that namespace.
    const which = namespace ? '; with --v=2 the log names them' : `, lately ${examples.join(', ')}: ${note.message}`;
    series.message = truncate(`${series.count} more about objects of kind ${about.kind}${which}`);
    return { outcome: 'folded', series, afterMs: FLOOD_PAUSE_MS };
  }

  #known(key: string): EventSeries | undefined {
    const series = this.#series.get(key);
    return series && this.#clock.now() - series.lastAt <= SERIES_MS ? series : undefined;
  }

  #begin(
    key: string,
    about: ObjectReference,
    note: EventNote,
    message: string,
    flood?: { readonly count: number; readonly examples: string[] },
  ): EventSeries {
    const now = this.#clock.now();
    const { type, reason } = note;
    const fresh = { count: 1, firstAt: now, lastAt: now, name: undefined, draft: undefined, failingSince: undefined };
    const series: EventSeries = { key, about, type, reason, message, ...fresh, ...flood };
    this.#series.set(key, series);
    return series;
  }

  #isFlood({ kind, namespace }: ObjectReference, reason: string): boolean {
    const flood = `${kind}/${reason}`;
    const isOver = !take(this.#floods, flood, FLOOD, this.#clock);
    return !take(this.#floods, `${flood}/${namespace}`, FLOOD_OF_ONE, this.#clock) && isOver;
  }

  #isCombined(key: string, message: string): boolean {
    const now = this.#clock.now();
    let similar = this.#similar.get(key);
    if (!similar || now - similar.lastAt > SIMILAR_MS) similar = { messages: new Set(), lastAt: now };
    similar.messages.add(message);
    similar.lastAt = now;
    this.#similar.set(key, similar);
    if (similar.messages.size < SIMILAR_MAX) return false;
    const [oldest] = similar.messages;
    if (oldest !== undefined) similar.messages.delete(oldest);
    return true;
  }
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64');
}

/** What an Event says about the object that it is about. */
function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
  return {
    ...(object.apiVersion !== undefined && { apiVersion: object.apiVersion }),
    ...(object.kind !== undefined && { kind: object.kind }),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** True while the bucket of that key has a token, which is then gone. Asking an empty one costs nothing. */
function take(
  buckets: RecentMap<string, RateLimiter<string>>,
  key: string,
  limits: { readonly burst: number; readonly qps: number },
  clock: Clock,
): boolean {
  const bucket = buckets.get(key) ?? tokenBucket<string>({ ...limits, clock, queueing: false });
  buckets.set(key, bucket);
  return bucket.delayMs(key) === 0;
}

/** The first 1,024 bytes of it, and no half character: the server refuses more. */
function truncate(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= MAX_MESSAGE_BYTES) return message;
  let end = MAX_MESSAGE_BYTES - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}...`;
}
