/**
 * Whether somebody else gives nodes their pod CIDRs. Two allocators keep two books, and would give two nodes one range: as long
 * as there are signs of another one, nothing is written.
 *
 * A kubelet may give its own Node a range, under any name as the writer, but no other Node. So one node is a weak sign: nothing
 * is written then either, until a node has waited for so long in vain that nobody else can be at work. Nodes of two names are
 * proof, and an allocator that works gives it with the next node.
 */
import type { Clock, EventNote, Node, ObjectMeta } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';

/** Under which our writes are in managedFields. */
export const FIELD_MANAGER = 'outrigger-node-ipam';
/** A sign counts for so long. */
const SIGN_MS = 600_000;
/** An allocator that works gives a new node its range within seconds: one that waits for so long has no other. */
const SOLE_AFTER_MS = 10_000;
/** As above, while there is a sign of one node: long enough for another replica of that allocator to take over. */
const SOLE_AFTER_SIGN_MS = 120_000;

export class OtherAllocator {
  readonly #clock: Clock;
  readonly #soleAfterMs: number;
  /** Monotonic. */
  #until = Number.NEGATIVE_INFINITY;
  #isSole = false;
  /**
   * By the name of a node, which a kubelet cannot choose: until when its sign counts (monotonic). The two that count longest, as
   * more say nothing more.
   */
  readonly #signs = new Map<string, number>();
  /** By UID: since when a node without pod CIDRs is known (monotonic). */
  readonly #waiting = new Map<string, number>();

  constructor(clock: Clock, soleAfterMs: number = SOLE_AFTER_MS) {
    this.#clock = clock;
    this.#soleAfterMs = soleAfterMs;
  }

  /** Milliseconds for which nothing may be written, as somebody else has; 0 when there is no sign of anybody. */
  get refusesForMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic());
  }

  /** Somebody else gave this node its pod CIDRs, `agoMs` ago. */
  seen({ metadata: { name = '' } = {} }: Node, agoMs: number = 0): void {
    if (agoMs >= SIGN_MS) return;
    const until = this.#clock.monotonic() + SIGN_MS - agoMs;
    this.#isSole = false;
    this.#signs.set(name, Math.max(this.#signs.get(name) ?? until, until));
    if (this.#countSigns() < 2) return;
    this.#until = Math.max(this.#until, ...this.#signs.values());
    const [, , third] = [...this.#signs].toSorted(([, a], [, b]) => b - a);
    if (third) this.#signs.delete(third[0]);
    this.#waiting.clear();
  }

  #countSigns(): number {
    const now = this.#clock.monotonic();
    for (const [name, until] of this.#signs) if (until <= now) this.#signs.delete(name);
    return this.#signs.size;
  }

  /** Reads who wrote the pod CIDRs of this node, as the server has it. Returns whether it was somebody else not long ago. */
  inspect(node: Node): boolean {
    if (podCidrsOf(node).length === 0) return false;
    for (const { manager, time } of writersOfPodCidrs(node.metadata ?? {})) {
      const agoMs = this.#clock.now() - time;
      if (manager === FIELD_MANAGER) {
        // What we wrote last, nobody else has written since.
        if (agoMs < SIGN_MS && this.#countSigns() === 0) this.#isSole = true;
      } else if (agoMs < SIGN_MS) {
        this.seen(node, Math.max(0, agoMs));
        return true;
      }
    }
    return false;
  }

  /** Milliseconds until this node, which has no pod CIDRs, may get them from us; 0 when it may now. */
  waitMs(uid: string): number {
    const refuses = this.refusesForMs;
    if (refuses > 0) return refuses;
    if (this.#isSole) return 0;
    const now = this.#clock.monotonic();
    const since = this.#waiting.get(uid) ?? now;
    this.#waiting.set(uid, since);
    const afterMs = this.#countSigns() > 0 ? Math.max(this.#soleAfterMs, SOLE_AFTER_SIGN_MS) : this.#soleAfterMs;
    const rest = since + afterMs - now;
    // Another node may have waited for longer.
    if (rest > 0) return Math.min(rest, SOLE_AFTER_MS);
    this.#isSole = true;
    this.#waiting.clear();
    return 0;
  }
}

/** What a person is told who runs two. */
export function otherAllocatorNote({ metadata }: Node): EventNote {
  const message = `Another component allocated the pod CIDR of node ${metadata?.name ?? ''} less than 10 minutes ago. When it does so for two nodes, no pod CIDR is allocated here until that stops: disable one of the two allocators (kube-controller-manager: --controllers=*,-node-ipam-controller).`;
  return { type: 'Warning', reason: 'CIDRAllocatorConflict', message };
}

/** Whether the pod CIDRs of this node, as the server has it, were written by a program like this one: a former leader is nobody else. */
export function isWrittenByUs({ metadata = {} }: Node): boolean {
  return writersOfPodCidrs(metadata).some(({ manager }) => manager === FIELD_MANAGER);
}

/** Throws nothing: what is not understood names nobody. */
function writersOfPodCidrs({
  managedFields = [],
}: ObjectMeta): readonly { readonly manager: string; readonly time: number }[] {
  return managedFields.flatMap((entry) => {
    const {
      manager = '',
      time = '',
      fieldsV1,
    } = entry as {
      manager?: string;
      time?: string;
      fieldsV1?: { 'f:spec'?: Record<string, unknown> };
    };
    const spec = fieldsV1?.['f:spec'];
    const at = Date.parse(time);
    return spec && ('f:podCIDRs' in spec || 'f:podCIDR' in spec) && !Number.isNaN(at) ? [{ manager, time: at }] : [];
  });
}
