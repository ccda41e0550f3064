/** What a plan places in ports, networks and subnets that the Service itself has named. Pure. */
import type { CloudError, LoadBalancerPlan } from '@outrigger/cloud-provider';
import { notForThis, thingOf } from '../foreign-things.ts';
import { newPlaces } from '../named-places.ts';
import { touching } from './change.ts';
import type { ServingContext } from './serving-context.ts';

/**
 * Why the members may not lie where they are to lie, nor what is made of `ids`. What was not observed may not be used: whoever has
 * named it does not have it by that.
 */
export function placeRefusal(context: ServingContext, ids: readonly (string | undefined)[]): CloudError | undefined {
  const { desired, identity, parts, tree } = context;
  const members = tree.listeners.flatMap(({ pool }) => pool.members.map(({ subnetId }) => subnetId));
  const used = new Set([...ids, ...members]);
  const denied = newPlaces(tree.places, parts, identity).find(
    ({ id, kind }) => used.has(id) && !thingOf(desired.others, kind, id)?.mayUse,
  );
  return denied && notForThis(`the ${denied.kind} that an annotation names`, desired.service.namespace);
}

/** Each action that names one says so. */
export function touchingPlaces(plan: LoadBalancerPlan, { identity, parts, tree }: ServingContext): LoadBalancerPlan {
  const places = newPlaces(tree.places, parts, identity);
  if (places.length === 0) return plan;
  const actions = plan.actions.map((action) => {
    const text = JSON.stringify(action.input);
    return touching(
      action,
      places.filter(({ id }) => text.includes(id)),
    );
  });
  return { ...plan, actions };
}
