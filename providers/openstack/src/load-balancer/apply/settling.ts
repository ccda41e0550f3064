/**
 * Waits until Octavia takes the next change of a load balancer: while one is under way it answers 409 to every other. One look
 * serves all that wait: a list of the one, or of the project's where there are more, matched here.
 */
import { isCloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { listOf } from '../../client/operation.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';

export const POLL_MS = 1_000;
/** Then the worker is free for others, and the host looks again. */
const PATIENCE_MS = 10_000;

type Statuses = ReadonlyMap<string, WireLoadBalancer['provisioning_status']>;

const isPending = (status: string | undefined): boolean => status?.startsWith('PENDING_') === true;

export class Settling {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  /** Changed by us, and not seen to have settled since: when, last; monotonic. */
  readonly #changed = new Map<string, number>();
  #gathering: Promise<Statuses> | undefined;

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A change has been sent, or has been refused because of another. */
  noteBusy(id: string): void {
    this.#changed.set(id, this.#clock.monotonic());
  }

  /** A look that began then (monotonic) has shown it so: what has settled by itself need not be asked about again. */
  saw(id: string, status: WireLoadBalancer['provisioning_status'], asOf: number): void {
    const changedAt = this.#changed.get(id);
    if (changedAt !== undefined && changedAt < asOf && !isPending(status)) this.#changed.delete(id);
  }

  /** Whether it takes a change now: at once where nothing is known against it, else once it does, or after a while `false`. */
  async isReady(id: string, call: CallContext): Promise<boolean> {
    const until = this.#clock.monotonic() + PATIENCE_MS;
    while (this.#changed.has(id)) {
      const statuses = await this.#statuses(call);
      // One that the list does not show is found out about by the request itself.
      if (!isPending(statuses.get(id))) return true;
      if (this.#clock.monotonic() >= until) return false;
    }
    return true;
  }

  /** The next list: everybody who asks before it is sent gets it. */
  async #statuses(call: CallContext): Promise<Statuses> {
    for (;;) {
      const shared = this.#gathering;
      if (!shared) break;
      try {
        return await shared;
      } catch (error) {
        // Whoever sent it has given up; the others have not.
        if (call.signal.aborted || isCloudError(error)) throw error;
      }
    }
    const gathering = this.#list(call);
    this.#gathering = gathering;
    try {
      return await gathering;
    } finally {
      if (this.#gathering === gathering) this.#gathering = undefined;
    }
  }

  async #list(call: CallContext): Promise<Statuses> {
    await this.#clock.sleep(POLL_MS, call.signal);
    this.#gathering = undefined;
    const asked = [...this.#changed.keys()];
    const [id, another] = asked;
    const all = await this.#client.list<Pick<WireLoadBalancer, 'id' | 'provisioning_status'>>(call, {
      ...listOf('load-balancer', '/v2.0/lbaas/loadbalancers'),
      query: [
        ...(id !== undefined && another === undefined ? [['id', id] as const] : []),
        ['fields', 'id'],
        ['fields', 'provisioning_status'],
      ],
    });
    const statuses = new Map(all.map((one) => [one.id, one.provisioning_status]));
    // Also those that nobody asks about any more: a load balancer that was deleted.
    for (const one of asked) if (!isPending(statuses.get(one))) this.#changed.delete(one);
    return statuses;
  }
}
