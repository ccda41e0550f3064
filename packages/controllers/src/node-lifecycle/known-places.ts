/**
 * In which place (account, project, vCenter) the machines of the nodes were found. In another one, all of them seem to be gone.
 * A provider names the place in its answers; one that does not cannot prove it.
 */
import type { NodeRef } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';

export class KnownPlaces {
  /** By UID: where the machine was found last. */
  readonly #byNode = new Map<string, string>();
  /** Where any machine of the cluster was found, or where the cloud remembers one. */
  readonly #own = new Set<string>();
  /** By place, or `undefined` where the provider names none: `asOf` of the last answer that had a machine. */
  readonly #foundAsOf = new Map<string | undefined, number>();

  /** Only what was asked for by its provider ID: in another place, another machine may have the name. */
  learn(node: NodeRef, { asOf, place, result }: DatedAnswer): void {
    if (node.providerID === undefined) return;
    if (result.kind === 'found') {
      this.#foundAsOf.set(place, Math.max(asOf, this.#foundAsOf.get(place) ?? asOf));
      if (place !== undefined) this.#byNode.set(node.uid, place);
    }
    const proves = result.kind === 'found' || (result.kind === 'absent' && result.wasHere === true);
    if (place !== undefined && proves) this.#own.add(place);
  }

  forget(uid: string): void {
    this.#byNode.delete(uid);
  }

  /** `clock.monotonic()` from before the last request to this place which found a machine of the cluster. */
  foundAsOf(place: string | undefined): number | undefined {
    return this.#foundAsOf.get(place);
  }

  /** Whether the node's machine was in this place; of one that was never found, whether any of the cluster's was. */
  isOwn(uid: string, place: string | undefined): boolean {
    if (place === undefined) return false;
    const known = this.#byNode.get(uid);
    return known === undefined ? this.#own.has(place) : known === place;
  }
}
