/** The last look at a provider's plan before anything of it is done. Pure. */
import {
  canonicalAddress,
  CloudError,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type DesiredLoadBalancer,
  sameOwner,
  type Owner,
  type PartName,
} from '@outrigger/cloud-provider';

export function isOwnedBy(part: LoadBalancerPart, owner: Owner): boolean {
  return sameOwner(part.owner, owner);
}

export function isNamed(part: PartName, { id, kind }: PartName): boolean {
  return part.id === id && part.kind === kind;
}

/**
 * Throws a `CloudError` for a plan that touches what this Service cannot prove to own or to be free for it (`not-owned`), or that
 * names what was not observed (`invalid`): a mistake of a provider must not cost anybody a load balancer. The message becomes an
 * Event on the Service: of what is another's it says no ID.
 */
export function checkPlan(
  plan: LoadBalancerPlan,
  desired: DesiredLoadBalancer,
  parts: readonly LoadBalancerPart[],
): void {
  const { owner, wanted } = desired;
  for (const { ends = [], kind, part: kindOfPart, id, touches = [] } of plan.actions) {
    for (const name of ends) if (!isOwnedBy(observed(parts, name.kind, name.id), owner)) throw notOwned(name);
    for (const name of touches) checkTouch(name, desired);
    if (kind === 'create') {
      if (!wanted)
        throw new CloudError(
          'invalid',
          `the provider planned to create ${kindOfPart} while the load balancer is being deleted`,
        );
      continue;
    }
    const part = observed(parts, kindOfPart, id);
    if (kind === 'claim' ? part.owner !== undefined : !isOwnedBy(part, owner)) throw notOwned(part);
  }
  checkAddresses(plan, owner, parts);
}

function observed(parts: readonly LoadBalancerPart[], kind: string, id: string | undefined): LoadBalancerPart {
  const part = id === undefined ? undefined : parts.find((one) => isNamed(one, { kind, id }));
  if (!part)
    throw new CloudError(
      'invalid',
      `the provider planned a change of ${kind} ${id}, which it had not reported as existing`,
    );
  return part;
}

function notOwned({ id, kind }: PartName): CloudError {
  return new CloudError('not-owned', `${kind} ${id} is not known to belong to this Service, and is not changed`);
}

/** Of things that have the same name each has to be allowed. */
function checkTouch(name: PartName, { others = [] }: DesiredLoadBalancer): void {
  const things = others.filter((one) => isNamed(one, name));
  if (things.length === 0) {
    throw new CloudError(
      'invalid',
      `the provider planned a change of a ${name.kind} that is not part of the Service and that it had not reported as existing`,
    );
  }
  if (things.every(({ mayUse }) => mayUse)) return;
  const text = `this Service is not known to be allowed to use the ${name.kind} that it requests, or that is attached to what it requests; nothing is changed`;
  throw new CloudError('not-owned', text, { cause: new Error(`${name.kind} ${name.id}`) });
}

/** An address in a status draws the traffic of every node to it: it gets none that the cloud does not show as this Service's. */
function checkAddresses({ ingress }: LoadBalancerPlan, owner: Owner, parts: readonly LoadBalancerPart[]): void {
  const said = ingress.flatMap(({ ip }) => (ip ? [ip] : []));
  if (said.length === 0) return;
  const own = parts.filter((part) => isOwnedBy(part, owner));
  if (own.length === 0)
    throw new CloudError('not-owned', 'the provider reported an address, but no part that belongs to the Service');
  const shown = addressesIn(own);
  if (said.every((ip) => shown.has(canonicalAddress(ip)))) return;
  throw new CloudError(
    'not-owned',
    'the provider reported an address that does not belong to this Service in the cloud',
  );
}

/** In canonical form. */
export const addressesIn = (parts: readonly LoadBalancerPart[]): ReadonlySet<string> =>
  new Set(parts.flatMap(({ addresses = [] }) => addresses).map(canonicalAddress));
