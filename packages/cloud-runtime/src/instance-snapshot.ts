/** The last answer about each node, shared by all controllers: one look-up serves whoever asks next. */
import type { InstanceNeed, NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer } from './answer-defaults.ts';
import type { Logger } from '@outrigger/kube';

/** Called after an answer has been stored. Must not throw, and must not await: it wakes keys. */
export type AnswerListener = (node: NodeRef, need: InstanceNeed, answer: DatedAnswer) => void;

export interface InstanceSnapshot {
  /**
   * The latest answer about the node with this UID that serves `need` (one with `metadata` serves `state` too), from a
   * look-up or a direct read, `failed` ones included. `undefined` when nothing was asked yet. Judge its age by `asOf`.
   */
  get(uid: string, need: InstanceNeed): DatedAnswer | undefined;
  /** Hears of every answer. Returns the way to stop. */
  subscribe(listener: AnswerListener): () => void;
  /** Drops what is known about a node that is gone. Its look-ups in flight still answer, and are not stored. */
  forget(uid: string): void;
  /** Nodes with an answer. */
  readonly size: number;
}

interface Answers {
  state?: DatedAnswer;
  metadata?: DatedAnswer;
}

/** The snapshot as its writer sees it. */
export class InstanceAnswers implements InstanceSnapshot {
  readonly #answers = new Map<string, Answers>();
  readonly #listeners = new Set<AnswerListener>();
  readonly #logger: Logger;
  readonly #onForget: (uid: string) => void;

  constructor(logger: Logger, onForget: (uid: string) => void) {
    this.#logger = logger;
    this.#onForget = onForget;
  }

  get size(): number {
    return this.#answers.size;
  }

  get(uid: string, need: InstanceNeed): DatedAnswer | undefined {
    return this.#answers.get(uid)?.[need];
  }

  subscribe(listener: AnswerListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  forget(uid: string): void {
    this.#answers.delete(uid);
    this.#onForget(uid);
  }

  /** Stores an answer, unless what is known rests on a later request; tells the listeners either way. */
  store(node: NodeRef, need: InstanceNeed, answer: DatedAnswer): void {
    let known = this.#answers.get(node.uid);
    if (!known) this.#answers.set(node.uid, (known = {}));
    if (isNewer(answer, known.state)) known.state = answer;
    if (need === 'metadata' && isNewer(answer, known.metadata)) known.metadata = answer;
    for (const listener of this.#listeners) {
      try {
        listener(node, need, answer);
      } catch (error) {
        this.#logger.error('A listener of the instance snapshot failed', { node: node.name, error });
      }
    }
  }
}

function isNewer(answer: DatedAnswer, known: DatedAnswer | undefined): boolean {
  return known === undefined || answer.asOf >= known.asOf;
}
