/**
 * Asks the cloud about nodes, one question a node at a time, and holds each answer until it has been acted on. Nodes that
 * the cloud cannot help yet are asked about again in rounds: those that wait equally long share a round, and so its batches.
 */
import { asError, type CallPriority, type InstanceNeed, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, InstanceLookups } from '@outrigger/cloud-runtime';
import { onAbort, type Clock, type Logger, type Timer } from '@outrigger/kube';

/** After the first answer that did not help. Doubles with each. */
const FIRST_WAIT_MS = 1_000;
const DEFAULT_LONGEST_WAIT_MS = 300_000;
/** An answer that could not be acted on for so long after the first try (the API server is away) is asked for again. */
const LONGEST_KEPT_MS = 60_000;
/**
 * Where nobody has tried yet: with thousands of new nodes and a slow API server it waits for a worker. What is known of a node that is
 * initialised is as old between two refreshes.
 */
const LONGEST_QUEUED_MS = 300_000;

export interface LookUpRoundsOptions {
  readonly lookups: Pick<InstanceLookups, 'lookUp'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends all questions. */
  readonly signal: AbortSignal;
  readonly need: InstanceNeed;
  /** Between two rounds for a node that goes on waiting, in milliseconds. Default: 300,000. */
  readonly longestWaitMs?: number;
  /** `clock.monotonic()`: older answers about the node with this key do not count. Default: all do. */
  readonly notBefore?: (key: string) => number | undefined;
  /** The node with this key as it is now, if it is still to be asked about. */
  readonly nodeOf: (key: string) => NodeRef | undefined;
  /** An answer has come. */
  readonly onAnswer: (key: string) => void;
}

interface Question {
  readonly uid: string;
  asking: boolean;
  answer: DatedAnswer | undefined;
  /** When the answer came; monotonic. Not `asOf`: a provider that caches would never have an answer that is new enough. */
  answeredAt: number;
  /** When it was first acted on; monotonic. */
  triedAt: number | undefined;
  /** Answers in a row that did not help. */
  waits: number;
  /** How often the wait has doubled: with each of these, but for those that were asked for early. */
  doublings: number;
  /** What is asked was due later. */
  isEarly: boolean;
  /** Set while it waits for a round, which has it under this time. */
  due: number | undefined;
  /** `asOf` of the last answer that was used. */
  usedAsOf: number | undefined;
}

interface Round {
  readonly keys: Set<string>;
  readonly timer: Timer;
}

export class LookUpRounds {
  readonly #options: LookUpRoundsOptions;
  readonly #questions = new Map<string, Question>();
  readonly #rounds = new Map<number, Round>();

