/**
 * When a machine is gone, and not only out of sight: on this a node is deleted. Each vCenter has found none by its UUID already; what is left
 * to exclude is that vCenter has lost its configuration, that the account has lost its rights, and that these are other vCenters. Anything else is
 * unknown: it is thrown, and says what to do.
 */
import { CloudError, isCloudError, type CallContext, type NodeRef } from '@outrigger/cloud-provider';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import type { AskedMachine } from './asked-machine.ts';
import { isHidden } from './found-machine.ts';
import type { KnownVcenter } from './known-vcenter.ts';
import { referenceText, type MachineReference } from './reference.ts';

export interface GoneQuestion {
  readonly node: NodeRef;
  readonly asked: Extract<AskedMachine, { by: 'uuid' }>;
  readonly vcenters: readonly KnownVcenter[];
  /** Names under which it was seen, beside the node's. */
  readonly names: readonly string[];
}

/** The proof, in words; or a machine that may be it, which is there. */
export async function proveAbsence(question: GoneQuestion, call: CallContext): Promise<string | VirtualMachine> {
  const { asked, node, vcenters } = question;
  const [uuid = ''] = asked.uuids;
  if (asked.references.length === 0) {
    throw new CloudError(
      'conflict',
      `node ${node.name}: no vCenter has a machine with the BIOS UUID ${uuid}, and where it was is not known, so that it may be inaccessible or hidden by permissions; if it is gone, delete the node`,
    );
  }
  const gone: string[] = [];
  for (const reference of asked.references) {
    // Several sections may name one vCenter, or one and its copy.
    const homes = vcenters.filter(({ knownIdentity }) => knownIdentity === reference.vcenter);
    if (homes.length === 0) {
      throw new CloudError(
        'configuration',
        `node ${node.name}: its machine ${reference.reference} was in the vCenter ${reference.vcenter}, which is not among those of the cloud config (or has not answered yet)`,
      );
    }
    for (const home of homes) {
      const machine = await readDirectly(home, reference.reference, node, call);
      if (machine !== 'gone') return mayBeIt(machine, reference, question);
    }
    gone.push(referenceText(reference));
  }
  await Promise.all(vcenters.map((vcenter) => excludeHidden(vcenter, question, call)));
  // Last: whatever was said before was said by these.
  await Promise.all(vcenters.map((vcenter) => vcenter.confirmIdentity(call)));
  const none = vcenters.length === 1 ? 'the vCenter has no' : `none of the ${vcenters.length} vCenters has a`;
  return `${none} machine with the BIOS UUID ${uuid} in either byte order, and ${gone.join(' and ')} is ManagedObjectNotFound`;
}

async function readDirectly(
  { api }: KnownVcenter,
  reference: string,
  node: NodeRef,
  call: CallContext,
): Promise<VirtualMachine | 'gone'> {
  try {
    return await api.machine(reference, call);
  } catch (error) {
    if (!isCloudError(error, 'forbidden')) throw error;
    const message = `node ${node.name}: its machine ${reference} of the vCenter ${api.address} may not be read: grant the account System.Read there; ${error.message}`;
    throw new CloudError('forbidden', message, { cause: error });
  }
}

/** The reference is not used again: what has it is the machine, unless it was given another UUID. */
function mayBeIt(
  machine: VirtualMachine,
  { isNoted }: MachineReference,
  { asked, node }: GoneQuestion,
): VirtualMachine {
  if (machine.biosUuid === undefined && isNoted) throw hiddenMachine(node, machine);
  if (machine.biosUuid === undefined || asked.uuids.includes(machine.biosUuid)) return machine;
  throw new CloudError(
    'conflict',
    `node ${node.name}: its machine ${machine.name} (${machine.reference}) has the BIOS UUID ${machine.biosUuid} now; delete the node, so that it registers again`,
  );
}

async function excludeHidden(
  vcenter: KnownVcenter,
  { asked, names, node }: GoneQuestion,
  call: CallContext,
): Promise<void> {
  const { machines, withheld } = await vcenter.allMachines(call);
  // It has come while others were asked: from another vCenter, or registered anew.
  const moved = machines.find(({ biosUuid }) => biosUuid !== undefined && asked.uuids.includes(biosUuid));
  if (moved) {
    throw new CloudError(
      'unavailable',
      `node ${node.name}: the search by its BIOS UUID found no machine, and the list of the vCenter ${vcenter.api.address} has ${moved.name} (${moved.reference}) with it; it is asked again`,
    );
  }
  const [first] = withheld.filter(({ fault }) => !/ManagedObjectNotFound/u.test(fault));
  if (first) {
    throw new CloudError(
      'forbidden',
      `node ${node.name}: the vCenter ${vcenter.api.address} withholds ${first.reference} (${first.fault}), which may be its machine: grant the account System.Read there, or delete the node if its machine is gone`,
    );
  }
  const known = new Set([node.name, ...names].flatMap(withHostPart));
  const hidden = machines.find((machine) => isHidden(machine) && namesOf(machine).some((name) => known.has(name)));
  if (hidden) throw hiddenMachine(node, hidden);
}

function hiddenMachine(node: NodeRef, { connectionState, name, reference }: VirtualMachine): CloudError {
  return new CloudError(
    'conflict',
    `node ${node.name}: the machine ${name} (${reference}) is ${connectionState ?? 'unknown to its vCenter'} and may be its machine; repair it, or remove it from the inventory if it is gone`,
  );
}

/** Of what vCenter has lost, the name is the path of its file. */
function namesOf({ guestHostName, name }: VirtualMachine): readonly string[] {
  const parts = name.split(/[/\\]|%2f/iu).map((part) => part.replace(/\.vmx$/iu, ''));
  return [name, ...parts, ...(guestHostName ? [guestHostName] : [])].flatMap(withHostPart);
}

/** Many nodes are called `worker-1.example.com`, and their machines `worker-1`. */
function withHostPart(name: string): readonly string[] {
  const [host = ''] = name.toLowerCase().split('.');
  return [name.toLowerCase(), ...(host === '' ? [] : [host])];
}
