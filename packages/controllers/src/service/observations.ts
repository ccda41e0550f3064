/**
 * Asks the cloud what there is for Services: questions gather while one is in flight, the next takes them all, or as many as the provider
 * does: namespaces take turns. A question with many Services of one namespace is not waited for by those that have nothing in it, and who asks on
 * and on has questions of its own. Holds no worker. Whoever asked keeps the answer, which is worth nothing once something was applied after it began.
 *
 * One Service may be what a whole question hangs on, or what holds the event loop. Those of such a question are asked about in half as large ones, down
 * to each alone, beside all others until they have an answer; one that is alone is its reconcile's.
 */
import {
  isCloudError,
  type CallPriority,
  type LoadBalancerObservation,
  type LoadBalancers,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { batchSizeOf } from '@outrigger/cloud-runtime';
import { heldAs, sameHolder, type AsHolder, type EventLoopWatchOptions } from '@outrigger/kube';
import { observeOnce, type ObserveOptions } from '../load-balancer/observe-once.ts';
import { AskedOfLate } from './asked-of-late.ts';
import { forgetOldest, QuestionLane } from './question-lane.ts';
import { turnsOf, type Asked } from './question-turns.ts';

/**
 * A Service of more ports is asked about by itself: a provider may have to send a request for each, and all who are in one question wait
 * for all of it.
 */
const MANY_PORTS = 50;
/** Questions of those that are asked about together, at a time. */
const MOST_TOGETHER = 2;
/** Who has asked about so many of late asks on and on, and is asked about apart. */
const MANY_OF_LATE = 10;
/** It rests as long as its last question took, and no longer than this. */
const LONGEST_REST_MS = 1_000;
/** A look that takes no longer holds nobody up. */
const QUICK_MS = 1_000;

type Watch = Pick<EventLoopWatchOptions, 'logger' | 'metrics' | 'processorTime'>;

/** With what tells of holds of the event loop that are no single Service's. */
export interface ObservationsOptions extends ObserveOptions, Watch {
  readonly provider: Pick<LoadBalancers, 'observe' | 'batchSize'>;
  /** What is to be asked about under this key now; `undefined` when nothing is any more. */
  readonly serviceOf: (key: string) => LoadBalancerService | undefined;
  readonly onAnswer: (key: string, answer: TimedObservation) => void;
  /** Whose key it is: groups take turns. Default: its namespace. */
  readonly groupOf?: (key: string) => string;
  /** Whose questions are asked one after the other, of whatever group. Default: the group. */
  readonly tenantOf?: (key: string) => string;
  /**
   * Whether it is asked about for the sake of its nodes alone: all of a tenant are, when a node joins, and whoever asks for more does not wait for
   * them. Default: none is.
   */
  readonly isFollower?: (key: string) => boolean;
}

/** An answer, with the time before the question was asked; monotonic. */
export interface TimedObservation {
  readonly uid: string;
  readonly startedAt: number;
  readonly observation: LoadBalancerObservation;
}

interface Question extends Asked {
  readonly batch: ReadonlyMap<string, LoadBalancerService>;
  /** Of one Service. */
  readonly asker: AsHolder | undefined;
}

type Lane = QuestionLane<Question>;

export class Observations {
  readonly #options: ObservationsOptions;
  readonly #usual: Lane = new QuestionLane(MOST_TOGETHER);
  readonly #following: Lane = new QuestionLane(MOST_TOGETHER);
  readonly #suspect: Lane = new QuestionLane(MOST_TOGETHER);
  readonly #large: Lane = new QuestionLane(1);
  /** Of each Service that had part in a question without an answer: with how many, itself included, it is asked about next. */
  readonly #limits = new Map<string, number>();
  /** UIDs of Services that have many ports, or had, and are not known to be looked at quickly since. */
  readonly #largeUids = new Set<string>();
  readonly #asking = new Set<string>();
  /** As what has made it, the controller: what is done with answers is not laid to whoever began the question. */
  readonly #asMade: AsHolder = sameHolder();
  readonly #ofLate: AskedOfLate;
  /** Questions apart that have just been answered: their tenants rest. */
  readonly #resting = new Set<Question>();

  readonly #groupOf: (key: string) => string;
  readonly #tenantOf: (key: string) => string;

  constructor(options: ObservationsOptions) {
    this.#options = options;
    this.#ofLate = new AskedOfLate(options.clock);
    this.#groupOf = options.groupOf ?? namespaceOf;
    this.#tenantOf = options.tenantOf ?? this.#groupOf;
  }

  /** Asks, unless the answer is on its way. */
  ask(key: string): void {
    if (this.#asking.has(key)) return;
    const lane = this.#laneOf(key);
    // What it asks for now goes for what it has asked for before.
    if (lane !== this.#following) this.#following.gathering.delete(key);
    lane.gathering.set(key, sameHolder());
    if (!lane.isBeginning) this.#asMade(() => void this.#begin(lane));
  }

  #laneOf(key: string): Lane {
    if (this.#isLarge(key)) return this.#large;
    if (this.#limits.has(key)) return this.#suspect;
    const { isFollower = () => false } = this.#options;
    return isFollower(key) && !this.#usual.gathering.has(key) ? this.#following : this.#usual;
  }

  /** What it has in the cloud may be as much as it has ever asked for. */
  #isLarge(key: string): boolean {
    const service = this.#options.serviceOf(key);
    if (!service) return false;
    const known = this.#largeUids.has(service.uid);
    if (known || service.ports.length <= MANY_PORTS) return known;
    this.#largeUids.add(service.uid);
    forgetOldest(this.#largeUids);
    return true;
  }

  async #begin(lane: Lane): Promise<void> {
    lane.isBeginning = true;
    // All that are asked in this turn of the event loop go together: the first list of Services is one batch.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    lane.isBeginning = false;
    this.#askNext(lane);
  }

  #askNext(lane: Lane): void {
    while (!this.#options.signal.aborted) {
      const question = this.#next(lane);
      if (!question) return;
      lane.inFlight.add(question);
      const startedAt = this.#options.clock.monotonic();
      void this.#observe(question, startedAt, this.#priorityOf(lane, question.batch)).finally(() => {
        lane.inFlight.delete(question);
        if (question.isApart) this.#rest(lane, question, this.#options.clock.monotonic() - startedAt);
        this.#askNext(lane);
      });
    }
  }

  /** What comes meanwhile goes with the next. */
  #rest(lane: Lane, question: Question, tookMs: number): void {
    const { clock, signal } = this.#options;
    if (tookMs === 0) return;
    this.#resting.add(question);
    const wake = (): void => {
      this.#resting.delete(question);
      this.#askNext(lane);
    };
    clock.sleep(Math.min(tookMs, LONGEST_REST_MS), signal).then(wake, () => {});
  }

  #next(lane: Lane): Question | undefined {
    const isUsual = lane === this.#usual;
    const turns = turnsOf({
      waiting: Map.groupBy(lane.gathering.keys(), this.#tenantOf),
      inFlight: [...lane.inFlight],
      batchSize: batchSizeOf(this.#options.provider),
      mostTogether: lane.most,
      // What had no answer may have none again, and takes as long as a question may.
      waitsForFew: lane !== this.#suspect,
      isBusy: (tenant) => isUsual && this.#ofLate.of(tenant) >= MANY_OF_LATE,
      isResting: (tenant) => this.#resting.values().some(({ tenants }) => tenants.has(tenant)),
    });
    for (const { keys, isApart } of turns) {
      const question = this.#take(lane, keys, isApart);
      if (question) return question;
    }
    return undefined;
  }

  #take(lane: Lane, keys: readonly string[], isApart: boolean): Question | undefined {
    const { provider, serviceOf } = this.#options;
    const batch = new Map<string, LoadBalancerService>();
    let asker: AsHolder | undefined;
    let most = lane === this.#large ? 1 : batchSizeOf(provider);
    for (const key of lane.inTurns(keys, this.#groupOf)) {
      most = Math.min(most, this.#limits.get(key) ?? most);
      if (batch.size >= most) break;
      const asks = lane.gathering.get(key);
      lane.gathering.delete(key);
      const service = serviceOf(key);
      if (!service) {
        this.#limits.delete(key);
        continue;
      }
      asker = batch.size === 0 ? asks : undefined;
      batch.set(key, service);
      this.#asking.add(key);
    }
    if (batch.size === 0) return undefined;
    lane.noteTurn(batch.keys().map(this.#groupOf));
    const tenants = Map.groupBy(batch.keys(), this.#tenantOf);
    if (lane === this.#usual) for (const [tenant, { length }] of tenants) this.#ofLate.note(tenant, length);
    return { batch, asker, tenants, isApart };
  }

  /** In the background, while others take all that a cloud lets through, a long question may never end in its time. */
  #priorityOf(lane: Lane, batch: ReadonlyMap<string, LoadBalancerService>): CallPriority {
    return lane === this.#large && !batch.keys().some((key) => this.#limits.has(key)) ? 'background' : 'normal';
  }

  async #observe({ asker, batch }: Question, startedAt: number, priority: CallPriority): Promise<void> {
    const { onAnswer, signal } = this.#options;
    let isHeld = false;
    const look = (): ReturnType<typeof observeOnce> => observeOnce([...batch.values()], this.#options, priority);
    const onHeld = (): void => void (isHeld = true);
    // Of several nobody knows whose it is, and whoever began the question is not to blame.
    const watch = { ...this.#options, about: { services: batch.size }, onHeld };
    const observations = await (asker ? asker(look, undefined, onHeld) : heldAs('service-lb-controller', watch, look));
    for (const key of batch.keys()) this.#asking.delete(key);
    if (signal.aborted) return;
    const isUnanswered = observations.every((one) => one.kind === 'failed' && isCloudError(one.error, 'timeout'));
    let i = 0;
    const isQuick = this.#options.clock.monotonic() - startedAt < QUICK_MS;
    for (const [key, { ports, uid }] of batch) {
      this.#limits.delete(key);
      if (isUnanswered || isHeld) this.#limits.set(key, Math.max(1, Math.ceil(batch.size / 2)));
      const observation = observations[i++];
      if (!observation) continue;
      if (isQuick && observation.kind === 'parts' && ports.length <= MANY_PORTS) this.#largeUids.delete(uid);
      onAnswer(key, timedAnswer(uid, startedAt, observation));
    }
    // Who is gone by now is not asked about again, nor anything else that would take it out.
    forgetOldest(this.#limits);
  }
}

/** A provider that reads from a cache says so by an older time. */
export function timedAnswer(uid: string, startedAt: number, observation: LoadBalancerObservation): TimedObservation {
  const asOf = observation.kind === 'parts' ? Math.min(startedAt, observation.asOf ?? startedAt) : startedAt;
  return { uid, startedAt: asOf, observation };
}

/** Of a Service's key; without one, nothing. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}
