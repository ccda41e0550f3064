/**
 * Whether somebody else gives nodes their pod CIDRs. Two allocators keep two books, and would give two nodes one range: as long
 * as there are signs of another one, nothing is written.
 */
import type { Clock, EventNote, Node, ObjectMeta } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';

/** Under which our writes are in managedFields. */
export const FIELD_MANAGER = 'outrigger-node-ipam';
/** A sign counts for so long. */
const SIGN_MS = 600_000;
/** An allocator that works gives a new node its range within seconds: one that waits for so long has no other. */
const SOLE_AFTER_MS = 10_000;

export class OtherAllocator {
  readonly #clock: Clock;
  readonly #soleAfterMs: number;
  /** Monotonic. */
  #until = Number.NEGATIVE_INFINITY;
  #isSole = false;
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

  /** Somebody else gave a node its pod CIDRs, `agoMs` ago. */
  seen(agoMs: number = 0): void {
    if (agoMs >= SIGN_MS) return;
    this.#until = Math.max(this.#until, this.#clock.monotonic() + SIGN_MS - agoMs);
    this.#isSole = false;
    this.#waiting.clear();
  }

  /** Reads who wrote the pod CIDRs of this node, as the server has it. Returns whether it was somebody else not long ago. */
  inspect(node: Node): boolean {
    if (podCidrsOf(node).length === 0) return false;
    for (const { manager, time } of writersOfPodCidrs(node.metadata ?? {})) {
      const agoMs = this.#clock.now() - time;
      if (manager === FIELD_MANAGER) {
        // What we wrote last, nobody else has written since.
        if (agoMs < SIGN_MS && this.refusesForMs === 0) this.#isSole = true;
      } else if (agoMs < SIGN_MS) {
        this.seen(Math.max(0, agoMs));
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
    const rest = since + this.#soleAfterMs - now;
    if (rest > 0) return rest;
    this.#isSole = true;
    this.#waiting.clear();
    return 0;
  }
}

/** What a person is told who runs two. */
export function otherAllocatorNote({ metadata }: Node): EventNote {
  const message = `Another component allocated the pod CIDR of node ${metadata?.name ?? ''} less than 10 minutes ago. No pod CIDR is allocated here until that stops: disable one of the two allocators (kube-controller-manager: --controllers=*,-node-ipam-controller).`;
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
