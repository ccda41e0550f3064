/** In which subnets a load balancer is. Pure. */
import { CloudError, quote, type IPFamily } from '@outrigger/cloud-provider';
import { annotationRows } from '../annotations/annotation-rows.ts';
import type { NetworkFacts, SubnetFacts, SubnetLeave } from './network-facts.ts';

export interface SubnetRequest {
  /** IDs, or values of the tag `Name`. Empty: they are to be found. */
  readonly subnets: readonly string[];
  readonly isInternal: boolean;
  readonly families: readonly IPFamily[];
  /** Where it is already: what it has it keeps as long as it may. Default: nowhere. */
  readonly current?: readonly string[] | undefined;
  /** Default: all. */
  readonly leave?: SubnetLeave | undefined;
}

/** AWS makes no load balancer in a subnet with fewer. */
const FREE_ADDRESSES = 8;

/** As named, or by zone; one of a zone. Throws `invalid`, with what to do. */
export function chooseSubnets({ subnets: all }: NetworkFacts, request: SubnetRequest): readonly SubnetFacts[] {
  return request.subnets.length > 0 ? chooseNamed(all, request) : discover(all, request);
}

function chooseNamed(
  all: readonly SubnetFacts[],
  { current = [], families, leave, subnets: names }: SubnetRequest,
): readonly SubnetFacts[] {
  const usable = all.filter(({ id }) => !leave || current.includes(id) || leave.mayUse(id));
  const chosen = names.map((name) => {
    const found = usable.filter((one) => one.id === name || one.name === name);
    const [first, second] = found;
    if (!first && leave) throw leave.refused(name);
    if (!first) refuse(name, 'the VPC of the cluster has no such subnet, by ID or by tag Name');
    if (second) refuse(name, `${found.length} subnets have this name: use an ID`);
    const lacking = families.find((family) => !first.families.includes(family));
    if (lacking !== undefined) refuse(name, `it has no ${lacking} addresses`);
    if (!first.isRegular) refuse(name, `its zone ${first.zone} has no such load balancers`);
    return first;
  });
  for (const [zone, [one, other]] of Map.groupBy(chosen, (subnet) => subnet.zone)) {
    if (one && other) refuse(other.id, `${one.id} is in its zone ${zone} too, and a load balancer has one of a zone`);
  }
  return chosen;
}

function refuse(name: string, why: string): never {
  throw new CloudError('invalid', `annotation ${annotationRows.subnets.name}: ${quote(name)}: ${why}`);
}

/** As cloud-provider-aws, but that what the load balancer has already comes first, and what has room for one before what has none. */
function discover(
  all: readonly SubnetFacts[],
  { current = [], families, isInternal, leave }: SubnetRequest,
): readonly SubnetFacts[] {
  const role = isInternal ? 'internal-elb' : 'elb';
  const usable = all.filter(
    (one) =>
      one.cluster !== 'other' &&
      (one.cluster === 'own' || current.includes(one.id) || isFor(one, leave)) &&
      one.isRegular &&
      (isInternal || one.isPublic) &&
      families.every((family) => one.families.includes(family)),
  );
  const rank = (one: SubnetFacts): readonly boolean[] => [
    current.includes(one.id),
    one.freeAddresses >= FREE_ADDRESSES,
    one.roles.includes(role),
    one.cluster === 'own',
  ];
  const byZone = Map.groupBy(usable, ({ zone }) => zone);
  const best = [...byZone.values()].map((ofZone) => ofZone.toSorted((a, b) => compare(rank(a), rank(b), a, b))[0]);
  const chosen = best
    .filter((one) => one !== undefined)
    .filter((one) => current.includes(one.id) || one.freeAddresses >= FREE_ADDRESSES)
    .toSorted((a, b) => (a.zone < b.zone ? -1 : 1));
  if (chosen.length === 0) throw new CloudError('invalid', nothingFor(all, usable, { isInternal, families }));
  return chosen;
}

/** Set aside for the Service's namespace, or for none. */
const isFor = ({ allowed }: SubnetFacts, leave: SubnetLeave | undefined): boolean =>
  !leave || allowed.length === 0 || ['*', leave.namespace].some((one) => allowed.includes(one));

function compare(
  a: readonly boolean[],
  b: readonly boolean[],
  one: { readonly id: string },
  other: { readonly id: string },
): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  if (at >= 0) return a[at] ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

function nothingFor(
  all: readonly SubnetFacts[],
  usable: readonly SubnetFacts[],
  { families, isInternal }: Pick<SubnetRequest, 'families' | 'isInternal'>,
): string {
  const what = `no subnet of the VPC is fit for ${isInternal ? 'an internal' : 'a public'} load balancer`;
  if (usable.length > 0) return `${what}: each has fewer than ${FREE_ADDRESSES} free addresses`;
  const needs = [
    'the tag kubernetes.io/cluster/<id> of this cluster, or of none and not set aside for other namespaces',
    ...(isInternal ? [] : ['a route to an internet gateway']),
    ...(families.includes('IPv6') ? ['IPv6 addresses'] : []),
  ];
  return `${what}: of ${all.length}, none has all of: ${needs.join('; ')}. Or name them by annotation ${annotationRows.subnets.name}`;
}
