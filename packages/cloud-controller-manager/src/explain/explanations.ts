/** Asks the controllers that run now. Empty in a process that does not lead. */
import type { CallRecord, OpenedProvider } from '@outrigger/cloud-runtime';
import type { Explains, Fact, Finding, Journal } from '@outrigger/controllers';
import type { Clock } from '@outrigger/kube';
import type { ExplainedKind, Explanation } from './explanation.ts';

/** A controller, as it runs. */
interface Running extends Explains {
  run(signal: AbortSignal): Promise<void>;
}

export interface FollowOptions {
  readonly kinds: readonly ExplainedKind[];
  /** Where its requests to the cloud are remembered. */
  readonly provider?: Pick<OpenedProvider, 'recentCalls'>;
}

export class Explanations {
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #redact: (text: string) => string;
  readonly #running = new Map<Running, FollowOptions>();

  /** `redact`: takes secrets out of a text; what a cloud says is shown. */
  constructor(clock: Clock, journal: Journal, redact: (text: string) => string) {
    this.#redact = redact;
    this.#clock = clock;
    this.#journal = journal;
  }

  /** The same controller, which is asked while it runs. */
  follow(controller: Running, options: FollowOptions): Running {
    return {
      explain: (key) => controller.explain(key),
      run: async (signal) => {
        this.#running.set(controller, options);
        try {
          await controller.run(signal);
        } finally {
          this.#running.delete(controller);
        }
      },
    };
  }

  /** Whether a controller runs: only then is there something to ask. */
  get areThere(): boolean {
    return this.#running.size > 0;
  }

  /** `undefined`: no controller that runs has anything to do with it. */
  explain(kind: ExplainedKind, name: string): Explanation | undefined {
    const asked = [...this.#running].filter(([, { kinds }]) => kinds.includes(kind));
    const found = asked.flatMap(([controller, { provider }]) => {
      const finding = controller.explain(name);
      return finding ? [{ finding, provider }] : [];
    });
    if (found.length === 0) return undefined;
    const about = new Set(found.flatMap(({ finding }) => finding.about));
    const providers = new Set(found.map(({ provider }) => provider));
    const calls = [...providers].flatMap((provider) =>
      [...about].flatMap((key): readonly CallRecord[] => provider?.recentCalls(key) ?? []),
    );
    return {
      kind,
      name,
      at: this.#clock.now(),
      dryRun: this.#journal.dryRun,
      findings: found.map(({ finding }) => this.#safe(finding)),
      applied: newest(
        [...about].flatMap((key) => this.#journal.applied(key)),
        ({ at }) => at,
      ),
      calls: newest(calls, ({ startedAt }) => startedAt),
    };
  }

  #safe({ observed, planned, ...finding }: Finding): Finding {
    const safe = (fact: Fact): Fact => ({ ...fact, text: this.#redact(fact.text) });
    return { ...finding, observed: observed.map(safe), planned: planned.map(safe) };
  }
}

const SHOWN = 8;

/** Each once, the newest last. */
function newest<T>(all: readonly T[], at: (one: T) => number): readonly T[] {
  return [...new Set(all)].toSorted((a, b) => at(a) - at(b)).slice(-SHOWN);
}
