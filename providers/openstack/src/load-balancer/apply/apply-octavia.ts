/** Carries out what is changed in Octavia. */
import {
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancerActionResult,
  sameOwner,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import { readLoadBalancer } from '../observe/read-lists.ts';
import type { WireLoadBalancer } from '../octavia-wire.ts';
import { isLeft, ownersIn, ownerTag, sharerTag } from '../ownership.ts';
import type { Change, OctaviaRequest } from '../plan/change.ts';
import { SECOND_VIPS } from '../plan/create-load-balancer.ts';
import { sharesIn } from '../listener-owner.ts';
import { deleteRequest, putRequest } from '../plan/octavia-requests.ts';
import { IdLookUps } from './look-up-ids.ts';
import { POLL_MS, type Settling } from './settling.ts';

type ChangeOf<Op extends Change['op']> = Extract<Change, { op: Op }>;

export class OctaviaChanges {
  readonly #client: () => ApiClient;
  readonly #settling: Settling;

  constructor(client: () => ApiClient, settling: Settling) {
    this.#client = client;
    this.#settling = settling;
  }

  async create({ request }: ChangeOf<'create-load-balancer'>, call: CallContext): Promise<LoadBalancerActionResult> {
    const planned = request.body?.['loadbalancer'] as Readonly<Record<string, unknown>>;
    const body = await new IdLookUps(this.#client(), call).fill(planned, SECOND_VIPS);
    const { id } = await this.#post(request, body, call);
    return { ...this.#pending(id), made: { kind: 'load-balancer', id } };
  }

  /** A driver that has no second VIP says so here alone. */
  async #post(
    request: OctaviaRequest,
    body: Readonly<Record<string, unknown>>,
    call: CallContext,
  ): Promise<WireLoadBalancer> {
    const { [SECOND_VIPS]: second, ...loadbalancer } = body;
    const post = async (sent: object): Promise<WireLoadBalancer> =>
      (await this.#send<{ loadbalancer: WireLoadBalancer }>({ ...request, body: { loadbalancer: sent } }, call))
        .loadbalancer;
    try {
      return await post(body);
    } catch (error) {
      if (second === undefined || !isCloudError(error, 'unsupported')) throw error;
      return post(loadbalancer);
    }
  }

  async change(
    { loadBalancerId: id, request }: ChangeOf<'octavia'>,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    return this.#whenReady(id, call, async () => {
      if (request.method === 'DELETE') await this.#sendDelete(request, call);
      else await this.#send(request, call);
    });
  }

  /** Its plan is some time ago, and who shares it by now would lose what runs through it. */
  async delete(
    { cascade, lastSharer, loadBalancerId: id }: ChangeOf<'delete-load-balancer'>,
    call: CallContext,
  ): Promise<LoadBalancerActionResult> {
    return this.#whenReady(id, call, async () => {
      const there = await readLoadBalancer(this.#client(), id, call);
      if (!there) return;
      const { owner, sharers } = ownersIn(there.tags ?? []);
      const others = lastSharer ? sharers.filter((one) => !sameOwner(one, lastSharer)) : sharers;
      if (others.length > 0 || (lastSharer && (owner || !isLeft(there.tags ?? [])))) {
        throw new CloudError('conflict', `the load balancer ${id} is shared by now; it is read again`);
      }
      await this.#sendDelete(deleteRequest('loadbalancers', id, { cascade }), call);
    });
  }

  async writeTags(change: ChangeOf<'tags'>, call: CallContext): Promise<LoadBalancerActionResult> {
    const { loadBalancerId: id } = change;
    return this.#whenReady(id, call, async () => {
      const there = await readLoadBalancer(this.#client(), id, call);
      if (!there) throw new CloudError('conflict', `the load balancer ${id} is gone; it is read again`);
      const before = there.tags ?? [];
      const after = changedTags(before, change);
      if (after.length === before.length && after.every((tag) => before.includes(tag))) return;
      // Octavia leaves the tags alone where the list is empty: CPO sends one empty tag then.
      const tags = after.length === 0 ? [''] : after;
      await this.#send(putRequest('loadbalancers', id, { tags }), call);
    });
  }

  /**
   * Sends it when Octavia takes it; a 409 is waited for once, and then told. What has not been sent ends the plan: what comes after it
   * counts on it.
   */
  async #whenReady(id: string, call: CallContext, send: () => Promise<void>): Promise<LoadBalancerActionResult> {
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
  async #sendDelete(request: OctaviaRequest, call: CallContext): Promise<void> {
    try {
      await this.#send(request, call);
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
    }
  }

  #pending(id: string): Extract<LoadBalancerActionResult, { kind: 'pending' }> {
    this.#settling.noteBusy(id);
    return { kind: 'pending', handle: `load balancer ${id}`, pollAfterMs: POLL_MS };
  }

  #send<T>({ body, method, operation, path, query }: OctaviaRequest, call: CallContext): Promise<T> {
    return this.#client().request<T>(call, {
      service: 'load-balancer',
      operation,
      method,
      path,
      ...(query && { query }),
      ...(body && { body }),
    });
  }
}

function changedTags(
  before: readonly string[],
  { add, loadBalancerId, maxShared, passOn, remove }: ChangeOf<'tags'>,
): readonly string[] {
  const shares = sharesIn(before);
  // What was sent before, and whose answer was lost, is there already.
  const isNew = !add.every((tag) => before.includes(tag));
  if (maxShared !== undefined && isNew && shares + 1 > maxShared) {
    const text = `the load balancer ${loadBalancerId} is used by ${shares} Services already (max-shared-lb ${maxShared})`;
    throw new CloudError('quota', text);
  }
  const left = before.filter((tag) => tag !== '' && !remove.includes(tag));
  const after = [...left, ...add.filter((tag) => !left.includes(tag))];
  if (!passOn) return after;
  const { owner, sharers } = ownersIn(after);
  const heir = sharers.find(({ uid }) => passOn.heirs.includes(uid));
  if (owner) return after;
  if ((passOn.how === 'must' && !heir) || (passOn.how === 'left' && sharers.length === 0)) {
    const text = `the load balancer ${loadBalancerId} is no longer shared by a Service that may own it; it is read again`;
    throw new CloudError('conflict', text);
  }
  if (!heir) return after;
  return after.map((tag) => (tag === sharerTag(heir) ? ownerTag(heir) : tag));
}
