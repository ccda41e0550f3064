/** Which of the machines that vCenters have shown is a node's. Pure. */
import { CloudError } from '@outrigger/cloud-provider';
import type { MachineList } from '../inventory/vcenter.ts';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import type { AskedMachine } from './asked-machine.ts';
import { referenceText, type MachineReference } from './reference.ts';

/** Machines of one vCenter. */
export class SeenMachines {
  /** `about.instanceUuid`. */
  readonly vcenter: string;
  /** Templates too. */
  readonly all: readonly VirtualMachine[];
  /** What is around them, where it was read with them. */
  readonly surroundings: MachineList['surroundings'];
  readonly #byReference: ReadonlyMap<string, VirtualMachine>;
  readonly #byUuid: ReadonlyMap<string, readonly VirtualMachine[]>;
  readonly #byHostName: ReadonlyMap<string, readonly VirtualMachine[]>;

  constructor(vcenter: string, { machines, surroundings }: Pick<MachineList, 'machines' | 'surroundings'>) {
    this.vcenter = vcenter;
    this.all = machines;
    this.surroundings = surroundings;
    // No node runs on a template.
    const usable = machines.filter(({ isTemplate }) => !isTemplate);
    this.#byReference = new Map(usable.map((one) => [one.reference, one]));
    this.#byUuid = Map.groupBy(this.#byReference.values(), ({ biosUuid = '' }) => biosUuid);
    this.#byHostName = Map.groupBy(this.#byReference.values(), ({ guestHostName = '' }) => guestHostName.toLowerCase());
  }

  /** Those that may be it. */
  of(asked: AskedMachine): readonly VirtualMachine[] {
    if (asked.by === 'name') return this.#byHostName.get(asked.name.toLowerCase()) ?? [];
    if (asked.by !== 'uuid') return [];
    const found = new Set(asked.uuids.flatMap((uuid) => this.#byUuid.get(uuid) ?? []));
    for (const { isNoted, reference, vcenter } of asked.references) {
      const known = vcenter === this.vcenter ? this.#byReference.get(reference) : undefined;
      // Of an inaccessible one, vCenter knows no UUID. Of one that has another, it is another's.
      if (known && known.biosUuid === undefined && !isNoted) found.add(known);
    }
    return [...found];
  }
}

export interface FoundMachine<Where> {
  readonly where: Where;
  readonly machine: VirtualMachine;
}

/**
 * The only one of these, which are by `referenceText`; of several the only one that runs: a replica that waits in another vCenter, or a copy, is
 * off. `undefined`: there is none. A `CloudError`: it cannot be told which, also where the machine is off that the node was seen to be,
 * `seenAt`, and one that runs is beside it in the same vCenter.
 */
export function theOne<Where>(
  nodeName: string,
  candidates: ReadonlyMap<string, FoundMachine<Where>>,
  seenAt: readonly MachineReference[],
): FoundMachine<Where> | CloudError | undefined {
  const all = [...candidates.values()];
  if (all.length < 2) return all[0];
  const on = [...candidates].filter(([, { machine }]) => machine.powerState === 'poweredOn');
  const [at, running] = on.length === 1 ? (on[0] ?? []) : [];
  const isCopy = seenAt.some((one) => {
    const own = candidates.get(referenceText(one))?.machine;
    return own && own !== running?.machine && !isHidden(own) && at?.startsWith(`${one.vcenter}/`);
  });
  if (running && !isCopy) return running;
  const names = all.map(({ machine: { name, reference } }) => `${name} (${reference})`).toSorted();
  const list = `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
  return new CloudError(
    'conflict',
    `node ${nodeName}: ${names.length} machines have its BIOS UUID or its host name: ${list}; give all but one another`,
  );
}

/** A search by UUID may miss it. */
export function isHidden({ biosUuid, connectionState = 'connected' }: VirtualMachine): boolean {
  return biosUuid === undefined || connectionState !== 'connected';
}
