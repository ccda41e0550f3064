/**
 * Holds routes back when suddenly many of them seem to belong to nobody: after an API server was restored from a backup, the
 * nodes that are newer than it are gone from the API and their pods still run.
 */
import type { Clock } from '@outrigger/kube';
import type { DeleteRoute } from './planned-route.ts';

/** As many may always go at once, as long as there is a node at all. */
const ALWAYS = 10;
const MAX_FRACTION = 0.3;
/** For so long, at least, a route in a large removal must have belonged to nobody. */
const HOLD_MS = 300_000;

export interface Released {
  readonly deletes: readonly DeleteRoute[];
  readonly held: number;
  /** Milliseconds until the first of those that are held may go. */
  readonly nextInMs?: number;
}

export class RemovalBreaker {
  readonly #clock: Clock;
  /** By what it leads from and to, as the ID of a new one is not known yet: since when it belongs to nobody (monotonic). */
  #since: ReadonlyMap<string, number> = new Map();
  /** Of the last release: until when each is held (monotonic). */
  #held: ReadonlyMap<string, number> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of the routes that are to go, those that may. Replacements always may: the node that has the destination waits for it. */
  release(
    deletes: readonly DeleteRoute[],
    { nodes, owned }: { readonly nodes: number; readonly owned: number },
  ): Released {
    const now = this.#clock.monotonic();
    this.#held = new Map();
    const orphans = deletes.filter(({ reason }) => reason === 'node-gone');
    this.#since = new Map(orphans.map(keyOfRoute).map((key) => [key, this.#since.get(key) ?? now]));
    // A blackhole has no traffic to lose.
    const risky = orphans.filter(({ route }) => !route.blackhole);
    // A server that has lost its nodes, or not loaded them yet, answers with an empty list.
    const most = nodes === 0 ? 0 : Math.max(ALWAYS, owned * MAX_FRACTION);
    if (risky.length <= most) return { deletes, held: 0 };
    const heldUntil = (one: DeleteRoute): number => (this.#since.get(keyOfRoute(one)) ?? now) + HOLD_MS;
    const held = new Set(risky.filter((one) => heldUntil(one) > now));
    this.#held = new Map(Array.from(held, (one) => [keyOfRoute(one), heldUntil(one)]));
    const nextInMs = Math.min(...this.#held.values()) - now;
    return { deletes: deletes.filter((one) => !held.has(one)), held: held.size, nextInMs };
  }

  /** For how long it is held yet, by the last release, in milliseconds; 0 when it is not. */
  heldForMs(removal: DeleteRoute): number {
    return Math.max(0, (this.#held.get(keyOfRoute(removal)) ?? 0) - this.#clock.monotonic());
  }
}

function keyOfRoute({ route }: DeleteRoute): string {
  return `${route.destination} ${route.targetNodeName ?? ''} ${route.targetProviderID ?? ''}`;
}
