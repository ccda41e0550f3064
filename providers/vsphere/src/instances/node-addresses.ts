/**
 * The addresses of a node, out of what VMware Tools report, and why each was taken or dropped. Pure. The rules are those of
 * kubernetes/cloud-provider-vsphere (`DiscoverNode` and `discoverIPs`, pkg/cloudprovider/vsphere/nodemanager.go).
 */
import {
  canonicalIp,
  contains,
  familyOf,
  parseCidr,
  type Cidr,
  type NodeAddress,
  type NodeAddressType,
} from '@outrigger/cloud-provider';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { staticAddresses } from './static-addresses.ts';

export type IpFamily = 'ipv4' | 'ipv6';

/** Which addresses a node gets. A subnet counts more than the name of a network, and that more than the order of the interfaces. */
export interface AddressRules {
  /** The node has to have an address of each. */
  readonly families: readonly IpFamily[];
  readonly internalSubnets: readonly Cidr[];
  readonly externalSubnets: readonly Cidr[];
  readonly excludedInternalSubnets: readonly Cidr[];
  readonly excludedExternalSubnets: readonly Cidr[];
  /** Compared without regard to case. */
  readonly internalNetwork: string | undefined;
  readonly externalNetwork: string | undefined;
}

export interface ChosenAddresses {
  /** The host name first; then for each family InternalIP, ExternalIP. Empty where there is a problem. */
  readonly addresses: readonly NodeAddress[];
  /** Why the node can have no addresses yet. */
  readonly problem?: string;
  /** A sentence for each address that Tools report. */
  readonly notes: readonly string[];
}

interface Candidate {
  /** As Tools write it. */
  readonly address: string;
  readonly canonical: string;
  readonly network: string;
  readonly reasons: string[];
}

const NO_ADDRESS = 'no address of its network interfaces can be used';

export function nodeAddresses(machine: VirtualMachine, rules: AddressRules): ChosenAddresses {
  const { guestHostName, nics } = machine;
  const notes: string[] = [];
  const failed = (problem: string): ChosenAddresses => ({ addresses: [], problem, notes });
  if (!guestHostName) return failed('VMware Tools report no host name of the guest yet');
  if (nics.length === 0) return failed('VMware Tools report no network interfaces of the guest yet');

  const candidates: Candidate[] = [];
  for (const { addresses, deviceConfigId, network = '' } of nics) {
    for (const address of addresses) {
      const canonical = canonicalIp(address);
      const why =
        deviceConfigId === -1
          ? 'its interface is no network card of the machine (device -1)'
          : canonical === undefined
            ? 'it is no IP address'
            : whyLocal(canonical);
      if (why !== undefined) notes.push(`${address} is dropped: ${why}.`);
      else candidates.push({ address, canonical: canonical ?? address, network, reasons: [] });
    }
  }
  const { externalNetwork, internalNetwork } = rules;
  const cards = nics.filter(({ deviceConfigId }) => deviceConfigId !== -1);
  if (internalNetwork && externalNetwork) {
    const isThere = cards.some(
      ({ network = '' }) => sameName(network, internalNetwork) || sameName(network, externalNetwork),
    );
    if (!isThere) return failed(`no network card is in the network ${internalNetwork} or ${externalNetwork}`);
  }
  if (candidates.length === 0) return failed(NO_ADDRESS);

  const ordered = staticFirst(candidates, machine);
  if (typeof ordered === 'string') return failed(ordered);
  const addresses: NodeAddress[] = [{ type: 'Hostname', address: guestHostName }];
  const missing: IpFamily[] = [];
  for (const family of rules.families) {
    const ofFamily = ordered.filter(({ canonical }) => familyOf(canonical) === (family === 'ipv4' ? 4 : 6));
    const taken = choose(ofFamily, family, rules);
    if (taken.length === 0) missing.push(family);
    for (const one of taken) {
      if (!addresses.some(({ type, address }) => type === one.type && address === one.address)) addresses.push(one);
    }
  }
  for (const { address, canonical, network, reasons } of candidates) {
    const isWanted = rules.families.includes(familyOf(canonical) === 4 ? 'ipv4' : 'ipv6');
    const fallback = isWanted
      ? 'is dropped: another address came first'
      : `is dropped: its family is not among ${rules.families.join(', ')}`;
    notes.push(
      `${address}${network === '' ? '' : ` in the network ${network}`} ${reasons.length > 0 ? reasons.join(', and ') : fallback}.`,
    );
  }
  if (missing.length > 0) return failed(`it has no ${missing.join(' and no ')} address that can be used`);
  return { addresses, notes };
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
  const candidate = network ? candidates.find((one) => sameName(one.network, network)) : undefined;
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

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Those that the machine was configured with come first, in the order of its configuration. `string`: why it cannot be read. */
function staticFirst(candidates: readonly Candidate[], { guestInfo }: VirtualMachine): readonly Candidate[] | string {
  const configured = staticAddresses(guestInfo);
  if (typeof configured === 'string') return configured;
  const rank = ({ canonical }: Candidate): number => {
    const at = configured.indexOf(canonical);
    return at < 0 ? configured.length : at;
  };
  return candidates.toSorted((a, b) => rank(a) - rank(b));
}

/** Upstream: `ErrOnLocalOnlyIPAddr`. */
function whyLocal(ip: string): string | undefined {
  if (ip === '0.0.0.0' || ip === '::') return 'it is unspecified';
  if (ip.startsWith('127.') || ip === '::1') return 'it is a loopback address';
  if (ip.startsWith('169.254.') || /^fe[89ab][\da-f]:/.test(ip)) return 'it is link-local';
  if (ip.startsWith('224.0.0.') || /^ff[\da-f]2:/.test(ip)) return 'it is link-local multicast';
  return undefined;
}
