/** The persistent-volume-label-controller: says on each volume in which zones it can be used. Entry point: `createPvLabelController`. */
import type { VolumeRef, VolumeResult } from '@outrigger/cloud-provider';
import type { VolumeLookUps } from '@outrigger/cloud-runtime';
import {
  createWorkQueue,
  exponentialBackoff,
  isNotFound,
  resources,
  runController,
  type PersistentVolume,
  type ReconcileContext,
  type ReconcileResult,
  type Store,
  type ResourceEvent,
  type WorkQueue,
} from '@outrigger/kube';
import type { ControllerDependencies } from '../controller-dependencies.ts';
import type { Explains, Finding } from '../finding.ts';
import { endsBeforeAbort } from '../ends-before-abort.ts';
import { noJournal, subjectOf, type ControllerJournal } from '../journal.ts';
import { queuedState } from '../planned-action.ts';
import { ToldEvents } from '../told-events.ts';
import { WrittenVersions } from '../written-versions.ts';
import { planVolume, type VolumeAdditions } from './plan.ts';
import { additionPatch } from './volume-patch.ts';
import {
  additionsText,
  differencesText,
  factOfVolumePlan,
  factsOfVolume,
  failureText,
  invalidText,
} from './volume-words.ts';
import { tellSetAside } from '../set-aside.ts';

const NAME = 'persistent-volume-label-controller';
/** After a write that failed. */
const WRITE_BACKOFF = { baseMs: 1_000, maxMs: 300_000 };
/** After a look-up that failed; doubled with each. Nothing of it is left to chance: those that failed together share the next one. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** A cloud may show a new volume late. After these it is somebody else's, until the program starts anew. */
const UNKNOWN_WAITS_MS = [30_000, 300_000];
/** A failure that passes by itself is not worth an Event. */
const TOLD_FROM_FAILURE = 3;
const DEFAULT_WRITERS = 4;

export interface PvLabelControllerDependencies extends ControllerDependencies {
  readonly store: Store<PersistentVolume>;
  readonly lookUps: VolumeLookUps;
  readonly options?: {
    /** Volumes that are written at a time. Default: 4. */
    readonly concurrentWrites?: number;
  };
}

export interface PvLabelController extends Explains {
  /** Runs until `signal` aborts, and resolves when the last write has ended. Once only. */
  run(signal: AbortSignal): Promise<void>;
}

/** Makes the controller; nothing is read or written before `run`. */
export function createPvLabelController(dependencies: PvLabelControllerDependencies): PvLabelController {
  let current: Run | undefined;
  return {
    run: (signal) => (current = new Run(dependencies, signal)).run(),
    explain: (key) => current?.explain(key),
  };
}

/** What the cloud was asked about one volume. */
interface Question {
  readonly uid: string;
  state: 'new' | 'asking' | 'answered';
  /** To be acted on. */
  answer: VolumeResult | undefined;
  /** What the cloud said last, acted on or not; `at`: monotonic. */
  last: { readonly result: VolumeResult; readonly at: number } | undefined;
  /** Not to be asked again before; monotonic. */
  notBefore: number;
  /** Answers `unknown` so far. */
  unknowns: number;
  /** Look-ups that failed in a row. */
  failures: number;
}

class Run {
  readonly #deps: PvLabelControllerDependencies;
  readonly #signal: AbortSignal;
  readonly #queue: WorkQueue<string>;
  readonly #questions = new Map<string, Question>();
  readonly #written: WrittenVersions;
  readonly #told: ToldEvents;
  readonly #journal: ControllerJournal;

  constructor(deps: PvLabelControllerDependencies, signal: AbortSignal) {
    const { clock, events, metrics, random } = deps;
    this.#deps = deps;
    this.#signal = signal;
    this.#told = new ToldEvents(events, clock);
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#queue.add(key) });
    this.#journal = deps.journal ?? noJournal;
    const rateLimiter = exponentialBackoff<string>({ ...WRITE_BACKOFF, random });
    this.#queue = createWorkQueue({ name: NAME, clock, metrics, rateLimiter });
  }

