/** Remembers since when something is not ACTIVE. Lost with the process: then the time begins anew. */
import type { Clock } from '@outrigger/cloud-provider';
import type { Lateness } from '../observed-tree.ts';
import type { ProvisioningStatus } from '../octavia-wire.ts';

/**
 * Octavia of Zed left children of a populated POST in PENDING_CREATE although the load balancer was ACTIVE. One that is only
 * slow takes a second; a change of it, which the load balancer permits, takes it along.
 */
const FINISH_AFTER_MS = 10_000;
/** Then it is deleted and made again. */
const REBUILD_AFTER_MS = 60_000;
/** A load balancer waits for its machine to boot: minutes are usual. */
const LOAD_BALANCER_PATIENCE = 6;
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
  of(id: string, status: ProvisioningStatus, patience = 1): Lateness {
    const now = this.#clock.monotonic();
    if (status === 'ACTIVE') {
      this.#waits.delete(id);
      return 'no';
    }
    const before = this.#waits.get(id);
    const wait = before?.status === status ? before : { status, since: now, seenAt: now };
    wait.seenAt = now;
    this.#waits.set(id, wait);
    const age = (now - wait.since) / patience;
    return age >= REBUILD_AFTER_MS ? 'rebuild' : age >= FINISH_AFTER_MS ? 'finish' : 'no';
  }

  ofLoadBalancer(id: string, status: ProvisioningStatus): Lateness {
    return this.of(id, status, LOAD_BALANCER_PATIENCE);
  }

  /** Drops what has not been seen for an hour: it is gone. */
  prune(): void {
    const oldest = this.#clock.monotonic() - FORGET_AFTER_MS;
    for (const [id, { seenAt }] of this.#waits) if (seenAt < oldest) this.#waits.delete(id);
  }
}
