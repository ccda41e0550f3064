/** Remembers since when something is not ACTIVE, and what was tried against an ERROR. Lost with the process: then both begin anew. */
import type { Clock } from '@outrigger/cloud-provider';
import type { Lateness, ObservedChild } from '../observed-tree.ts';
import type { ProvisioningStatus } from '../octavia-wire.ts';
import { placeOf, type Mending } from '../places-of-children.ts';

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
/** A change that fails leaves a child in ERROR while the load balancer serves on as before: it is changed again, and only then made anew. */
const CHANGES_BEFORE_REBUILD = 3;
const FIRST_WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 300_000;

interface Wait {
  readonly status: ProvisioningStatus;
  readonly since: number;
  seenAt: number;
}

/** For this wish: how often Octavia was asked, and how often it has tried; `at`: the last time, and whether it was refused then. */
interface Tries {
  readonly loadBalancerId: string;
  readonly wish: string;
  readonly wasRefused: boolean;
  readonly asked: number;
  readonly tried: number;
  readonly at: number;
}

/** What a child is seen as, beside its status. */
type Seen = Omit<ObservedChild, 'id' | 'name' | 'status'>;

export class LatenessTracker {
  readonly #clock: Clock;
  readonly #waits = new Map<string, Wait>();
  /** By the place of what is in ERROR: its ID is another each time it is made anew. */
  readonly #tries = new Map<string, Tries>();
  /** By ID, what was seen ACTIVE: when it was seen last. */
  readonly #active = new Map<string, number>();

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

  /** Of something of this ID, in this place below its load balancer. */
  ofChild(id: string, place: string, status: ProvisioningStatus): Seen {
    const removal = this.#tries.get(placeOf.removal({ id }));
    const goes: Partial<Seen> = {
      ...(removal && this.#isHeld(removal) && { isRemovalHeld: true }),
      ...(removal?.wasRefused && { wasRemovalRefused: true }),
    };
    if (status === 'ERROR') {
      this.#waits.delete(id);
      const wasActive = this.#active.has(id);
      if (wasActive) this.#active.set(id, this.#clock.monotonic());
      return { ...this.ofFailed(place), ...(wasActive && { wasActive }), ...goes };
    }
    if (status === 'ACTIVE') {
      this.recovered(place);
      this.#active.set(id, this.#clock.monotonic());
    }
    return { late: this.of(id, status), ...goes };
  }

  /** What is to be done about the ERROR in this place now: a change, to make it anew, or nothing yet for the wish that was tried. */
  ofFailed(place: string): Seen {
    const tries = this.#tries.get(place);
    if (!tries) return { late: 'finish' };
    const { tried: count, wasRefused, wish: tried } = tries;
    const known = { tried, ...(wasRefused && { wasRefused }) };
    if (this.#isHeld(tries)) return { late: 'no', ...known };
    return { late: count < CHANGES_BEFORE_REBUILD ? 'finish' : 'rebuild', ...known };
  }

  recovered(place: string): void {
    this.#tries.delete(place);
  }

  /**
   * Octavia was sent what should end the ERROR in this place, or remove what is there. `isTried`: it has taken it, or its driver cannot do it; what it refuses, and
   * what it does not answer, is no step towards making anew what serves on. Another wish is tried from the beginning.
   */
  noteTried(loadBalancerId: string, { place, wish }: Mending, isTried: boolean): void {
    const before = this.#tries.get(place);
    const { asked, tried } = before?.wish === wish ? before : { asked: 0, tried: 0 };
    this.#tries.set(place, {
      loadBalancerId,
      wish,
      wasRefused: !isTried,
      asked: asked + 1,
      tried: tried + (isTried ? 1 : 0),
      at: this.#clock.monotonic(),
    });
  }

  /** Something else of this load balancer was refused: what was refused before may be what makes room for it, and takes its turn again. */
  noteRefused(loadBalancerId: string): void {
    for (const [place, tries] of this.#tries) {
      if (tries.wasRefused && tries.loadBalancerId === loadBalancerId)
        this.#tries.set(place, { ...tries, wasRefused: false });
    }
  }

  #isHeld(tries: Tries): boolean {
    return this.#clock.monotonic() - tries.at < waitAfter(tries);
  }

  /** Drops what has not been seen for an hour: it is gone. */
  prune(): void {
    const oldest = this.#clock.monotonic() - FORGET_AFTER_MS;
    for (const [id, { seenAt }] of this.#waits) if (seenAt < oldest) this.#waits.delete(id);
    for (const [place, { at }] of this.#tries) if (at < oldest) this.#tries.delete(place);
    for (const [id, at] of this.#active) if (at < oldest) this.#active.delete(id);
  }
}

const waitAfter = ({ asked }: Tries): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (asked - 1));
