/** For tests: changes below a load balancer that fail in Octavia, and a host that goes on. */
import { isCloudError, type LoadBalancerPlan, type LoadBalancerService } from '@outrigger/cloud-provider';
import type { Rig } from './rig.suite.ts';

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
