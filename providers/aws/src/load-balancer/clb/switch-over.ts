/** Of a Service that has a load balancer of both kinds: whether the one that it asks for serves, so that the other one may go. */
import {
  isCloudError,
  type CallContext,
  type CloudErrorCode,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { annotationRows } from '../annotations/annotation-rows.ts';
import type { KindSetup } from '../frame.ts';
import { arnOf, groupArnOf } from '../observe/elbv2-look.ts';
import { ownerIn } from '../ownership.ts';
import { instancesIn } from './change-classic.ts';
import { nameOf, type ClassicThing } from './classic-look.ts';

/** Targets may never be healthy: of a Service without endpoints, whose traffic policy is `Local`. */
const HEALTHY_MS = 600_000;

/** An error: AWS did not tell. */
export type Served = boolean | undefined | { readonly code: CloudErrorCode; readonly message: string };

export class SwitchOver {
  readonly #setup: Pick<KindSetup, 'client' | 'clock' | 'look'>;
  /** Since when Services have both, as far as this process has seen. By UID. */
  readonly #since = new Map<string, number>();

  constructor(setup: Pick<KindSetup, 'client' | 'clock' | 'look'>) {
    this.#setup = setup;
  }

  /** `things`: all Classic ones that these Services have. Without one, a Service has not both any more. */
  forget(services: readonly LoadBalancerService[], things: readonly ClassicThing[]): void {
    const owners = new Set(things.map(({ tags }) => ownerIn(tags)?.uid));
    for (const { uid } of services) if (!owners.has(uid)) this.#since.delete(uid);
  }

  /**
   * Whether all target groups, or the Classic one, have something to send to, where the other one has, and a healthy one among them, or have had
   * ten minutes for that. `undefined`: the Service does not have both. What AWS refuses to tell concerns this Service alone.
   */
  async isServed(
    { isYoung = false, tags, thing }: ClassicThing,
    services: readonly LoadBalancerService[],
    call: CallContext,
  ): Promise<Served> {
    const { clock, look } = this.#setup;
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
    // Which load balancer has them AWS may show later than that they are there.
    const arns = targetGroups
      .filter((one) => !one.isDeleted)
      .filter((one) => look.isOwn(one.tags, [service]) || one.thing.LoadBalancerArns?.includes(arnOf(network)))
      .map((one) => groupArnOf(one.thing));
    const now = clock.monotonic();
    const since = this.#since.get(uid) ?? now;
    this.#since.set(uid, since);
    const hasLate = now - since >= HEALTHY_MS;
    const serves = (states: readonly (string | undefined)[], before: readonly unknown[]): boolean =>
      states.length === 0
        ? before.length === 0
        : hasLate || states.some((state) => state === 'healthy' || state === 'InService');
    try {
      const targets = await Promise.all(arns.map((arn) => this.#targetsOf(arn, call)));
      if (isToNetwork) return targets.length > 0 && targets.every((one) => serves(one, instancesIn(thing)));
      return serves(await this.#instancesOf(nameOf(thing), call), targets.flat());
    } catch (error) {
      if (!isCloudError(error)) throw error;
      return error.code !== 'not-found' && { code: error.code, message: error.message };
    }
  }

  async #targetsOf(TargetGroupArn: string, call: CallContext): Promise<readonly (string | undefined)[]> {
    const { elbv2 } = this.#setup.client;
    const { TargetHealthDescriptions = [] } = await elbv2(call, 'DescribeTargetHealth', { TargetGroupArn });
    return TargetHealthDescriptions.map(({ TargetHealth }) => TargetHealth?.State);
  }

  async #instancesOf(LoadBalancerName: string, call: CallContext): Promise<readonly (string | undefined)[]> {
    const { elb } = this.#setup.client;
    const { InstanceStates = [] } = await elb(call, 'DescribeInstanceHealth', { LoadBalancerName });
    return InstanceStates.map(({ State }) => State);
  }
}
