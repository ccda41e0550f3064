/** Which listeners and pools of a load balancer are a Service's. Pure. */
import { sameOwner, type Owner } from '@outrigger/cloud-provider';
import type { ServiceIdentity } from './service-identity.ts';
import type { ObservedLoadBalancer } from './observed-tree.ts';
import { ownersIn } from './ownership.ts';

/** CPO's tag on load balancers and listeners, one for each Service, and the beginning of its load balancers' names. */
export const cpoPrefix = 'kube_service_';
export const cpoTagsIn = (tags: readonly string[]): readonly string[] =>
  tags.filter((tag) => tag.startsWith(cpoPrefix));
/** And of its listeners' names. */
const LISTENER_PREFIX = 'listener_';

interface Child {
  readonly name: string;
  readonly tags: readonly string[];
}

/** `ownsLoadBalancer`: it is this Service's, and then a listener that says nothing is what CPO made before it had tags. */
export function isOwnChild(
  { name, tags }: Child,
  { names, owner }: Pick<ServiceIdentity, 'names' | 'owner'>,
  ownsLoadBalancer: boolean,
): boolean {
  const tagged = ownersIn(tags);
  if (tagged.taken) return tagged.owner !== undefined && sameOwner(tagged.owner, owner);
  const cpoTags = cpoTagsIn(tags);
  if (cpoTags.length > 0) return cpoTags.every((tag) => names.some(({ loadBalancer }) => loadBalancer === tag));
  return ownsLoadBalancer && name.startsWith(LISTENER_PREFIX);
}

/**
 * Of those who share the load balancer, the ones of its owner's namespace, as their listeners say; of whom that is not known it is not
 * one. `namespace`: the owner's; empty: it is gone, and what it was called says it.
 */
export function heirsOf(
  { children, name, tags }: ObservedLoadBalancer,
  { clusterNames, owner, service }: Pick<ServiceIdentity, 'clusterNames' | 'owner' | 'service'>,
): readonly Owner[] {
  const namespacesOf = (who: Owner): ReadonlySet<string | undefined> => {
    const listeners = (children?.listeners ?? []).filter((one) => sameOwner(ownersIn(one.tags).owner, who));
    const names = listeners.flatMap((one) => cpoTagsIn(one.tags));
    return new Set(names.map((one) => namespaceInName(one, clusterNames)));
  };
  const [only, ...more] = namespacesOf(owner);
  const namespace = service.namespace || (more.length === 0 ? only : undefined) || namespaceInName(name, clusterNames);
  if (namespace === undefined) return [];
  return ownersIn(tags).sharers.filter((who) => {
    const namespaces = namespacesOf(who);
    return who.clusterId === owner.clusterId && namespaces.size === 1 && namespaces.has(namespace);
  });
}

/** Of `kube_service_<cluster>_<namespace>_<name>`: neither namespace nor name has a `_`. */
export function namespaceInName(name: string, clusters: readonly string[]): string | undefined {
  for (const cluster of clusters) {
    const prefix = `${cpoPrefix}${cluster}_`;
    const [namespace, service, more] = name.startsWith(prefix) ? name.slice(prefix.length).split('_') : [];
    if (namespace && service && more === undefined) return namespace;
  }
  return undefined;
}

/** How many Services use the load balancer, by its tags: ours carry CPO's too. */
export function sharesIn(tags: readonly string[]): number {
  const { owner, sharers } = ownersIn(tags);
  const cpo = new Set(cpoTagsIn(tags)).size;
  return Math.max(cpo, sharers.length + (owner ? 1 : 0));
}