  async run(): Promise<void> {
    const { clock, logger, metrics, options, store } = this.#deps;
    if (!(await endsBeforeAbort(store.whenSynced(this.#signal), this.#signal))) return;
    const unsubscribe = store.subscribe((change) => this.#changed(change));
    try {
      await runController({
        name: NAME,
        queue: this.#queue,
        reconciler: { reconcile: (key, context) => this.#reconcile(key, context) },
        workers: options?.concurrentWrites ?? DEFAULT_WRITERS,
        clock,
        logger,
        metrics,
        signal: this.#signal,
        onSetAside: tellSetAside(store, this.#deps.events),
      });
    } finally {
      unsubscribe();
      this.#queue.shutDown();
    }
  }

  /** From memory alone: with what the cloud said last. */
  explain(key: string): Finding | undefined {
    const { clock, store } = this.#deps;
    const volume = store.get(key);
    if (!volume) return undefined;
    const question = this.#knownQuestion(key, volume);
    return {
      controller: NAME,
      about: [volume.metadata?.uid ?? ''],
      observed: factsOfVolume(volume, question?.last, clock.monotonic()),
      planned: [
        factOfVolumePlan(
          planVolume(volume, question?.answer),
          queuedState(this.#queue, key, question?.state === 'asking'),
        ),
      ],
    };
  }

  #knownQuestion(key: string, { metadata }: PersistentVolume): Question | undefined {
    const known = this.#questions.get(key);
    return known?.uid === (metadata?.uid ?? '') ? known : undefined;
  }

  /** Volumes change each time they are bound, resized or released: only what a label is missing of wakes anything. */
  #changed(change: ResourceEvent<PersistentVolume>): void {
    const { key } = change;
    if (change.type !== 'add' && (change.type === 'delete' || isAnother(change.object, change.previous))) {
      this.#forget(key, change.previous);
    }
    if (change.type === 'delete') return;
    if (this.#questions.has(key)) {
      this.#queue.add(key);
      return;
    }
    const plan = planVolume(change.object, undefined);
    // At once, not through the queue: all of the first list travel together.
    if (plan.kind === 'look-up') this.#ask(key, this.#questionOf(key, change.object), plan.volume);
  }

  #forget(key: string, volume: PersistentVolume): void {
    this.#questions.delete(key);
    this.#written.forget(key);
    this.#queue.forget(key);
    this.#told.forget(volume.metadata?.uid ?? '');
    this.#journal.plan(subjectOf('PersistentVolume', volume), []);
  }

  async #reconcile(key: string, { logger, signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const volume = this.#deps.store.get(key);
    if (!volume || this.#written.isBehind(key, volume)) return undefined;
    const question = this.#questionOf(key, volume);
    const plan = planVolume(volume, question.answer);
    if (plan.kind !== 'add') this.#journal.plan(subjectOf('PersistentVolume', volume), []);
    switch (plan.kind) {
      case 'nothing':
        if (plan.reason === 'not-ours') return this.#askAgain(question, UNKNOWN_WAITS_MS[question.unknowns - 1]);
        // What is nowhere stays known as that; of what is complete there is nothing more to know.
        if (plan.reason !== 'nowhere') this.#questions.delete(key);
        return undefined;
      case 'look-up':
        return this.#ask(key, question, plan.volume);
      case 'failed':
        logger.warn('Look-up of a volume failed', { error: plan.error });
        if (question.failures >= TOLD_FROM_FAILURE) {
          this.#tell(volume, 'VolumeLookUpFailed', failureText(plan.error));
        }
        return this.#askAgain(question, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (question.failures - 1)));
      case 'differs':
        this.#tell(volume, 'LabelsDiffer', differencesText(plan.differences));
        return undefined;
      case 'invalid':
        this.#tell(volume, 'InvalidLabels', invalidText(plan.labels));
        return undefined;
      case 'add':
        return this.#add(key, volume, plan.additions, { logger, signal });
    }
  }

  #questionOf(key: string, volume: PersistentVolume): Question {
    const known = this.#knownQuestion(key, volume);
    if (known) return known;
    const { uid = '' } = volume.metadata ?? {};
    const question: Question = {
      uid,
      state: 'new',
      answer: undefined,
      last: undefined,
      notBefore: 0,
      unknowns: 0,
      failures: 0,
    };
    this.#questions.set(key, question);
    return question;
  }

  /** Holds no worker: the answer puts the key back. */
  #ask(key: string, question: Question, volume: VolumeRef): ReconcileResult | undefined {
    if (question.state !== 'new') return undefined;
    const waitMs = question.notBefore - this.#deps.clock.monotonic();
    // A change of the volume is no reason to ask sooner.
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    question.state = 'asking';
    void this.#deps.lookUps.lookUp(volume).then((answer) => {
      question.state = 'answered';
      question.answer = answer;
      question.last = { result: answer, at: this.#deps.clock.monotonic() };
      question.failures = answer.kind === 'failed' ? question.failures + 1 : 0;
      if (answer.kind === 'unknown') question.unknowns += 1;
      if (!this.#signal.aborted && this.#questions.get(key) === question) this.#queue.add(key);
    });
    return undefined;
  }

  /** The pass that reads an answer which is none says when to come back; the pass that comes back asks. */
  #askAgain(question: Question, waitMs: number | undefined): ReconcileResult | undefined {
    if (waitMs === undefined) return undefined;
    question.state = 'new';
    question.answer = undefined;
    question.notBefore = this.#deps.clock.monotonic() + waitMs;
    return { requeueAfterMs: waitMs };
  }

  async #add(
    key: string,
    volume: PersistentVolume,
    additions: VolumeAdditions,
    { logger, signal }: Pick<ReconcileContext, 'logger' | 'signal'>,
  ): Promise<void> {
    const summary = additionsText(additions);
    const subject = subjectOf('PersistentVolume', volume);
    const ref = { name: volume.metadata?.name ?? '' };
    const patch = additionPatch(volume, additions);
    try {
      const written = await this.#journal.perform(
        subject,
        [{ kind: 'patch-volume', summary, write: { object: volume, patch } }],
        () => this.#deps.client.of(resources.persistentVolumes).patch(ref, patch, { answer: 'metadata', signal }),
      );
      if (!written) return;
      this.#written.note(key, written.metadata ?? {});
      logger.info('Labelled the volume', { volume: key, did: summary });
    } catch (error) {
      // Changed since it was read: the watch brings it, and the next pass plans anew.
      if (!isNotFound(error)) throw error;
    }
  }

  #tell(volume: PersistentVolume, reason: string, message: string): void {
    this.#told.tell(volume, { type: 'Warning', reason, message });
  }
}

function isAnother(one: PersistentVolume, other: PersistentVolume): boolean {
  return one.metadata?.uid !== other.metadata?.uid;
}
