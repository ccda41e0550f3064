/** Ports, networks and subnets that the annotations of a Service name. Pure. */
import { sameOwner, type LoadBalancerPart, type LoadBalancerService } from '@outrigger/cloud-provider';
import { isUuid } from '../uuid.ts';
import { annotationTable } from './desired/annotation-table.ts';
import type { NamedPlace } from './desired/desired-tree.ts';
import type { LoadBalancerSettings } from './desired/service-options.ts';
import { isOwnChild } from './listener-owner.ts';
import { isLoadBalancer, loadBalancerIn } from './observed-tree.ts';
import { isClaimable } from './predecessor.ts';
import type { ServiceIdentity } from './service-identity.ts';

const PLACES = [
  { kind: 'port', keys: ['portId'] },
  { kind: 'network', keys: ['networkId'] },
  { kind: 'subnet', keys: ['subnetId', 'memberSubnetId'] },
] as const;

/** What the cloud config says is for all. */
export function configuredPlaces({
  loadBalancer,
  loadBalancerClasses,
}: LoadBalancerSettings): ReadonlySet<string | undefined> {
  const all = [loadBalancer, ...loadBalancerClasses.values()];
  const configured = all.flatMap(({ memberSubnetId, networkId, subnetId }) => [memberSubnetId, networkId, subnetId]);
  return new Set(configured.map((id) => id?.toLowerCase()));
}

/** What the cloud config says too needs no leave, and is not among them. */
export function namedPlaces(
  { annotations }: Pick<LoadBalancerService, 'annotations'>,
  settings: LoadBalancerSettings,
): readonly NamedPlace[] {
  const free = configuredPlaces(settings);
  return PLACES.flatMap(({ kind, keys }) => {
    const ids = keys.map((key) => annotations[annotationTable[key].name]?.toLowerCase() ?? '');
    return [...new Set(ids)].filter((id) => isUuid(id) && !free.has(id)).map((id) => ({ kind, id }));
  });
}

/**
 * Those for which the Service needs leave: the VIP of a load balancer that is there stays where it is, and so do its members, whoever may
 * not name that any more.
 */
export function newPlaces(
  named: readonly NamedPlace[],
  parts: readonly LoadBalancerPart[],
  identity: ServiceIdentity,
): readonly NamedPlace[] {
  if (named.length === 0) return named;
  const isOwn = (part: LoadBalancerPart): boolean =>
    part.kind === 'load-balancer' && (sameOwner(part.owner, identity.owner) || isClaimable(part, identity));
  const used = new Set(
    parts.filter(isLoadBalancer).flatMap((part) => {
      const { children, vipSubnetId } = loadBalancerIn(part);
      const listeners = (children?.listeners ?? []).filter((one) => isOwnChild(one, identity, isOwn(part)));
      const members = listeners.flatMap(({ pool }) => pool?.members ?? []).map(({ subnetId }) => subnetId);
      return isOwn(part) ? [vipSubnetId, ...members] : members;
    }),
  );
  const hasOwn = parts.some(isOwn);
  return named.filter(({ id, kind }) => !used.has(id) && (kind === 'subnet' || !hasOwn));
}
