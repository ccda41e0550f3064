/** Where the machines of nodes were seen by this process, by their BIOS UUID. */
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { referenceText, type MachineReference } from './reference.ts';

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
    const at = { vcenter, reference };
    this.#byUuid.set(biosUuid, { at, names });
    this.#uuidAt.set(referenceText(at), biosUuid);
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
  uuidAt(at: MachineReference): string | undefined {
    return this.#uuidAt.get(referenceText(at));
  }

  #forget(uuid: string): void {
    const seen = this.#byUuid.get(uuid);
    if (!seen) return;
    this.#byUuid.delete(uuid);
    this.#uuidAt.delete(referenceText(seen.at));
  }
}
