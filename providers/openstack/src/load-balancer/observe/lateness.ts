/** Remembers since when something is not ACTIVE. Lost with the process: then the time begins anew. */
import type { Clock } from '@outrigger/cloud-provider';
import type { Lateness } from '../observed-tree.ts';
import type { ProvisioningStatus } from '../octavia-wire.ts';

interface Patience {
  readonly finishMs: number;
  readonly rebuildMs: number;
}

/**
 * Octavia of Zed leaves children of a populated POST in PENDING_CREATE although the load balancer is ACTIVE. One that is only slow
 * takes a moment; else a change of it, which the load balancer permits, takes it along; else it is deleted and made again.
 */
const CHILD: Patience = { finishMs: 3_000, rebuildMs: 60_000 };
/** It waits for its machine to boot: minutes are usual. In ERROR it is given up after the first of the two. */
const LOAD_BALANCER: Patience = { finishMs: 60_000, rebuildMs: 360_000 };
const FORGET_AFTER_MS = 3_600_000;

interface Wait {
  readonly status: ProvisioningStatus;
  readonly since: number;
  seenAt: number;
}

export class LatenessTracker {
  readonly #clock: Clock;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be asked on each look at each thing. */
  of(id: string, status: ProvisioningStatus, { finishMs, rebuildMs }: Patience = CHILD): Lateness {
    const now = this.#clock.monotonic();
    if (status === 'ACTIVE') {
      this.#waits.delete(id);
      return 'no';
    }
    const before = this.#waits.get(id);
    const wait = before?.status === status ? before : { status, since: now, seenAt: now };
    wait.seenAt = now;
    this.#waits.set(id, wait);
    const age = now - wait.since;
    return age >= rebuildMs ? 'rebuild' : age >= finishMs ? 'finish' : 'no';
  }

  ofLoadBalancer(id: string, status: ProvisioningStatus): Lateness {
    return this.of(id, status, LOAD_BALANCER);
  }

  /** Drops what has not been seen for an hour: it is gone. */
  prune(): void {
    const oldest = this.#clock.monotonic() - FORGET_AFTER_MS;
    for (const [id, { seenAt }] of this.#waits) if (seenAt < oldest) this.#waits.delete(id);
  }
}
