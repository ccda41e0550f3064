/**
 * What the controllers do to each object, and in a dry run would do: the one place between a plan and its writes. Explanations
 * and the page of a dry run are made from it.
 */
import { asError } from '@outrigger/cloud-provider';
import {
  noMetrics,
  type Clock,
  type Counter,
  type Gauge,
  type KubeObject,
  type Logger,
  type Metrics,
  type Patch,
} from '@outrigger/kube';
import { changesOfPatch, type FieldChange } from './field-changes.ts';

/** One action of a plan, in words. No secrets. */
export interface NotedAction {
  /** `patch-object`, `create route`: the same for all of its sort. */
  readonly kind: string;
  /** A clause without a subject: `set the provider ID to memory://a/i-1`. */
  readonly summary: string;
  /** Dry run: the fields that would be others after it. Default: not known. */
  readonly changes?: readonly FieldChange[];
  /** What it writes: a dry run makes `changes` of it, and nothing keeps it. */
  readonly write?: { readonly object: KubeObject; readonly patch: Patch | undefined };
}

/** Ends the name of an object that is deleted, and has left something in the cloud: another one may have its name. */
export const DELETED = ' (deleted)';

/** What an action is about. */
export interface Subject {
  readonly kind: 'Node' | 'Service' | 'Route' | 'PersistentVolume' | 'LoadBalancerPart' | 'CertificateSigningRequest';
  /** `name` or `namespace/name`, of one that is deleted with `DELETED`; of what is in the cloud alone, its name there. */
  readonly name: string;
  /** Of a Kubernetes object, its UID. */
  readonly uid: string;
}

/** What would be done for one object now. */
export interface PlannedActions {
  readonly controller: string;
  readonly subject: Subject;
  /** Milliseconds since the Unix epoch: since when the plan is this one. */
  readonly since: number;
  readonly actions: readonly NotedAction[];
}

/** What was done for one object, or tried. */
export interface AppliedAction extends NotedAction {
  readonly controller: string;
  readonly subject: Subject;
  /** Milliseconds since the Unix epoch: when its answer came. */
  readonly at: number;
  /** `pending`: the cloud has begun and goes on by itself. */
  readonly result: 'done' | 'pending' | 'failed';
  /** Why it failed, or the name of the cloud's own task. */
  readonly detail?: string;
}

/** What a controller tells the journal. */
export interface ControllerJournal {
  /** Nothing may be written: a controller goes on as if it had been, or waits. */
  readonly dryRun: boolean;
  /** Takes secrets out of a text that others will read. */
  redact(this: void, text: string): string;
  /** Dry run: this is what would be done for the object now, in place of what was said before; empty: nothing. Else: nothing happens. */
  plan(subject: Subject, actions: readonly NotedAction[]): void;
  /** What came of actions that were carried out. */
  note(subject: Subject, actions: readonly NotedAction[], outcome?: Outcome): void;
  /**
   * Carries the actions out and notes what came of them; in a dry run it plans them and gives `undefined`. `failureOf`: why
   * nothing was done, where that is an answer and no error.
   */
  perform<T>(
    subject: Subject,
    actions: readonly NotedAction[],
    carryOut: () => Promise<T>,
    failureOf?: (answer: T) => string | undefined,
  ): Promise<T | undefined>;
}

export type Outcome = { readonly error: Error } | { readonly pending: string };

/** Remembers nothing, and lets everything be done. */
export const noJournal: ControllerJournal = {
  dryRun: false,
  redact: (text) => text,
  plan: () => {},
  note: () => {},
  perform: (_subject, _actions, carryOut) => carryOut(),
};

export interface JournalOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly dryRun: boolean;
  /** Takes secrets out of a text that will be shown. */
  readonly redact: (text: string) => string;
}

const REMEMBERED_FOR_ONE = 8;
/** Objects: those that nothing was done about for the longest time are dropped. */
const OBJECTS = 20_000;

export class Journal {
  readonly dryRun: boolean;
  readonly #options: JournalOptions;
  /** By controller, kind and name. */
  readonly #plans = new Map<string, PlannedActions>();
  readonly #byObject = new Map<string, readonly AppliedAction[]>();
  readonly #appliedTotal: Counter;
  readonly #planned: Gauge;
  /** Actions, by controller. */
  readonly #plannedOf = new Map<string, number>();

