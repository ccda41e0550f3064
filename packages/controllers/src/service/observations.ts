/**
 * Asks the cloud what there is for Services: questions gather while one is in flight, the next takes them all. Holds no
 * worker. An answer is kept until it has been acted on, and is worth nothing once something was applied after it began.
 */
import {
  CloudError,
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

export class Observations {
  readonly #options: ObservationsOptions;
  readonly #gathering = new Set<string>();
  readonly #asking = new Set<string>();
  readonly #answers = new Map<string, TimedObservation>();
  #running = false;

  constructor(options: ObservationsOptions) {
    this.#options = options;
  }

  /** Asks, unless the answer is on its way. */
  ask(key: string): void {
    if (this.#asking.has(key)) return;
    this.#gathering.add(key);
    if (!this.#running) void this.#run();
  }

  answer(key: string): TimedObservation | undefined {
    return this.#answers.get(key);
  }

  /** The answer has been acted on, or is too old. */
  forget(key: string): void {
    this.#answers.delete(key);
  }

  async #run(): Promise<void> {
    const { provider, signal } = this.#options;
    this.#running = true;
    // All that are asked in this turn of the event loop go together: the first list of Services is one batch.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    while (this.#gathering.size > 0 && !signal.aborted) {
      const batch = new Map<string, LoadBalancerService>();
      for (const key of this.#gathering) {
        if (batch.size >= provider.batchSize) break;
        this.#gathering.delete(key);
        const service = this.#options.serviceOf(key);
        if (!service) continue;
        batch.set(key, service);
        this.#asking.add(key);
      }
      if (batch.size > 0) await this.#observe(batch);
    }
    this.#running = false;
  }

  async #observe(batch: ReadonlyMap<string, LoadBalancerService>): Promise<void> {
    const { clock, onAnswer, signal } = this.#options;
    const startedAt = clock.monotonic();
    const observations = await observeOnce([...batch.values()], this.#options);
    for (const key of batch.keys()) this.#asking.delete(key);
    if (signal.aborted) return;
    let i = 0;
    for (const [key, { uid }] of batch) {
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
