/** Carries out what is changed in Octavia. */
import {
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancerActionResult,
  sameOwner,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import type { LatenessTracker } from '../observe/lateness.ts';
import { readLoadBalancer } from '../observe/read-lists.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { isLeft, ownersIn } from '../ownership.ts';
import type { ChangeOf, PlannedRequest } from '../plan/change.ts';
import { cpoTagsIn, sharesIn } from '../listener-owner.ts';
import { tagsAfter, tagsRequest } from '../plan/octavia-requests.ts';
import { IdLookUps } from './look-up-ids.ts';
import { POLL_MS, type Settling } from './settling.ts';

/** What fails is thrown. */
export type Carried = Exclude<LoadBalancerActionResult, { readonly kind: 'failed' }>;

export class OctaviaChanges {
  readonly #client: ApiClient;
  readonly #settling: Settling;
  readonly #lateness: LatenessTracker;

  constructor(client: ApiClient, settling: Settling, lateness: LatenessTracker) {
    this.#client = client;
    this.#settling = settling;
    this.#lateness = lateness;
  }

  /** Whether a second VIP is to be had, Neutron's subnets and the driver alone know. */
  async create({ nodes, otherwise, request }: ChangeOf<'create-load-balancer'>, call: CallContext): Promise<Carried> {
    const ids = new IdLookUps(this.#client, call, nodes);
    let filled: PlannedRequest;
    try {
      filled = await ids.fill(request);
    } catch (error) {
      if (!otherwise || !isCloudError(error, 'invalid')) throw error;
      return this.#post(await ids.fill(otherwise), call);
    }
    try {
      return await this.#post(filled, call);
    } catch (error) {
      if (!otherwise || !isCloudError(error, 'unsupported')) throw error;
      return this.#post(await ids.fill(otherwise), call);
    }
  }

  async #post(request: PlannedRequest, call: CallContext): Promise<Carried> {
    const { loadbalancer } = await this.#client.request<{ loadbalancer: WireLoadBalancer }>(call, request);
    const { id } = loadbalancer;
    return { ...this.#pending(id), made: { kind: 'load-balancer', id } };
  }

  async change({ loadBalancerId: id, mends, request }: ChangeOf<'octavia'>, call: CallContext): Promise<Carried> {
    try {
      const carried = await this.#whenReady(id, call, async () => {
        if (request.method === 'DELETE') await this.#sendDelete(request, call);
        else await this.#client.request(call, request);
      });
      if (mends) this.#lateness.noteTried(id, mends, true);
      return carried;
    } catch (error) {
      // It is not first in the next plan too: what comes after it would not be reached.
      if (!isCloudError(error, 'retry-after')) {
        if (mends) this.#lateness.noteTried(id, mends, isCloudError(error, 'unsupported'));
        else this.#lateness.noteRefused(id);
      }
      throw error;
    }
  }

  /** Its plan is some time ago, and who shares it by now would lose what runs through it. */
  async delete(
    { cpoTags, lastSharer, listenerIds, loadBalancerId: id, request }: ChangeOf<'delete-load-balancer'>,
    call: CallContext,
  ): Promise<Carried> {
    return this.#whenReady(id, call, async () => {
      const there = await readLoadBalancer(this.#client, id, call);
      if (!there) return;
      const { listeners = [], tags = [] } = there;
      const { owner, sharers } = ownersIn(tags);
      const others = lastSharer ? sharers.filter((one) => !sameOwner(one, lastSharer)) : sharers;
      const seen = listenerIds && new Set(listenerIds);
      const hasCome =
        cpoTagsIn(tags).some((tag) => !cpoTags.includes(tag)) || listeners.some((one) => seen?.has(one.id) === false);
      if (others.length > 0 || hasCome || (lastSharer && (owner || !isLeft(tags)))) {
        throw new CloudError('conflict', `the load balancer ${id} is shared by now; it is read again`);
      }
      await this.#sendDelete(request, call);
    });
  }

  async writeTags(change: ChangeOf<'tags'>, call: CallContext): Promise<Carried> {
    const { loadBalancerId: id } = change;
    return this.#whenReady(id, call, async () => {
      const there = await readLoadBalancer(this.#client, id, call);
      if (!there) throw new CloudError('conflict', `the load balancer ${id} is gone; it is read again`);
      const before = there.tags ?? [];
      checkTags(before, change);
      const after = tagsAfter(before, change);
      if (after.length === before.length && after.every((tag) => before.includes(tag))) return;
      await this.#client.request(call, tagsRequest(id, after));
    });
  }

  /**
   * Sends it when Octavia takes it; a 409 is waited for once, and then told. What has not been sent ends the plan: what comes after it
   * counts on it.
   */
  async #whenReady(id: string, call: CallContext, send: () => Promise<void>): Promise<Carried> {
    for (let attempt = 1; ; attempt++) {
      if (!(await this.#settling.isReady(id, call))) {
        const text = `the load balancer ${id} is busy with an earlier change; it is retried`;
        throw new CloudError('retry-after', text, { effect: 'none', retryAfterMs: POLL_MS });
      }
      try {
        await send();
        return this.#pending(id);
      } catch (error) {
        if (!isCloudError(error, 'conflict')) throw error;
        this.#settling.noteBusy(id);
        if (attempt === 2) throw error;
      }
    }
  }

  /** What is gone already need not be deleted. */
  async #sendDelete(request: PlannedRequest, call: CallContext): Promise<void> {
    try {
      await this.#client.request(call, request);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
    }
  }

  #pending(id: string): Carried {
    this.#settling.noteBusy(id);
    return { kind: 'pending', handle: `load balancer ${id}`, pollAfterMs: POLL_MS };
  }
}

/** Throws where they are others by now, so that the change would say of a Service what is not so. */
function checkTags(before: readonly string[], { add, loadBalancerId, maxShared, needs }: ChangeOf<'tags'>): void {
  // What was sent before, and whose answer was lost, is there already.
  if (add.every((tag) => before.includes(tag))) return;
  const shares = sharesIn(before);
  if (maxShared !== undefined && shares + 1 > maxShared) {
    const text = `the load balancer ${loadBalancerId} is used by ${shares} Services already (max-shared-lb ${maxShared})`;
    throw new CloudError('quota', text);
  }
  if (needs && !needs.some((tag) => before.includes(tag))) {
    const text = `the load balancer ${loadBalancerId} is no longer shared by a Service that may own it; it is read again`;
    throw new CloudError('conflict', text);
  }
}
