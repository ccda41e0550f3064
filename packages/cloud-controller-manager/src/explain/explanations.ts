/** Asks the controllers that run now. Empty in a process that does not lead. */
import type { CallRecord, OpenedProvider } from '@outrigger/cloud-runtime';
import type { Explains, Fact, Finding, Journal } from '@outrigger/controllers';
import { TimeSlice, type Clock } from '@outrigger/kube';
import type { ExplainedKind, Explanation, ExplanationList, ListedFact, ListedStanding } from './explanation.ts';

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
  readonly #lists = new Map<ExplainedKind, { readonly at: number; readonly list: Promise<ExplanationList> }>();

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

  /** Whether a controller that explains objects of this kind runs. */
  knows(kind: ExplainedKind): boolean {
    return this.#running.values().some(({ kinds }) => kinds.includes(kind));
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

  /** At most one a second is made, however many ask; it takes its turns with all else that runs here. */
  list(kind: ExplainedKind): Promise<ExplanationList> {
    const now = this.#clock.monotonic();
    let made = this.#lists.get(kind);
    if (!made || now - made.at >= LIST_MS) {
      made = { at: now, list: this.#list(kind) };
      this.#lists.set(kind, made);
    }
    return made.list;
  }

  async #list(kind: ExplainedKind): Promise<ExplanationList> {
    const slice = new TimeSlice(this.#clock);
    const items: ListedStanding[] = [];
    for (const [controller, { kinds }] of this.#running) {
      if (!kinds.includes(kind)) continue;
      for (const { planned, ...one } of controller.list?.(kind) ?? []) {
        items.push({ ...one, planned: planned.map((fact) => this.#dated(fact)) });
        if (slice.spent) await slice.giveWay();
      }
    }
    return { kind, dryRun: this.#journal.dryRun, items };
  }

  #dated({ agoMs = 0, inMs, text }: Fact): ListedFact {
    const at = Math.round((this.#clock.now() + (inMs ?? -agoMs)) / SECOND_MS);
    return { text: this.#redact(text), ...((inMs !== undefined || agoMs > 0) && { at }) };
  }

  #safe({ observed, planned, ...finding }: Finding): Finding {
    const safe = (fact: Fact): Fact => ({ ...fact, text: this.#redact(fact.text) });
    return { ...finding, observed: observed.map(safe), planned: planned.map(safe) };
  }
}

const SHOWN = 8;
const SECOND_MS = 1_000;
/** For so long a list is taken to be as it was. */
const LIST_MS = 1_000;

/** Each once, the newest last. */
function newest<T>(all: readonly T[], at: (one: T) => number): readonly T[] {
  return [...new Set(all)].toSorted((a, b) => at(a) - at(b)).slice(-SHOWN);
}
