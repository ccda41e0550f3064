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

/** With the address of the plan in its status. */
export function withAddress(desired: DesiredLoadBalancer, { ingress }: LoadBalancerPlan): DesiredLoadBalancer {
  return { ...desired, service: { ...desired.service, ingress } };
}

/** As the host does it, until a plan has nothing more to do; gives back what was done. Rejects where `plan` or `apply` does. */
export async function bringToItsEnd(
  rig: BroughtRig,
  goal: DesiredLoadBalancer,
  mostRounds: number,
): Promise<readonly string[]> {
  let desired = goal;
  const lines: string[] = [];
  const apply = async (action: LoadBalancerAction): Promise<void> => {
    lines.push(`${action.kind} ${action.part}`);
    const result = await rig.balancers.apply(action, desired, rig.call);
    if (result.kind === 'pending') await rig.clock.advance(result.pollAfterMs);
  };
  for (let round = 0; round < mostRounds; round++) {
    const plan = await rig.plan(desired);
    const { actions, complete, ingress, refused } = plan;
    if (refused) throw refused;
    if (actions.length === 0 && (complete || ingress.length === 0)) return lines;
    if (actions.length === 0) desired = withAddress(desired, plan);
    for (const action of actions) await apply(action);
  }
  throw new Error(`it comes to no end: ${lines.slice(-4).join(', ')}`);
}
