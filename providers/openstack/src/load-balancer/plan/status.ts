/** What the Service's status and annotations say of a load balancer. Pure. */
import type { LoadBalancerIngress, LoadBalancerPart, LoadBalancerWarning } from '@outrigger/cloud-provider';
import { familyIn } from '../desired/address-families.ts';
import { annotationTable } from '../desired/annotation-table.ts';
import type { StatusWish } from '../desired/desired-tree.ts';
import { isOwnChild } from '../listener-owner.ts';
import {
  loadBalancerIn,
  type ObservedListener,
  type ObservedLoadBalancer,
  type ObservedPool,
} from '../observed-tree.ts';
import type { ServiceIdentity } from '../service-identity.ts';
import { isNeverGone } from './diff.ts';

/** `address`: the floating IP, or the VIP. */
export function ingressOf(
  { hostname, hostnameSuffix, ipMode }: StatusWish,
  address: string | undefined,
  { additionalVips, vipAddress }: ObservedLoadBalancer,
): readonly LoadBalancerIngress[] {
  if (address === undefined) return [];
  if (hostname !== undefined) return [{ hostname }];
  // A floating IP stands for the VIP of its family; the other one is reached as it is.
  const vips = [vipAddress ?? address, ...additionalVips.map((one) => one.address)];
  const addresses = vips.map((one) => (familyIn(one) === familyIn(address) ? address : one));
  return addresses.map((one) =>
    hostnameSuffix === undefined ? { ip: one, ipMode } : { hostname: `${one}.${hostnameSuffix}` },
  );
}

/** Where CPO looks for its load balancer, should the Service go back to it. */
export function servedAnnotations(id: string, address: string): Readonly<Record<string, string>> {
  return { [annotationTable.loadBalancerId.name]: id, [addressAnnotation]: address };
}

/** Written by the program alone: a Service that has it was served. */
export const addressAnnotation: string = annotationTable.loadBalancerAddress.name;

/** Nothing but Octavia itself, or its operator, can end it: others go on meanwhile. */
export function lateWarnings(parts: readonly LoadBalancerPart[]): readonly LoadBalancerWarning[] {
  return parts
    .map(loadBalancerIn)
    .filter(({ late, status }) => late === 'rebuild' && status !== 'ERROR')
    .map(({ id, status }) => ({
      reason: 'LoadBalancerStuck',
      message: `The load balancer ${id} has been ${status} for minutes: Octavia takes no change of it until that ends`,
    }));
}

/** One for all of the Service's own that is in ERROR below its load balancer, or one that it shares. */
export function errorsBelow(part: LoadBalancerPart, identity: ServiceIdentity): readonly LoadBalancerWarning[] {
  const { children, id } = loadBalancerIn(part);
  const { listeners = [], loosePools = [] } = children ?? {};
  const isOurs = (one: ObservedListener | ObservedPool): boolean =>
    isOwnChild(one, identity, part.kind === 'load-balancer');
  const loose = loosePools.filter((one) => one.status === 'ERROR' && isOurs(one)).map(({ name }) => `the pool ${name}`);
  const failed = [...listeners.filter(isOurs).flatMap(failedBelow), ...loose];
  const [first] = failed;
  const stuck = [...listeners, ...loosePools].some((one) => isNeverGone(one) && isOurs(one)) ? [stuckWarning(id)] : [];
  if (first === undefined) return stuck;
  const others = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
  const message = `Octavia says that ${first}${others} of the load balancer ${id} is in ERROR: a change of it failed. It is retried, ever more seldom; if this lasts, ask the operator of Octavia`;
  return [...stuck, { reason: 'LoadBalancerChildInError', message }];
}

const stuckWarning = (id: string): LoadBalancerWarning => ({
  reason: 'LoadBalancerStuck',
  message: `A listener or pool of the load balancer ${id} has been PENDING_DELETE for minutes: Octavia does not end its removal. All else is changed as usual`,
});

function failedBelow({ pool, port, protocol, status }: ObservedListener): readonly string[] {
  const at = `${protocol} ${port}`;
  return [
    ...(status === 'ERROR' ? [`the listener ${at}`] : []),
    ...(pool?.status === 'ERROR' ? [`the pool of ${at}`] : []),
    ...(pool?.members.some((one) => one.status === 'ERROR') ? [`a member of ${at}`] : []),
    ...(pool?.monitor?.status === 'ERROR' ? [`the health monitor of ${at}`] : []),
  ];
}
