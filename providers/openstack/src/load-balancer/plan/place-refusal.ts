/** What a plan places in ports, networks and subnets that the Service itself has named. Pure. */
import type { CloudError, LoadBalancerPart, LoadBalancerPlan } from '@outrigger/cloud-provider';
import { notForThis, thingOf } from '../foreign-things.ts';
import type { NamedPlace } from '../desired/desired-tree.ts';
import { newPlaces } from '../named-places.ts';
import { touching } from './change.ts';
import type { ServingContext } from './serving-context.ts';

/**
 * Those for which `chosen`, or what is to be made, needs leave. Where the members of a Service lie on the load balancer of another, its own may
 * not lie for that.
 */
function placesOn(
  chosen: LoadBalancerPart | undefined,
  { identity, parts, tree }: ServingContext,
): readonly NamedPlace[] {
  const isShared = chosen?.kind === 'shared-load-balancer';
  const beside = isShared ? [chosen] : parts.filter(({ kind }) => kind === 'load-balancer');
  return newPlaces(tree.places, beside, identity);
}

/**
 * Why the members may not lie where they are to lie, nor what is made of `ids`. What was not observed may not be used: whoever has
 * named it does not have it by that.
 */
export function placeRefusal(
  chosen: LoadBalancerPart | undefined,
  context: ServingContext,
  ids: readonly (string | undefined)[] = [],
): CloudError | undefined {
  const { desired, tree } = context;
  const members = tree.listeners.flatMap(({ pool }) => pool.members.map(({ subnetId }) => subnetId));
  const used = new Set([...ids, ...members]);
  const denied = placesOn(chosen, context).find(
    ({ id, kind }) => used.has(id) && !thingOf(desired.others, kind, id)?.mayUse,
  );
  return denied && notForThis(`the ${denied.kind} that an annotation names`, desired.service.namespace);
}

/** Each action that names one says so. */
export function touchingPlaces(
  chosen: LoadBalancerPart | undefined,
  context: ServingContext,
  plan: LoadBalancerPlan,
): LoadBalancerPlan {
  const places = placesOn(chosen, context);
  if (places.length === 0) return plan;
  const actions = plan.actions.map((action) => {
    const text = JSON.stringify(action.input);
    return touching(
      action,
      // As a whole value: what a Service is called may have an ID in it.
      places.filter(({ id }) => text.includes(JSON.stringify(id))),
    );
  });
  return { ...plan, actions };
}
