import type {
  CallContext,
  DesiredLoadBalancer,
  LoadBalancerAction,
  LoadBalancerPlan,
  LoadBalancers,
} from '@outrigger/cloud-provider';
import type { FakeClock } from '@outrigger/testing';

export interface BroughtRig {
  readonly balancers: Pick<LoadBalancers, 'apply'>;
  readonly call: CallContext;
  readonly clock: FakeClock;
  plan(desired: DesiredLoadBalancer): Promise<LoadBalancerPlan>;
}

/** As the host does it, until a plan has nothing more to do; gives back what was done. Rejects where `apply` does. */
export async function bringToItsEnd(
  rig: BroughtRig,
  desired: DesiredLoadBalancer,
  mostRounds: number,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const apply = async (action: LoadBalancerAction): Promise<void> => {
    lines.push(`${action.kind} ${action.part}`);
    const result = await rig.balancers.apply(action, desired, rig.call);
    if (result.kind === 'pending') await rig.clock.advance(result.pollAfterMs);
  };
  for (let round = 0; round < mostRounds; round++) {
    const { actions, refused } = await rig.plan(desired);
    if (refused) throw refused;
    if (actions.length === 0) return lines;
    for (const action of actions) await apply(action);
  }
  throw new Error(`it comes to no end: ${lines.slice(-4).join(', ')}`);
}