  constructor(options: JournalOptions) {
    const { metrics = noMetrics } = options;
    this.dryRun = options.dryRun;
    this.#options = options;
    this.#appliedTotal = metrics.counter({
      name: 'outrigger_actions_total',
      help: 'Actions of the plans of each controller, by result: done, pending or failed.',
      labels: ['controller', 'action', 'result'],
    });
    this.#planned = metrics.gauge({
      name: 'outrigger_actions_planned',
      help: 'In a dry run: actions that each controller would perform now.',
      labels: ['controller'],
    });
  }

  /** `controller`: its name, as in `--controllers`. */
  of(controller: string): ControllerJournal {
    const note = (subject: Subject, actions: readonly NotedAction[], outcome?: Outcome): void => {
      for (const action of actions)
        this.#note({ controller, subject, ...this.#safe(action), ...this.#ending(outcome) });
    };
    const plan = (subject: Subject, actions: readonly NotedAction[]): void => {
      if (this.dryRun) this.#plan(controller, subject, actions);
    };
    return {
      dryRun: this.dryRun,
      redact: (text) => this.#options.redact(text),
      plan,
      note,
      perform: async (subject, actions, carryOut, failureOf) => {
        plan(subject, actions);
        if (this.dryRun) return undefined;
        try {
          const answer = await carryOut();
          const failure = failureOf?.(answer);
          note(subject, actions, failure === undefined ? undefined : { error: new Error(failure) });
          return answer;
        } catch (thrown) {
          note(subject, actions, { error: asError(thrown) });
          throw thrown;
        }
      },
    };
  }

  /** Dry run: what would be done now, for each object for which there is something. */
  plans(): readonly PlannedActions[] {
    return [...this.#plans.values()];
  }

  /** What was done for the object with this UID, or for `Route <name>`: the last 8 actions, the newest last. */
  applied(about: string): readonly AppliedAction[] {
    return this.#byObject.get(about) ?? [];
  }

  #plan(controller: string, subject: Subject, noted: readonly NotedAction[]): void {
    const actions = noted.map((action) => this.#safe(action));
    const { clock, logger } = this.#options;
    const key = `${controller} ${subject.kind} ${subject.name}`;
    const known = this.#plans.get(key);
    this.#countPlanned(controller, actions.length - (known?.actions.length ?? 0));
    if (actions.length === 0) {
      this.#plans.delete(key);
      return;
    }
    if (known?.subject.uid === subject.uid && JSON.stringify(known.actions) === JSON.stringify(actions)) return;
    this.#plans.set(key, { controller, subject, since: clock.now(), actions });
    const { kind, name } = subject;
    for (const { summary } of actions)
      logger.info('Dry run: action planned and not performed', { controller, kind, name, action: summary });
  }

  #countPlanned(controller: string, more: number): void {
    const count = (this.#plannedOf.get(controller) ?? 0) + more;
    this.#plannedOf.set(controller, count);
    this.#planned.set(count, { controller });
  }

  #note(applied: AppliedAction): void {
    const { controller, kind: action, result } = applied;
    this.#appliedTotal.inc({ controller, action, result });
    const { kind, name, uid } = applied.subject;
    for (const key of [uid, kind === 'Route' ? `Route ${name}` : '']) {
      if (key === '') continue;
      const others = this.#byObject.get(key) ?? [];
      this.#byObject.delete(key);
      this.#byObject.set(key, [...others.slice(1 - REMEMBERED_FOR_ONE), applied]);
    }
    const [oldest] = this.#byObject.keys();
    if (this.#byObject.size > OBJECTS && oldest !== undefined) this.#byObject.delete(oldest);
  }

  #ending(outcome: Outcome | undefined): Pick<AppliedAction, 'at' | 'result' | 'detail'> {
    const at = this.#options.clock.now();
    if (!outcome) return { at, result: 'done' };
    if ('pending' in outcome) return { at, result: 'pending', detail: outcome.pending };
    return { at, result: 'failed', detail: this.#options.redact(outcome.error.message) };
  }

  /** What an action says comes from a cloud or from an object of a user. */
  #safe({ changes, kind, summary, write }: NotedAction): NotedAction {
    const { redact } = this.#options;
    const fields = this.dryRun && write?.patch ? changesOfPatch(write.object, write.patch) : changes;
    const safe = (text: string | undefined): string | undefined => text && redact(text);
    const told = fields?.map(({ field, from, to }) => ({ field, from: safe(from), to: safe(to) }));
    return { kind, summary: redact(summary), ...(told && { changes: told }) };
  }
}

/** The subject that an object of the API server is. */
export function subjectOf(kind: Subject['kind'], { metadata = {} }: KubeObject): Subject {
  const { name = '', namespace, uid = '' } = metadata;
  return { kind, name: namespace === undefined ? name : `${namespace}/${name}`, uid };
}
