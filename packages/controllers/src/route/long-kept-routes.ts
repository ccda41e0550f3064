/** Tells of routes that are kept for long because of a node of which nothing is known: safe, and without an end where it is never initialised. */
import type { Logger } from '@outrigger/kube';
import type { ToldEvents } from '../told-events.ts';
import { keptNote } from './failure-note.ts';
import type { KeptRoutes } from './planned-route.ts';

/** A node that has just registered has an address and a pod CIDR long before. */
const KEPT_TOLD_MS = 600_000;

export class LongKeptRoutes {
  readonly #told: ToldEvents;
  readonly #logger: Logger;
  /** Since when each node keeps routes, by its UID; monotonic. */
  #keepsSince: ReadonlyMap<string, number> = new Map();

  constructor({ told, logger }: { readonly told: ToldEvents; readonly logger: Logger }) {
    this.#told = told;
    this.#logger = logger;
  }

  /** Milliseconds until the next is told. */
  tell({ routes, nodes }: KeptRoutes, now: number): number {
    const since = new Map<string, number>();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const node of nodes) {
      const uid = node.metadata?.uid ?? '';
      const keepsSince = this.#keepsSince.get(uid) ?? now;
      since.set(uid, keepsSince);
      const leftMs = keepsSince + KEPT_TOLD_MS - now;
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else if (this.#told.tell(node, keptNote(routes))) {
        this.#logger.warn('Routes of unknown nodes are kept, as they may belong to a node that is not initialized', {
          node: node.metadata?.name,
          routes: routes.length,
        });
      }
    }
    this.#keepsSince = since;
    return nextMs;
  }
}
