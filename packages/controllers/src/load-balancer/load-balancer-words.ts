/** Parts of load balancers, and what a plan does to them, in words. Pure. */
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { summaryOf } from '@outrigger/cloud-runtime';
import type { Fact, StandingPart } from '../finding.ts';
import type { NotedAction } from '../journal.ts';
import { changesOf } from '../field-changes.ts';
import type { Bring, ServicePlan } from './service-plan.ts';

export const recordAction: NotedAction = {
  kind: 'record',
  summary: 'put the finalizer and the name of this provider on the Service',
};

/** `agoMs`: since the cloud was asked. */
export function factsOfParts(parts: readonly LoadBalancerPart[], agoMs: number): readonly Fact[] {
  if (parts.length === 0) return [{ text: 'The cloud has no part of a load balancer for it.', agoMs }];
  return parts.map(({ attributes, id, kind, owner, state }) => {
    const whose = owner === undefined ? 'without an owner' : `owned by ${owner.uid} of cluster ${owner.clusterId}`;
    const opaque = attributes['opaque'] === true ? '; the provider does not report what it consists of' : '';
    return { text: `The cloud has the ${kind} ${id}: ${state}, ${whose}${opaque}.`, agoMs };
  });
}

/** For a list. */
export function listedParts(parts: readonly LoadBalancerPart[]): readonly StandingPart[] {
  return parts.map(({ id, kind, state }) => ({ kind, id, state }));
}

/** The same, with what would be changed of each part: what an update has that the part shows otherwise, and the requests of any action. */
export function changesOfParts(bring: Bring, parts: readonly LoadBalancerPart[]): readonly NotedAction[] {
  return notedOf(bring).map((noted, i) => {
    const { id, input = {}, kind, part } = bring.plan.actions[i] ?? {};
    const before = parts.find((one) => one.kind === part && one.id === id)?.attributes ?? {};
    const shown = kind === 'update' ? Object.entries(input).filter(([name]) => Object.hasOwn(before, name)) : [];
    const { otherwise, request } = input;
    const changes = [...changesOf(before, Object.fromEntries(shown)), ...changesOf({}, { request, otherwise })];
    return changes.length > 0 ? { ...noted, changes } : noted;
  });
}

/** The actions that a plan asks for, in the order in which they are carried out. */
export function notedOf(plan: ServicePlan): readonly NotedAction[] {
  if (plan.kind === 'record') return [recordAction];
  if (plan.kind !== 'bring') return [];
  return plan.plan.actions.map((action) => ({ kind: `${action.kind}-${action.part}`, summary: summaryOf(action) }));
}
