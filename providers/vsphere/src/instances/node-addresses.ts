/**
 * The addresses of a node, out of what VMware Tools report, and why each was taken or dropped. Pure. The rules are those of
 * kubernetes/cloud-provider-vsphere (`DiscoverNode` and `discoverIPs`, pkg/cloudprovider/vsphere/nodemanager.go).
 */
import type { NodeAddress } from '@outrigger/cloud-provider';
import { chooseAddresses, sameNetwork, usableAddresses, type AddressRules } from '@outrigger/provider-kit';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { staticAddresses } from './static-addresses.ts';

export interface NodeAddresses {
  /** The host name first; then for each family InternalIP, ExternalIP. Empty where there is a problem. */
  readonly addresses: readonly NodeAddress[];
  /** Why the node can have no addresses yet. */
  readonly problem?: string;
  /** A sentence for each address that Tools report. */
  readonly notes: readonly string[];
}

/** The node has to have an address of each family. */
export function nodeAddresses({ guestHostName, guestInfo, nics }: VirtualMachine, rules: AddressRules): NodeAddresses {
  if (!guestHostName) return failed('VMware Tools report no host name of the guest yet');
  if (nics.length === 0) return failed('VMware Tools report no network interfaces of the guest yet');
  const { usable, notes } = usableAddresses(
    nics.map(({ addresses, deviceConfigId, network }) => ({
      network,
      addresses,
      ignored: deviceConfigId === -1 ? 'its interface is no network card of the machine (device -1)' : undefined,
    })),
  );
  const { externalNetwork, internalNetwork } = rules;
  const cards = nics.filter(({ deviceConfigId }) => deviceConfigId !== -1);
  if (internalNetwork && externalNetwork) {
    const isThere = cards.some(
      ({ network = '' }) => sameNetwork(network, internalNetwork) || sameNetwork(network, externalNetwork),
    );
    if (!isThere) return failed(`no network card is in the network ${internalNetwork} or ${externalNetwork}`, notes);
  }
  if (usable.length === 0) return failed('no address of its network interfaces can be used', notes);
  const configured = staticAddresses(guestInfo);
  if (typeof configured === 'string') return failed(configured, notes);
  const chosen = chooseAddresses(usable, rules, configured);
  const all = [...notes, ...chosen.notes];
  if (chosen.missing.length > 0)
    return failed(`it has no ${chosen.missing.join(' and no ')} address that can be used`, all);
  return { addresses: [{ type: 'Hostname', address: guestHostName }, ...chosen.addresses], notes: all };
}

function failed(problem: string, notes: readonly string[] = []): NodeAddresses {
  return { addresses: [], problem, notes };
}
