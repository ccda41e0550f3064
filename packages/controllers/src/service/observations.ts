/**
 * Asks the cloud what there is for Services: questions gather while one is in flight, the next takes them all. Holds no
 * worker. An answer is kept until it has been acted on, and is worth nothing once something was applied after it began.
 *
 * One Service may be what a whole question hangs on. Those of a question without an answer are asked about in half as large ones, down
 * to each alone, beside all others until they have an answer.
 */
import {
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancerObservation,
  type LoadBalancers,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { callInTime } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

/** A question that takes longer is given up: the others have to be asked too. */
const DEADLINE_MS = 30_000;

export interface ObserveOptions {
  readonly provider: Pick<LoadBalancers, 'observe'>;
  /** `about`: UIDs of the Services. */
  readonly callContext: (signal: AbortSignal, about: readonly string[]) => CallContext;
  readonly clock: Clock;
  /** Ends all questions. */
  readonly signal: AbortSignal;
}

export interface ObservationsOptions extends ObserveOptions {
  readonly provider: Pick<LoadBalancers, 'observe' | 'batchSize'>;
  /** What is to be asked about under this key now; `undefined` when nothing is any more. */
  readonly serviceOf: (key: string) => LoadBalancerService | undefined;
  readonly onAnswer: (key: string) => void;
}

/** An answer, with the time before the question was asked; monotonic. */
export interface TimedObservation {
  readonly uid: string;
  readonly startedAt: number;
  readonly observation: LoadBalancerObservation;
}

/** Questions that are asked one after the other. */
interface Lane {
  readonly gathering: Set<string>;
  running: boolean;
}

export class Observations {
  readonly #options: ObservationsOptions;
  readonly #usual: Lane = { gathering: new Set(), running: false };
  readonly #suspect: Lane = { gathering: new Set(), running: false };
  /** Of each Service that had part in a question without an answer: with how many, itself included, it is asked about next. */
  readonly #limits = new Map<string, number>();
  readonly #asking = new Set<string>();
  readonly #answers = new Map<string, TimedObservation>();

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** Asks, unless the answer is on its way. */
  ask(key: string): void {
    if (this.#asking.has(key)) return;
    const lane = this.#limits.has(key) ? this.#suspect : this.#usual;
    lane.gathering.add(key);
    if (!lane.running) void this.#run(lane);
  }

  answer(key: string): TimedObservation | undefined {
    return this.#answers.get(key);
  }

  /** The answer has been acted on, or is too old. */
  forget(key: string): void {
    this.#answers.delete(key);
  }

  async #run(lane: Lane): Promise<void> {
    const { provider, signal } = this.#options;
    lane.running = true;
    // All that are asked in this turn of the event loop go together: the first list of Services is one batch.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    while (lane.gathering.size > 0 && !signal.aborted) {
      const batch = new Map<string, LoadBalancerService>();
      let most = provider.batchSize;
      for (const key of lane.gathering) {
        most = Math.min(most, this.#limits.get(key) ?? most);
        if (batch.size >= most) break;
        lane.gathering.delete(key);
        const service = this.#options.serviceOf(key);
        if (!service) {
          this.#limits.delete(key);
          continue;
        }
        batch.set(key, service);
        this.#asking.add(key);
      }
      if (batch.size > 0) await this.#observe(batch);
    }
    lane.running = false;
  }

  async #observe(batch: ReadonlyMap<string, LoadBalancerService>): Promise<void> {
    const { clock, onAnswer, signal } = this.#options;
    const startedAt = clock.monotonic();
    const observations = await observeOnce([...batch.values()], this.#options);
    for (const key of batch.keys()) this.#asking.delete(key);
    if (signal.aborted) return;
    const isUnanswered = observations.every((one) => one.kind === 'failed' && isCloudError(one.error, 'timeout'));
    let i = 0;
    for (const [key, { uid }] of batch) {
      if (isUnanswered) this.#limits.set(key, Math.max(1, Math.ceil(batch.size / 2)));
      else this.#limits.delete(key);
      const observation = observations[i++];
      if (!observation) continue;
      // A provider that reads from a cache says so by an older time.
      const asOf = observation.kind === 'parts' ? Math.min(startedAt, observation.asOf) : startedAt;
      this.#answers.set(key, { uid, startedAt: asOf, observation });
      onAnswer(key);
    }
  }
}

/** Asks once, with a deadline; gives an answer for each Service, whatever happens. */
export async function observeOnce(
  services: readonly LoadBalancerService[],
  { callContext, clock, provider, signal }: ObserveOptions,
): Promise<readonly LoadBalancerObservation[]> {
  const what = `observing ${services.length} load balancers`;
  const late = `the cloud did not say within ${DEADLINE_MS} ms what load balancers there are`;
  const uids = services.map(({ uid }) => uid);
  const all = (error: Error): readonly LoadBalancerObservation[] => services.map(() => ({ kind: 'failed', error }));
  try {
    const observations = await callInTime({ clock, timeoutMs: DEADLINE_MS, what, signal, late }, (either) =>
      provider.observe(services, callContext(either, uids)),
    );
    if (observations.length === services.length) return observations;
    const counts = `${observations.length} answers to ${services.length} questions`;
    return all(new CloudError('invalid', `the provider gave ${counts} about load balancers`));
  } catch (thrown) {
    return all(thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`));
  }
}
