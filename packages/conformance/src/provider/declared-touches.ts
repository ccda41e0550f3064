/** What an action uses beside the Service's own has to be in its `touches`: the host judges nothing but what is declared there. */
import { strict as assert } from 'node:assert';
import type { DesiredLoadBalancer, LoadBalancerAction, LoadBalancerPart, PartName } from '@outrigger/cloud-provider';

/** Fails for a thing in `used` that the action neither claims nor declares, or that the Service may not use. `used`: without the Service's own. */
export function assertTouchesDeclared(
  { id: part, kind: verb, summary, touches = [], ...action }: LoadBalancerAction,
  used: Iterable<PartName>,
  { others = [] }: Pick<DesiredLoadBalancer, 'others'>,
  parts: readonly LoadBalancerPart[],
): void {
  for (const { id, kind } of used) {
    const isIt = (one: PartName): boolean => one.kind === kind && one.id === id;
    if (verb === 'claim' && id === part && parts.some((one) => one.id === id && one.owner === undefined)) continue;
    const isAllowed = others.some((one) => isIt(one) && one.mayUse);
    const what = summary ?? `${verb} ${action.part}`;
    assert.ok(touches.some(isIt) && isAllowed, `${what}: undeclared touch of the ${kind} ${id}`);
  }
}
