/** Where the machines of nodes were seen by this process, by their BIOS UUID. */
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import type { MachineReference } from './reference.ts';

interface Seen {
  readonly at: MachineReference;
  readonly names: readonly string[];
}

/** More than any cluster has; the oldest are forgotten. */
const MOST = 50_000;

export class RememberedMachines {
  readonly #byUuid = new Map<string, Seen>();
  readonly #uuidAt = new Map<string, string>();

  note(vcenter: string, { biosUuid, guestHostName, name, reference }: VirtualMachine): void {
    if (biosUuid === undefined) return;
    this.#forget(biosUuid);
    const names = guestHostName === undefined || guestHostName === name ? [name] : [name, guestHostName];
    this.#byUuid.set(biosUuid, { at: { vcenter, reference }, names });
    this.#uuidAt.set(`${vcenter}/${reference}`, biosUuid);
    const [oldest] = this.#byUuid.size > MOST ? this.#byUuid.keys() : [];
    if (oldest !== undefined) this.#forget(oldest);
  }

  references(uuids: readonly string[]): readonly MachineReference[] {
    return uuids.flatMap((uuid) => this.#byUuid.get(uuid)?.at ?? []);
  }

  names(uuids: readonly string[]): readonly string[] {
    return uuids.flatMap((uuid) => this.#byUuid.get(uuid)?.names ?? []);
  }

  /** Of the machine that was seen there. */
  uuidAt({ reference, vcenter }: MachineReference): string | undefined {
    return this.#uuidAt.get(`${vcenter}/${reference}`);
  }

  #forget(uuid: string): void {
    const seen = this.#byUuid.get(uuid);
    if (!seen) return;
    this.#byUuid.delete(uuid);
    this.#uuidAt.delete(`${seen.at.vcenter}/${seen.at.reference}`);
  }
}
