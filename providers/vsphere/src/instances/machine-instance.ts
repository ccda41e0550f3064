/** A machine as an instance of the contract. Pure. */
import {
  CloudError,
  type Instance,
  type InstanceAnswer,
  type InstanceMaintenance,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { AddressRules } from '@outrigger/provider-kit';
import type { InventoryObject } from '../inventory/vcenter.ts';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { providerIDOf } from './bios-uuid.ts';
import { instanceTypeOf } from './instance-type.ts';
import { nodeAddresses } from './node-addresses.ts';
import { REFERENCE_ANNOTATION, referenceText } from './reference.ts';
import type { Zone } from './zones.ts';

/** Tools need some seconds after the start of the guest; nothing else says when they are up. */
const ASK_AGAIN_MS = 5_000;

/** Only what is certainly off: of a machine that its host does not show, vCenter gives the last that it knew. */
function stateOf({ connectionState = 'connected', powerState }: VirtualMachine): Instance['state'] {
  const isOff = powerState === 'poweredOff' || powerState === 'suspended';
  return isOff && connectionState === 'connected' ? 'shutdown' : 'running';
}

/** A node keeps the provider ID that it has. */
function idAndState(
  node: NodeRef,
  machine: VirtualMachine,
  providerName: string,
): Pick<Instance, 'providerID' | 'state'> {
  return { providerID: node.providerID || providerIDOf(machine.biosUuid ?? '', providerName), state: stateOf(machine) };
}

export interface MetadataOptions {
  readonly providerName: string;
  /** Of the vCenter in which it is. */
  readonly vcenter: string;
  readonly rules: AddressRules;
  /** Tags were looked for: `undefined` where there are not both. */
  readonly zone?: { readonly found: Zone | undefined } | undefined;
  /** Where it is in maintenance. */
  readonly host?: InventoryObject | undefined;
}

export type Told = Pick<InstanceAnswer, 'result' | 'notes'>;

export function foundState(node: NodeRef, machine: VirtualMachine, providerName: string): Told {
  return { result: { kind: 'found', instance: idAndState(node, machine, providerName) } };
}

/**
 * With all metadata. A node that has no provider ID yet has to wait for its addresses and its zone, as upstream has it; one that has keeps what it
 * has of what is not known now.
 */
export function foundMetadata(node: NodeRef, machine: VirtualMachine, options: MetadataOptions): Told {
  const { host, providerName, rules, vcenter, zone } = options;
  const { addresses, notes, problem } = nodeAddresses(machine, rules);
  const name = `machine ${machine.name} (${machine.reference}) of node ${node.name}`;
  const problems = [
    ...(problem === undefined ? [] : [problem]),
    ...(zone && !zone.found
      ? [
          'neither its host, its resource pool nor its folders, nor what these are in, have tags of both categories of labels',
        ]
      : []),
  ];
  const told = [...notes, ...problems.map((one) => `${capital(one)}.`)];
  if (problems.length > 0 && !node.providerID) {
    const error = new CloudError('retry-after', `${name}: ${problems.join('; ')}`, { retryAfterMs: ASK_AGAIN_MS });
    return { result: { kind: 'failed', error }, notes: told };
  }
  const instance: Instance = {
    ...idAndState(node, machine, providerName),
    ...(isCalledAs(machine, node) && { name: machine.name }),
    // Of an inaccessible machine nothing is known.
    ...(machine.cpus !== undefined && { type: instanceTypeOf(machine) }),
    ...zone?.found,
    ...(addresses.length > 0 && { addresses, addressesBy: 'guest' as const }),
    ...(host && { maintenance: maintenanceOf(host) }),
    annotations: { [REFERENCE_ANNOTATION]: referenceText({ vcenter, reference: machine.reference }) },
  };
  return { result: { kind: 'found', instance }, notes: told };
}

/** In vCenter, which the guest does not choose: as the node, in any case, or with a domain behind it. */
function isCalledAs(machine: VirtualMachine, node: NodeRef): boolean {
  return `${machine.name.toLowerCase()}.`.startsWith(`${node.name}.`);
}

/** Machines have to leave the host; what is still there when it is in maintenance does not run. */
function maintenanceOf({ maintenance }: InventoryObject): InstanceMaintenance {
  return maintenance === 'entering'
    ? { state: 'planned', reason: 'its host enters maintenance mode' }
    : { state: 'in-progress', reason: 'its host is in maintenance mode' };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
