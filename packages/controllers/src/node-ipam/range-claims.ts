/**
 * Which node has which ranges where the cloud chooses: what nodes have, what is on its way to them, and what the cloud has said of
 * it. `clashes` only reads: it is asked at any time, also while it is unknown whether a write has arrived.
 */
import { overlaps, type Cidr } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import type { Clock, Node, Store } from '@outrigger/kube';
import type { Clash, Clashes } from './cloud-ranges-plan.ts';
import { NodeRanges, type Holder } from './node-ranges.ts';
import { parseCidrs } from './parse-cidrs.ts';
import { RangeIndex } from './range-index.ts';
import { RangeVerdicts } from './range-verdicts.ts';

/**
 * For so long a node waits for what the cloud says of others, while it answers about the node itself. A kubelet chooses the range and the
 * machine of its node, and so can make look-ups fail for ever: it delays others by so long, and stops none. Of a machine that lists have
 * lacked for as long nothing more is to come: it delays none.
 */
const UNHEARD_MS = 120_000;

export interface RangeClaimsOptions {
  readonly store: Pick<Store<Node>, 'get'>;
  readonly clock: Clock;
  /** The cloud is asked about it. */
  readonly isOurs: (node: Node) => boolean;
}

export class RangeClaims {
  readonly #options: RangeClaimsOptions;
  readonly #index = new RangeIndex();
  readonly ranges: NodeRanges = new NodeRanges([this.#index]);
  readonly #verdicts = new RangeVerdicts();
  /** By UID: since when, without a break, the cloud has answered about the node, and not about others that may have its ranges; monotonic. */
  readonly #waiting = new Map<string, number>();

  constructor(options: RangeClaimsOptions) {
    this.#options = options;
  }

  /** Who else has a part of these ranges of the node's machine. */
  clashes(uid: string, cloud: readonly string[]): Clashes {
    const now = this.#options.clock.monotonic();
    const unheardMs = now - (this.#waiting.get(uid) ?? now);
    const clashes: Clash[] = [];
    const unheard: Clash[] = [];
    for (const cidr of parseCidrs(cloud)) {
      const others = this.#others(uid, cidr).map((one) => ({
        one,
        counts: this.#counts(one, cidr.bits, unheardMs < UNHEARD_MS),
      }));
      const taker = others.find(({ counts }) => counts);
      const unknown = others.filter(({ counts }) => counts === undefined);
      if (taker) clashes.push({ cidr: cidr.text, node: taker.one.name });
      else unheard.push(...unknown.map(({ one }) => ({ cidr: cidr.text, node: one.name })));
    }
    return { clashes, unheard, unheardMs };
  }

  /** The cloud has answered about this node of ours. */
  hear(uid: string, answer: DatedAnswer): void {
    const held = this.ranges.heldBy(uid);
    if (held) this.#verdicts.hear(uid, held, answer);
  }

  /** The node waits for what the cloud says of others, or no longer does. */
  wait(uid: string, waits: boolean): void {
    if (!waits) this.#waiting.delete(uid);
    else if (!this.#waiting.has(uid)) this.#waiting.set(uid, this.#options.clock.monotonic());
  }

  /** The node is gone for certain. */
  forget(uid: string): void {
    this.ranges.release(uid);
    this.#verdicts.forget(uid);
  }

  #others(uid: string, cidr: Cidr): readonly Holder[] {
    const own = parseCidrs(this.ranges.heldBy(uid) ?? []).filter((one) => overlaps(one, cidr));
    // All nodes are gone through where there are some to be found.
    return this.#index.holders(cidr) > own.length
      ? [...this.ranges.holdersIn(cidr)].filter((one) => one.uid !== uid)
      : [];
  }

  /** A wider range is in the way of others where the cloud says that it is its machine's: one kubelet could keep many nodes from theirs. */
  #counts({ name, uid, cidr }: Holder, bits: number, isPatient: boolean): boolean | undefined {
    if (cidr.bits >= bits) return true;
    const node = this.#options.store.get(name);
    const mayCome = isPatient && this.#verdicts.lackingMs(uid) < UNHEARD_MS;
    const waits = node?.metadata?.uid !== uid || (mayCome && this.#options.isOurs(node));
    return this.#verdicts.of(uid, this.ranges.heldBy(uid) ?? []) ?? (waits ? undefined : false);
  }
}
