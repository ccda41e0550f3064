/** For tests: changes below a load balancer that fail in Octavia, and a host that goes on. */
import {
  isCloudError,
  type DesiredLoadBalancer,
  type LoadBalancerPlan,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import { callContext, type Rig } from './rig.suite.ts';

export const MINUTE_MS = 60_000;

/** Each change that one of these requests began fails; `times` of them. */
export function failing(
  rig: Rig,
  what: RegExp,
  {
    methods = ['POST', 'PUT'],
    times = Infinity,
  }: { readonly methods?: readonly string[]; readonly times?: number } = {},
): void {
  let isFailing = false;
  let left = times;
  const when = ({ method, path }: { readonly method: string; readonly path: string }): boolean => {
    if (method !== 'GET') isFailing = methods.includes(method) && what.test(path) && left-- > 0;
    return false;
  };
  rig.cloud.faults.set({ service: 'load-balancer', effect: 'run', run: () => {}, when });
  rig.cloud.octavia.settings.fails = () => isFailing;
}

export const changesOf = (rig: Rig): readonly string[] =>
  rig.cloud.calls
    .all()
    .map(({ operation }) => operation)
    .filter((one) => !one.includes('GET'));

const RETRIED = ['retry-after', 'conflict', 'unavailable'] as const;

/** As the host goes on for so long. */
export async function goOn(
  rig: Rig,
  service: LoadBalancerService,
  lastsMs: number,
  betweenMs = 1_000,
  wanted = true,
): Promise<readonly LoadBalancerPlan[]> {
  const plans: LoadBalancerPlan[] = [];
  const end = rig.clock.monotonic() + lastsMs;
  while (rig.clock.monotonic() < end) {
    try {
      plans.push(await rig.pass(rig.desired(service, wanted)));
    } catch (error) {
      if (!RETRIED.some((kind) => isCloudError(error, kind))) throw error;
    }
    await rig.clock.sleep(betweenMs);
  }
  return plans;
}

export const toldIn = (plans: readonly LoadBalancerPlan[]): ReadonlySet<string> =>
  new Set(plans.flatMap(({ warnings = [] }) => warnings.map(({ reason }) => reason)));

/** As a host to which something of the Service has failed: members first, and the whole plan where they need nothing. */
export async function goOnFailing(
  rig: Rig,
  service: LoadBalancerService,
  lastsMs: number,
  betweenMs = 1_000,
): Promise<void> {
  const end = rig.clock.monotonic() + lastsMs;
  let isMembersTurn: boolean = true;
  while (rig.clock.monotonic() < end) {
    const { others, parts } = await rig.lookAround(service);
    const desired = { ...rig.desired(service), others };
    const members: LoadBalancerPlan | undefined = isMembersTurn ? rig.provider.planMembers(desired, parts) : undefined;
    const isFirst: boolean = members !== undefined && members.actions.length > 0;
    const { actions } = members && isFirst ? members : rig.provider.plan(desired, parts);
    const isDone = await applyAll(rig, actions, desired);
    // What the members failed at may be mended by the rest.
    isMembersTurn = isDone || !isFirst;
    await rig.clock.sleep(betweenMs);
  }
}

/** Whether none failed: the first that does ends it. */
async function applyAll(
  rig: Rig,
  actions: LoadBalancerPlan['actions'],
  desired: DesiredLoadBalancer,
): Promise<boolean> {
  for (const action of actions) {
    try {
      const result = await rig.provider.apply(action, desired, callContext());
      if (result.kind === 'failed') return false;
    } catch (error) {
      if (!isCloudError(error)) throw error;
      return false;
    }
  }
  return true;
}
