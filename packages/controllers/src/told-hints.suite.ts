/** For tests: hints of changed machines, as the host tells them. */
import type { HintedMachines, InstanceHints } from '@outrigger/cloud-runtime';

export class ToldHints implements InstanceHints {
  readonly #listeners = new Set<(hinted: HintedMachines) => void>();

  subscribe(listener: (hinted: HintedMachines) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  tell({
    all = false,
    names = [],
    ids = [],
  }: {
    all?: boolean;
    names?: readonly string[];
    ids?: readonly string[];
  }): void {
    for (const listener of this.#listeners) listener({ all, names: new Set(names), providerIDs: new Set(ids) });
  }
}
