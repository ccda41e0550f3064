/** Nodes of one machine, by their provider IDs: only one of them can be it. */
import type { Node } from '@outrigger/kube';

export class Twins {
  /** Of nodes, by machine. */
  readonly #names = new Map<string, Set<string>>();
  readonly #known = new Map<string, { readonly id: string; readonly machine: string }>();
  readonly #machineOf: (providerID: string) => string;

  /** `machineOf`: the same text for each form of the provider ID of a machine. Default: an ID has one form. */
  constructor(machineOf: (providerID: string) => string = (providerID) => providerID) {
    this.#machineOf = machineOf;
  }

  /** Runs for each heartbeat. `undefined`: the node is gone. */
  note(name: string, node: Node | undefined): void {
    const id = node?.spec?.providerID || undefined;
    const before = this.#known.get(name);
    if (before?.id === id) return;
    if (before !== undefined) {
      const names = this.#names.get(before.machine);
      names?.delete(name);
      if (names?.size === 0) this.#names.delete(before.machine);
      this.#known.delete(name);
    }
    if (id === undefined) return;
    const machine = this.#machineOf(id);
    this.#known.set(name, { id, machine });
    this.#names.set(machine, (this.#names.get(machine) ?? new Set()).add(name));
  }

  /** Names of the nodes of the machines that have these IDs. */
  of(providerIDs: readonly string[]): readonly string[] {
    return [...new Set(providerIDs.flatMap((id) => [...(this.#names.get(this.#machineOf(id)) ?? [])]))];
  }
}

export function twinsOf(node: Node, others: readonly Node[]): readonly Node[] {
  return others.filter(({ metadata }) => metadata?.uid !== node.metadata?.uid && !metadata?.deletionTimestamp);
}

/** Of those who have the same machine, the oldest stays: it is who had it before. One that is going does not count. */
export function olderTwin(node: Node, others: readonly Node[]): Node | undefined {
  return twinsOf(node, others)
    .filter((one) => isOlder(one, node))
    .toSorted((a, b) => (isOlder(a, b) ? -1 : 1))[0];
}

/** Seconds are all that the API server writes: of two of one second the UID decides, so that everybody takes the same. */
function isOlder({ metadata: a }: Node, { metadata: b }: Node): boolean {
  const [one, other] = [Date.parse(a?.creationTimestamp ?? ''), Date.parse(b?.creationTimestamp ?? '')];
  return one === other ? (a?.uid ?? '') < (b?.uid ?? '') : one < other;
}
