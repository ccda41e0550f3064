/** Of a Service that has a load balancer of both kinds: whether the one that it asks for serves, so that the other one may go. */
import { isCloudError, type CallContext, type LoadBalancerService } from '@outrigger/cloud-provider';
import { annotationRows } from '../annotations/annotation-rows.ts';
import type { KindSetup } from '../frame.ts';
import { arnOf, groupArnOf } from '../observe/elbv2-look.ts';
import { instancesIn } from './change-classic.ts';
import { nameOf, type ClassicThing } from './classic-look.ts';

/** Targets may never be healthy: of a Service without endpoints, whose traffic policy is `Local`. */
const HEALTHY_MS = 600_000;

export class SwitchOver {
  readonly #setup: Pick<KindSetup, 'client' | 'clock' | 'look'>;
  /** Since when Services have both, as far as this process has seen. By UID. */
  readonly #since = new Map<string, number>();

  constructor(setup: Pick<KindSetup, 'client' | 'clock' | 'look'>) {
    this.#setup = setup;
  }

  /**
   * Whether all target groups, or the Classic one, have something to send to, where the other one has, and a healthy one among them, or have had
   * ten minutes for that. `undefined`: the Service does not have both.
   */
  async isServed(
    { isYoung = false, tags, thing }: ClassicThing,
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<boolean | undefined> {
    const { client, clock, look } = this.#setup;
    const service = services.find((one) => look.isOwn(tags, [one]));
    if (!service) return undefined;
    const { annotations, uid } = service;
    const { loadBalancers, targetGroups } = await look.things(call, services);
    const network = loadBalancers.find((one) => !one.isDeleted && look.isOwn(one.tags, [service]))?.thing;
    if (!network) {
      this.#since.delete(uid);
      return undefined;
    }
    const isToNetwork = annotations[annotationRows.type.name] === 'nlb';
    if (isToNetwork ? network.State?.Code !== 'active' : isYoung) return false;
    const now = clock.monotonic();
    const since = this.#since.get(uid) ?? now;
    this.#since.set(uid, since);
    const groups = targetGroups.filter((one) => one.thing.LoadBalancerArns?.includes(arnOf(network)));
    try {
      const targets = await Promise.all(
        groups.map(async (one) => {
          const asked = { TargetGroupArn: groupArnOf(one.thing) };
          const { TargetHealthDescriptions = [] } = await client.elbv2(call, 'DescribeTargetHealth', asked);
          return TargetHealthDescriptions.map(({ TargetHealth }) => TargetHealth?.State);
        }),
      );
      const hasLate = now - since >= HEALTHY_MS;
      const serves = (states: readonly (string | undefined)[], before: readonly unknown[]): boolean =>
        states.length === 0
          ? before.length === 0
          : hasLate || states.some((state) => state === 'healthy' || state === 'InService');
      if (isToNetwork) return targets.length > 0 && targets.every((one) => serves(one, instancesIn(thing)));
      const asked = { LoadBalancerName: nameOf(thing) };
      const { InstanceStates = [] } = await client.elb(call, 'DescribeInstanceHealth', asked);
      return serves(
        InstanceStates.map(({ State }) => State),
        targets.flat(),
      );
    } catch (error) {
      if (!isCloudError(error, 'not-found')) throw error;
      return false;
    }
  }
}
