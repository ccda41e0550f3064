/**
 * Changes of one Neutron port, one after the other. A change names the revision that was read, so Services that begin to use the same
 * nodes at once would refuse each other again and again. Entry: `PortTurns`.
 */
import { untilAborted } from '@outrigger/provider-kit';

export class PortTurns {
  /** By the port's ID: resolves when all who have asked so far are through. */
  readonly #through = new Map<string, Promise<void>>();

  /** `change` hears whether it had to wait: what was read before is old then. Rejects as `change` does, or with the signal's reason. */
  async take<T>(portId: string, signal: AbortSignal, change: (waited: boolean) => Promise<T>): Promise<T> {
    const before = this.#through.get(portId);
    const { promise: own, resolve: done } = Promise.withResolvers<void>();
    const through = Promise.all([before, own]).then(() => {
      if (this.#through.get(portId) === through) this.#through.delete(portId);
    });
    this.#through.set(portId, through);
    try {
      if (before) await untilAborted(before, signal);
      return await change(before !== undefined);
    } finally {
      done();
    }
  }
}
