/**
 * What a Service names, or has on its way, and that is no part of its own: whom the cloud shows it to be for. Pure. The administrator of
 * the cloud sets a thing aside for a namespace by a tag on it; all of a project is by `allow-all-named-resources`.
 */
import { CloudError, type ForeignThing, type JudgedThing } from '@outrigger/cloud-provider';
import type { WireFloatingIP } from './neutron-wire.ts';
import type { WireLoadBalancer } from './octavia-wire.ts';
import { markOf, ownersIn } from './ownership.ts';
import { namespaceInName } from './listener-owner.ts';

const GRANT = 'outrigger-namespace=';
const ALL: readonly string[] = ['*'];

export type ThingKind = 'floating-ip' | 'load-balancer' | 'port' | 'network' | 'subnet';

export const grantedIn = (tags: readonly string[]): readonly string[] =>
  tags.filter((tag) => tag.startsWith(GRANT)).map((tag) => tag.slice(GRANT.length));

/** CPO's words and ours on a floating IP that was made for a Service, and on one that was kept after it. */
const MADE_FOR =
  /^Floating IP (?:for Kubernetes external service|kept from Kubernetes service) ([^\s/]+)\/\S+ (?:of|from) cluster (\S+)/u;

function namespaceInDescription(description: string, clusters: readonly string[]): string | undefined {
  const [, namespace, cluster = ''] = MADE_FOR.exec(description) ?? [];
  return clusters.includes(cluster) ? namespace : undefined;
}

interface Around {
  /** This cluster's names: what is told from names and descriptions is of no other. */
  readonly clusters: readonly string[];
  readonly allowsAll: boolean;
}

/** The load balancer that a Service names. One whose owner has left it to those who share it is for nobody else. */
export function foreignLoadBalancer(
  { id, name, tags = [] }: WireLoadBalancer,
  { allowsAll, clusters }: Around,
): ForeignThing {
  const { owner, taken } = ownersIn(tags);
  const ownerNamespace = namespaceInName(name, clusters);
  const isNobodys = !taken && ownerNamespace === undefined;
  return {
    kind: 'load-balancer' satisfies ThingKind,
    id,
    ...(owner && { owner }),
    ...((owner || !taken) && ownerNamespace !== undefined && { ownerNamespace }),
    allowed: [...(taken && !owner ? [] : grantedIn(tags)), ...(isNobodys && allowsAll ? ALL : [])],
  };
}

/**
 * `servedAt`: the addresses in the Service's status, which nobody but the program and administrators write, and its namespace. A Service may keep
 * one there for longer than it has it, so that it says nothing of what is for others by now.
 */
export function foreignFloatingIP(
  { description = '', floating_ip_address: address, id, tags = [] }: WireFloatingIP,
  servedAt: { readonly namespace: string; readonly addresses: readonly (string | undefined)[] },
  { allowsAll, clusters }: Around,
): ForeignThing {
  const mark = markOf(description, tags);
  const kind: ThingKind = 'floating-ip';
  // Another Service's, which its own deletion alone lets go of.
  if (mark) return { kind, id, allowed: [] };
  const namespace = namespaceInDescription(description, clusters);
  const named = [...grantedIn(tags), ...(namespace === undefined ? [] : [namespace])];
  const served = named.length === 0 && servedAt.addresses.includes(address) ? [servedAt.namespace] : [];
  const allowed = new Set([...named, ...served, ...(allowsAll ? ALL : [])]);
  return { kind, id, allowed: [...allowed] };
}

export const thingOf = (
  others: readonly JudgedThing[] | undefined,
  kind: ThingKind,
  id: string | undefined,
): JudgedThing | undefined => others?.find((one) => one.kind === kind && one.id === id);

/** One text for what is not there, is in use, or is another's: who asks may not find out which. */
export function notForThis(what: string, namespace: string): CloudError {
  const text = `${what} does not exist, or may not be used by Services of the namespace ${namespace}; choose another, or have the administrator of the cloud allow it with the tag ${GRANT}${namespace}`;
  return new CloudError('not-owned', text);
}
