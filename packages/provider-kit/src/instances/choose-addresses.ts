/** Which addresses of a machine's interfaces become those of its node, and why each was taken or dropped. Pure. */
import {
  canonicalIp,
  contains,
  familyOf,
  parseCidr,
  type Cidr,
  type NodeAddress,
  type NodeAddressType,
} from '@outrigger/cloud-provider';

export type IpFamily = 'ipv4' | 'ipv6';

/** A subnet counts more than the name of a network, and that more than the order of the interfaces. */
export interface AddressRules {
  /** The node gets addresses of each, in this order. */
  readonly families: readonly IpFamily[];
  readonly internalSubnets: readonly Cidr[];
  readonly externalSubnets: readonly Cidr[];
  readonly excludedInternalSubnets: readonly Cidr[];
  readonly excludedExternalSubnets: readonly Cidr[];
  /** Compared without regard to case. */
  readonly internalNetwork: string | undefined;
  readonly externalNetwork: string | undefined;
}

/** A network interface, as the cloud or the guest reports it. */
export interface MachineInterface {
  /** Name of its network. */
  readonly network?: string | undefined;
  readonly addresses: readonly string[];
  /** Why none of its addresses counts. Default: they do. */
  readonly ignored?: string | undefined;
}

/** An address that may be a node's. */
export interface UsableAddress {
  /** As it was reported. */
  readonly address: string;
  readonly canonical: string;
  readonly network: string;
}

export interface UsableAddresses {
  readonly usable: readonly UsableAddress[];
  /** A sentence for each that is dropped. */
  readonly notes: readonly string[];
}

/** Loopback and link-local addresses, and what is no address, are dropped. */
export function usableAddresses(interfaces: readonly MachineInterface[]): UsableAddresses {
  const usable: UsableAddress[] = [];
  const notes: string[] = [];
  for (const { addresses, ignored, network = '' } of interfaces) {
    for (const address of addresses) {
      const canonical = canonicalIp(address);
      const why = ignored ?? (canonical === undefined ? 'it is no IP address' : whyLocal(canonical));
      if (why !== undefined) notes.push(`${address} is dropped: ${why}.`);
      else usable.push({ address, canonical: canonical ?? address, network });
    }
  }
  return { usable, notes };
}

export interface ChosenAddresses {
  /** For each family InternalIP, ExternalIP, as far as there are. */
  readonly addresses: readonly NodeAddress[];
  /** Families without an address. */
  readonly missing: readonly IpFamily[];
  /** A sentence for each address, in the order that they were given in. */
  readonly notes: readonly string[];
}

interface Candidate extends UsableAddress {
  readonly reasons: string[];
}

/** `first`: addresses in canonical form that come before all others, in this order. */
export function chooseAddresses(
  usable: readonly UsableAddress[],
  rules: AddressRules,
  first: readonly string[] = [],
): ChosenAddresses {
  const candidates = usable.map((one): Candidate => ({ ...one, reasons: [] }));
  const ranks = new Map([...new Set(first)].map((address, rank) => [address, rank]));
  const rankOf = ({ canonical }: Candidate): number => ranks.get(canonical) ?? ranks.size;
  const ordered = candidates.toSorted((a, b) => rankOf(a) - rankOf(b));
  const addresses: NodeAddress[] = [];
  const missing: IpFamily[] = [];
  for (const family of rules.families) {
    const taken = choose(
      ordered.filter((one) => nameOf(one) === family),
      family,
      rules,
    );
    if (taken.length === 0) missing.push(family);
    for (const one of taken) {
      if (!addresses.some(({ type, address }) => type === one.type && address === one.address)) addresses.push(one);
    }
  }
  const notes = candidates.map((one) => {
    const fallback = rules.families.includes(nameOf(one))
      ? 'is dropped: another address came first'
      : `is dropped: its family is not among ${rules.families.join(', ')}`;
    const network = one.network === '' ? '' : ` in the network ${one.network}`;
    return `${one.address}${network} ${one.reasons.length > 0 ? one.reasons.join(', and ') : fallback}.`;
  });
  return { addresses, missing, notes };
}

export function sameNetwork(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function nameOf({ canonical }: UsableAddress): IpFamily {
  return familyOf(canonical) === 4 ? 'ipv4' : 'ipv6';
}

/** Of one family. */
function choose(candidates: readonly Candidate[], family: IpFamily, rules: AddressRules): readonly NodeAddress[] {
  const sides = [
    {
      type: 'InternalIP' as const,
      subnets: rules.internalSubnets,
      excluded: rules.excludedInternalSubnets,
      network: rules.internalNetwork,
    },
    {
      type: 'ExternalIP' as const,
      subnets: rules.externalSubnets,
      excluded: rules.excludedExternalSubnets,
      network: rules.externalNetwork,
    },
  ].map((side) => ({ ...side, allowed: candidates.filter((one) => isAllowed(one, side.type, side.excluded)) }));
  const chosen = sides.flatMap(({ allowed, network, subnets, type }) => {
    const found = bySubnet(allowed, subnets) ?? byNetwork(allowed, network);
    return found ? [take(found.candidate, type, found.why)] : [];
  });
  if (chosen.length > 0) return chosen;
  // No rule has matched on either side.
  return sides.flatMap(({ allowed: [first], type }) =>
    first ? [take(first, type, `the first ${family} address`)] : [],
  );
}

interface Match {
  readonly candidate: Candidate;
  readonly why: string;
}

/** The order of the subnets counts, then that of the addresses. */
function bySubnet(candidates: readonly Candidate[], subnets: readonly Cidr[]): Match | undefined {
  for (const subnet of subnets) {
    const candidate = candidates.find(({ canonical }) => isIn(canonical, subnet));
    if (candidate) return { candidate, why: `it is in the subnet ${subnet.text}` };
  }
  return undefined;
}

function byNetwork(candidates: readonly Candidate[], network: string | undefined): Match | undefined {
  const candidate = network ? candidates.find((one) => sameNetwork(one.network, network)) : undefined;
  return candidate && { candidate, why: `the first in its network` };
}

function take({ address, reasons }: Candidate, type: NodeAddressType, why: string): NodeAddress {
  reasons.push(`is ${type}: ${why}`);
  return { type, address };
}

function isAllowed({ canonical, reasons }: Candidate, type: NodeAddressType, excluded: readonly Cidr[]): boolean {
  const range = excluded.find((one) => isIn(canonical, one));
  if (range) reasons.push(`cannot be ${type}: ${range.text} is excluded`);
  return range === undefined;
}

function isIn(canonical: string, range: Cidr): boolean {
  const address = parseCidr(`${canonical}/${familyOf(canonical) === 4 ? 32 : 128}`);
  return address !== undefined && contains(range, address);
}

function whyLocal(ip: string): string | undefined {
  if (ip === '0.0.0.0' || ip === '::') return 'it is unspecified';
  if (ip.startsWith('127.') || ip === '::1') return 'it is a loopback address';
  if (ip.startsWith('169.254.') || /^fe[89ab][\da-f]:/.test(ip)) return 'it is link-local';
  if (ip.startsWith('224.0.0.') || /^ff[\da-f]2:/.test(ip)) return 'it is link-local multicast';
  return undefined;
}