  constructor(options: LookUpRoundsOptions) {
    this.#options = options;
    onAbort(options.signal, () => this.#stop());
  }

  /** Asks, unless the answer is there already, on its way, or due in a later round. */
  ask(key: string, node: NodeRef, priority: CallPriority): void {
    const question = this.#questionOf(key, node.uid);
    if (this.#options.signal.aborted || question.asking || question.due !== undefined) return;
    if (this.#held(question)) return;
    question.asking = true;
    void this.#lookUp(key, node, question, priority);
  }

  /** Asks without waiting for the round that it is due in: something may have changed. If that does not help, the wait is no longer than before. */
  askNow(key: string, node: NodeRef, priority: CallPriority): void {
    const question = this.#questions.get(key);
    if (question?.uid === node.uid && question.due !== undefined) {
      this.#leave(key, question.due);
      question.due = undefined;
      question.isEarly = true;
    }
    this.ask(key, node, priority);
  }

  /** The answer that has not been used yet, to be acted on. */
  answer(key: string, uid: string): DatedAnswer | undefined {
    const question = this.#questions.get(key);
    const held = question?.uid === uid ? this.#held(question) : undefined;
    if (held && question) question.triedAt ??= this.#options.clock.monotonic();
    return held;
  }

  /**
   * The answer, which is not held any longer, unless it came more than a minute ago: a deletion may rest on it. What is asked later waits as
   * long as if it had not helped.
   */
  take(key: string, uid: string): DatedAnswer | undefined {
    const answer = this.answer(key, uid);
    const question = this.#questions.get(key);
    if (!answer || !question) return undefined;
    question.answer = undefined;
    return this.#options.clock.monotonic() - question.answeredAt > LONGEST_KEPT_MS ? undefined : answer;
  }

  /** The answer has been acted on. */
  used(key: string): void {
    const question = this.#questions.get(key);
    if (!question) return;
    question.usedAsOf = question.answer?.asOf ?? question.usedAsOf;
    question.answer = undefined;
    question.waits = 0;
    question.doublings = 0;
  }

  /**
   * The answer did not help: ask again in a later round, not before `atLeastMs`. `isCalm`: nothing is wrong so far, and all of a quarter of the
   * longest wait share a round; the waits after it are the longest. Returns how many have not helped in a row.
   */
  askLater(key: string, uid: string, atLeastMs = 0, isCalm = false): number {
    const question = this.#questionOf(key, uid);
    question.answer = undefined;
    question.waits += 1;
    if (isCalm) question.doublings = Infinity;
    else if (!question.isEarly || question.doublings === 0) question.doublings += 1;
    question.isEarly = false;
    if (question.due !== undefined || this.#options.signal.aborted) return question.waits;
    const now = this.#options.clock.monotonic();
    const wait = Math.min(
      this.#options.longestWaitMs ?? DEFAULT_LONGEST_WAIT_MS,
      FIRST_WAIT_MS * 2 ** (question.doublings - 1),
    );
    const soonest = now + Math.max(atLeastMs, wait / 2);
    const apart = isCalm ? wait / 4 : wait;
    this.#join(key, question, Math.ceil(soonest / apart) * apart);
    return question.waits;
  }

  /** Milliseconds since the request on which the last used answer rests; `Infinity` when there was none. */
  ageOfUsed(key: string): number {
    const usedAsOf = this.#questions.get(key)?.usedAsOf;
    return usedAsOf === undefined ? Infinity : this.#options.clock.monotonic() - usedAsOf;
  }

  /** In how many milliseconds the cloud will be asked about it, 0 while it is; `undefined` when nobody waits for that. */
  askedInMs(key: string): number | undefined {
    const { asking = false, due } = this.#questions.get(key) ?? {};
    if (asking) return 0;
    return due === undefined ? undefined : Math.max(0, due - this.#options.clock.monotonic());
  }

  /** The node is gone. */
  forget(key: string): void {
    const due = this.#questions.get(key)?.due;
    if (due !== undefined) this.#leave(key, due);
    this.#questions.delete(key);
  }

  #held(question: Question): DatedAnswer | undefined {
    const now = this.#options.clock.monotonic();
    const { answeredAt, triedAt = Infinity } = question;
    if (now - triedAt > LONGEST_KEPT_MS || now - answeredAt > LONGEST_QUEUED_MS) question.answer = undefined;
    return question.answer;
  }

  #questionOf(key: string, uid: string): Question {
    const known = this.#questions.get(key);
    if (known?.uid === uid) return known;
    // Another node of the same name: nothing that was said about the first holds for it.
    this.forget(key);
    const question: Question = {
      uid,
      asking: false,
      answer: undefined,
      answeredAt: 0,
      triedAt: undefined,
      waits: 0,
      doublings: 0,
      isEarly: false,
      due: undefined,
      usedAsOf: undefined,
    };
    this.#questions.set(key, question);
    return question;
  }

  async #lookUp(key: string, node: NodeRef, question: Question, priority: CallPriority): Promise<void> {
    const { lookups, need, signal, clock, logger, onAnswer } = this.#options;
    const asOf = clock.monotonic();
    const notBefore = this.#options.notBefore?.(key);
    let answer: DatedAnswer;
    try {
      answer = await lookups.lookUp(node, {
        need,
        signal,
        priority,
        ...(notBefore === undefined ? {} : { notBefore }),
      });
    } catch (thrown) {
      const error = asError(thrown);
      if (!signal.aborted) logger.warn('Look-up of a node ended without an answer', { node: node.name, error });
      answer = { asOf, result: { kind: 'failed', error } };
    }
    question.asking = false;
    if (signal.aborted || this.#questions.get(key) !== question) return;
    question.answer = answer;
    question.answeredAt = clock.monotonic();
    question.triedAt = undefined;
    onAnswer(key);
  }

  #join(key: string, question: Question, due: number): void {
    question.due = due;
    const round = this.#rounds.get(due);
    if (round) {
      round.keys.add(key);
      return;
    }
    const timer = this.#options.clock.setTimer(due - this.#options.clock.monotonic(), () => this.#begin(due));
    this.#rounds.set(due, { keys: new Set([key]), timer });
  }

  #leave(key: string, due: number): void {
    const round = this.#rounds.get(due);
    if (!round?.keys.delete(key) || round.keys.size > 0) return;
    round.timer.cancel();
    this.#rounds.delete(due);
  }

  /** All in one turn, so that the look-ups take them all into one batch. */
  #begin(due: number): void {
    const round = this.#rounds.get(due);
    this.#rounds.delete(due);
    for (const key of round?.keys ?? []) {
      const question = this.#questions.get(key);
      if (!question) continue;
      question.due = undefined;
      const node = this.#options.nodeOf(key);
      if (node) this.ask(key, node, 'normal');
    }
  }

  #stop(): void {
    for (const { timer } of this.#rounds.values()) timer.cancel();
    this.#rounds.clear();
  }
}
