/** Nodes that have one provider ID: only one of them can be the machine. */
import type { Node } from '@outrigger/kube';

export class Twins {
  readonly #names = new Map<string, Set<string>>();
  readonly #idOf = new Map<string, string>();

  /** Runs for each heartbeat. `undefined`: the node is gone. */
  note(name: string, node: Node | undefined): void {
    const id = node?.spec?.providerID || undefined;
    const before = this.#idOf.get(name);
    if (before === id) return;
    if (before !== undefined) {
      const names = this.#names.get(before);
      names?.delete(name);
      if (names?.size === 0) this.#names.delete(before);
      this.#idOf.delete(name);
    }
    if (id === undefined) return;
    this.#idOf.set(name, id);
    this.#names.set(id, (this.#names.get(id) ?? new Set()).add(name));
  }

  /** Names of the nodes that have one of these IDs. */
  of(providerIDs: readonly string[]): readonly string[] {
    return [...new Set(providerIDs.flatMap((id) => [...(this.#names.get(id) ?? [])]))];
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
