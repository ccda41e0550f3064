/** Hints of all vCenters as one stream. One that fails is followed again after a pause, beside the others. */
import { asError, type CallContext, type Clock, type InstanceHint } from '@outrigger/cloud-provider';
import type { InventoryChange } from '../inventory/vcenter.ts';
import type { KnownVcenter } from './known-vcenter.ts';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;
const MOST_WAITING = 10_000;

export interface MachineChangesOptions {
  readonly vcenters: readonly KnownVcenter[];
  readonly clock: Clock;
  /** The hint that a change is; `undefined` for a machine that is no node's. */
  readonly hintOf: (vcenter: KnownVcenter, change: InventoryChange) => InstanceHint | undefined;
}

/** Ends with `call.signal`. */
export async function* machineChanges(
  { clock, hintOf, vcenters }: MachineChangesOptions,
  call: CallContext,
): AsyncIterable<InstanceHint> {
  const waiting: InstanceHint[] = [];
  let wake = Promise.withResolvers<void>();
  const follow = async (vcenter: KnownVcenter): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !call.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        for await (const change of vcenter.api.changes(call, () => vcenter.following(clock.monotonic()))) {
          pauseMs = FIRST_PAUSE_MS;
          const hint = hintOf(vcenter, change);
          if (!hint) continue;
          vcenter.changed(clock.monotonic());
          // Whoever is so far behind may as well ask about all.
          if (waiting.length >= MOST_WAITING) waiting.splice(0, Infinity, {});
          else waiting.push(hint);
          wake.resolve();
        }
      } catch (error) {
        if (call.signal.aborted) return;
        call.logger.verbose(2, 'changes of a vCenter are not followed for now', {
          vcenter: vcenter.api.address,
          error: asError(error),
        });
      }
      vcenter.lost();
      await clock.sleep(pauseMs, call.signal).catch(() => undefined);
    }
  };
  const following = Promise.all(vcenters.map(follow)).finally(() => wake.resolve());
  while (!call.signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    yield* waiting.splice(0);
  }
  await following;
}
