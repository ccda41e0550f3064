/**
 * Reads of machines for the requests of their kubelets: one read answers all requests of a node that were seen before it began, and
 * a node has so many reads at once and then one a minute, however many requests its kubelet makes.
 */
import { asError, type NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer, InstanceLookups } from '@outrigger/cloud-runtime';
import type { Clock, Logger } from '@outrigger/kube';

/** A kubelet makes one request at a time, and another when its addresses change. */
const READS_AT_ONCE = 5;
const READ_EVERY_MS = 60_000;
/** Of all nodes; the rest wait in turn. What they may cost the cloud the call budget says. */
const MOST_TOGETHER = 16;
/** What is known of a node is kept for so long after its last read. */
const KEPT_MS = 60_000;

export interface NodeReadsOptions {
  readonly lookups: Pick<InstanceLookups, 'read'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends all reads. */
  readonly signal: AbortSignal;
  /** A read of the node of this name has ended. */
  readonly onAnswer: (nodeName: string) => void;
}

interface NodeRead {
  node: NodeRef;
  /** Waits for its turn, or is under way. */
  isAsked: boolean;
  answer: DatedAnswer | undefined;
  /** Which of all reads it was. */
  number: number;
  /** Monotonic. */
  endedAt: number;
  /** Monotonic: when the reads that were made are used up at their rate. */
  usedUntil: number;
}

export class NodeReads {
  readonly #options: NodeReadsOptions;
  readonly #reads = new Map<string, NodeRead>();
  readonly #turns = new Set<NodeRead>();
  #together = 0;
  #begun = 0;

  constructor(options: NodeReadsOptions) {
    this.#options = options;
  }

  /** Reads that have begun so far. By numbers and not by time: two things of one millisecond have an order too. */
  get begun(): number {
    return this.#begun;
  }

  /** The answer of a read that began when so many others had, or later. */
  answer({ name, providerID, uid }: NodeRef, begun: number): DatedAnswer | undefined {
    const read = this.#reads.get(name);
    if (!read || read.node.uid !== uid || read.node.providerID !== providerID) return undefined;
    return read.number > begun ? read.answer : undefined;
  }

  /** Whether a read waits for its turn, or is under way. */
  isAsked({ name }: NodeRef): boolean {
    return this.#reads.get(name)?.isAsked === true;
  }

  /** Has the machine read. Returns in how many milliseconds it may be asked for, where it may not be now. */
  ask(node: NodeRef): number {
    const now = this.#options.clock.monotonic();
    const read = this.#readOf(node, now);
    if (read.isAsked) return 0;
    const waitMs = read.usedUntil - now - (READS_AT_ONCE - 1) * READ_EVERY_MS;
    if (waitMs > 0) return waitMs;
    // In the order of their last reads: `#readOf` removes those that were not made for long.
    this.#reads.delete(node.name);
    this.#reads.set(node.name, read);
    read.usedUntil = Math.max(read.usedUntil, now) + READ_EVERY_MS;
    read.node = node;
    read.answer = undefined;
    read.isAsked = true;
    this.#turns.add(read);
    this.#next();
    return 0;
  }

  #readOf(node: NodeRef, now: number): NodeRead {
    const known = this.#reads.get(node.name);
    if (known) return known;
    // By name, whatever becomes of the node: one that is made anew has no new reads.
    for (const [name, { endedAt, isAsked, usedUntil }] of this.#reads) {
      if (!isAsked && usedUntil <= now && now - endedAt > KEPT_MS) this.#reads.delete(name);
      else break;
    }
    const read: NodeRead = { node, isAsked: false, answer: undefined, number: 0, endedAt: now, usedUntil: now };
    this.#reads.set(node.name, read);
    return read;
  }

  #next(): void {
    for (const read of this.#turns) {
      if (this.#together >= MOST_TOGETHER || this.#options.signal.aborted) return;
      this.#turns.delete(read);
      void this.#read(read);
    }
  }

  async #read(read: NodeRead): Promise<void> {
    const { clock, logger, lookups, onAnswer, signal } = this.#options;
    const { node } = read;
    const startedAt = clock.monotonic();
    this.#begun += 1;
    const number = this.#begun;
    this.#together += 1;
    let answer: DatedAnswer;
    try {
      answer = await lookups.read(node, { need: 'metadata', priority: 'normal', notBefore: startedAt, signal });
    } catch (thrown) {
      const error = asError(thrown);
      if (!signal.aborted) logger.warn('Read of a machine ended without an answer', { node: node.name, error });
      answer = { asOf: startedAt, result: { kind: 'failed', error } };
    }
    this.#together -= 1;
    if (signal.aborted) return;
    Object.assign(read, { answer, endedAt: clock.monotonic(), isAsked: false, number });
    onAnswer(node.name);
    this.#next();
  }
}
