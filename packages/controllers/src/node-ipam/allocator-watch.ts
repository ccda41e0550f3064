/** Watches for another allocator, for a controller that writes pod CIDRs which it has not chosen itself. */
import {
  isNotFound,
  type Clock,
  type Logger,
  type Node,
  type ResourceClient,
  type ResourceEvent,
} from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';
import type { ToldEvents } from '../told-events.ts';
import type { NodeRanges } from './node-ranges.ts';
import { isWrittenByUs, OtherAllocator, otherAllocatorNote } from './other-allocator.ts';

/** Nothing is written while it is not known who gave a node its pod CIDRs; it is read within this time. */
const SUSPECT_MS = 200;

export interface AllocatorWatchOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'get'>;
  readonly clock: Clock;
  readonly told: ToldEvents;
  readonly logger: Logger;
  /** For so long, in milliseconds, the first node that waits is watched: another allocator would give it its range. Default: 10,000. */
  readonly observeMs?: number | undefined;
  /**
   * Others allocate under the same lock: what they wrote before the start says nothing of now, and no node is watched. One that
   * writes all the same is noticed as ever. Default: false.
   */
  readonly exclusive?: boolean | undefined;
}

export class AllocatorWatch {
  readonly #options: AllocatorWatchOptions;
  readonly #other: OtherAllocator;
  /** Nodes that got pod CIDRs which are not in the books. */
  readonly #suspects = new Set<string>();

  constructor(options: AllocatorWatchOptions) {
    this.#options = options;
    this.#other = new OtherAllocator(options.clock, options.exclusive ? 0 : options.observeMs);
  }

  /** Milliseconds for which nothing may be written, as somebody else has; 0 when there is no sign of anybody. */
  get refusesForMs(): number {
    return this.#other.refusesForMs;
  }

  /** A node of the list at the start, as the server has it. */
  inspect(node: Node): void {
    if (!this.#options.exclusive && this.#other.inspect(node)) this.#tell(node);
  }

  /** All of the list at the start is in the books: whatever the former holder of the lock wrote is in it. */
  listed(): void {
    if (this.#options.exclusive) this.#suspects.clear();
  }

  /** Before the change is in the books. Returns whether the node is to be looked into: by `clear`. */
  changed(change: ResourceEvent<Node>, ranges: NodeRanges): boolean {
    if (change.type !== 'update') return false;
    const { key, object, previous } = change;
    const { uid = '' } = object.metadata ?? {};
    const cidrs = podCidrsOf(object);
    // A node that has registered again may bring some.
    const isNew = previous.metadata?.uid === uid && podCidrsOf(previous).length === 0 && cidrs.length > 0;
    const isSuspect = isNew && ranges.heldBy(uid)?.join() !== cidrs.join();
    if (isSuspect) this.#suspects.add(key);
    return isSuspect;
  }

  /** Finds out who gave this node its pod CIDRs, if that is not known. */
  async clear(name: string, signal: AbortSignal): Promise<void> {
    if (!this.#suspects.has(name)) return;
    let live: Node | undefined;
    try {
      live = await this.#options.nodes.get({ name }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#suspects.delete(name);
    if (live) this.judge(live);
  }

  /** A node, as the server has it, whose pod CIDRs are not those of the books. */
  judge(node: Node): void {
    if (podCidrsOf(node).length === 0 || isWrittenByUs(node)) return;
    this.#other.seen(node);
    this.#tell(node);
  }

  /** Milliseconds until this node, which has no pod CIDRs, may get them from us; 0 when it may now. */
  waitMs(uid: string): number {
    return this.#suspects.size > 0 ? SUSPECT_MS : this.#other.waitMs(uid);
  }

  #tell(node: Node): void {
    const note = otherAllocatorNote(node);
    if (this.#options.told.tell(node, note)) this.#options.logger.error(note.message);
  }
}
