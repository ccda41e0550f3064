/** Targets in and out, in chunks; the new ones first, so that a group is never emptied on the way. */
import { asError, type CallContext, type Owner } from '@outrigger/cloud-provider';
import { chunks } from '../../client/pages.ts';
import { checkServed, type Closed } from '../left-out.ts';
import { loadBalancerName } from '../names.ts';
import type { NlbSetup } from './nlb-setup.ts';
import { MOST, TargetEntry, type TargetEntryOptions } from './target-entry.ts';

type Needs = Pick<NlbSetup, 'access' | 'client' | 'leftOut' | 'targets'>;

interface Change extends Pick<TargetEntryOptions, 'zoneOf'> {
  readonly owner: Owner;
  readonly wanted: readonly string[];
  /** Those that are there have to let it in, too. */
  readonly opens: boolean;
}

/** What can be changed is; rejects with a `LeftOutError` for what AWS, or the security group of its node, does not take, with a `WaitsError` where none is served. */
export async function changeTargets(
  { access, client, leftOut, targets }: Needs,
  arn: string,
  { opens, owner, wanted, zoneOf }: Change,
  call: CallContext,
): Promise<void> {
  leftOut.trying(arn);
  const there = await targets.of(arn, call);
  const coming = wanted.filter((id) => !there.includes(id));
  const entry = new TargetEntry({ client, arn, zoneOf }, call);
  let failure: Error | undefined;
  let closed: Closed | undefined;
  const open = async (): Promise<void> => {
    // Those that come first: why the first one is kept out is told.
    const asked = opens ? [...coming, ...wanted] : coming;
    if (asked.length === 0 || !access.usesShared) return;
    const own = !opens && (await access.spreadRules(loadBalancerName(owner.uid), asked, call));
    closed = typeof own === 'object' ? own : undefined;
    if (own === false) closed = await access.useShared((shared) => access.open(shared, asked, call), call);
  };
  /** What goes has to go whatever becomes of those that come. */
  const trying = async (change: () => Promise<void>): Promise<void> => {
    if (failure) return;
    try {
      await change();
    } catch (error) {
      // Something of it may have taken effect.
      targets.forget(arn);
      call.signal.throwIfAborted();
      failure = asError(error);
    }
  };
  await trying(async () => {
    await open();
    await entry.register(coming.filter((id) => !closed?.instances.has(id)));
  });
  const taken = (): readonly string[] => wanted.filter((id) => there.includes(id) || entry.has(id));
  let left = there.filter((id) => !wanted.includes(id));
  const leave = async (going: readonly string[]): Promise<void> => {
    try {
      for (const ids of chunks(going, MOST))
        await client.elbv2(call, 'DeregisterTargets', { TargetGroupArn: arn, Targets: ids.map((Id) => ({ Id })) });
    } catch (error) {
      // What has taken effect is not known.
      targets.forget(arn);
      throw failure ?? asError(error);
    }
    left = left.filter((id) => !going.includes(id));
    // What has gone has made room.
    if (going.length > 0) await trying(() => entry.registerFull());
  };
  const isServed = (): boolean => wanted.length === 0 || taken().length > 0;
  // Half of a full group makes room for those that come, once. Where AWS takes none of them, the others serve on.
  let mayMakeRoom = false;
  if (left.length > 1 && entry.full.length > 0)
    await trying(async () => void (mayMakeRoom = !(await targets.isDraining(arn, call))));
  if (mayMakeRoom) await leave(left.slice(0, Math.floor(left.length / 2)));
  if (isServed()) await leave(left);
  if (failure) throw failure;
  targets.changed(arn, [...taken(), ...left]);
  checkServed(wanted, there, closed, entry.refused);
}
