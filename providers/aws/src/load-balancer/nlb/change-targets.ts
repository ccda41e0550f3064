/** Targets in and out, in chunks; the new ones first, so that a group is never emptied on the way. */
import { asError, CloudError, type CallContext, type Owner } from '@outrigger/cloud-provider';
import { awsCodeOf, namedIn } from '../../client/aws-errors.ts';
import { chunks } from '../../client/pages.ts';
import { loadBalancerName } from '../names.ts';
import { checkServed, listed, type Closed } from '../left-out.ts';
import type { NlbSetup } from './nlb-setup.ts';

/** `RegisterTargets` and `DeregisterTargets` take no more. */
const MOST = 100;

type Needs = Pick<NlbSetup, 'access' | 'client' | 'leftOut' | 'targets'>;

interface Change {
  readonly owner: Owner;
  readonly wanted: readonly string[];
  /** Those that are there have to let it in, too. */
  readonly opens: boolean;
}

/** What can be changed is; rejects with a `LeftOutError` for what AWS, or the security group of its node, does not take, with a `WaitsError` where none is served. */
export async function changeTargets(
  { access, client, leftOut, targets }: Needs,
  arn: string,
  { opens, owner, wanted }: Change,
  call: CallContext,
): Promise<void> {
  leftOut.trying(arn);
  const there = await targets.of(arn, call);
  const coming = wanted.filter((id) => !there.includes(id));
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
  const refused: string[] = [];
  const registered: string[] = [];
  try {
    await open();
    const letIn = coming.filter((id) => !closed?.instances.has(id));
    for (const ids of chunks(letIn, MOST)) {
      const bad = await register({ client }, arn, ids, call);
      refused.push(...bad);
      registered.push(...ids.filter((id) => !bad.includes(id)));
    }
  } catch (error) {
    call.signal.throwIfAborted();
    // What goes has to go whatever becomes of those that come.
    failure = asError(error);
    targets.forget(arn);
  }
  let taken = wanted.filter((id) => there.includes(id) || registered.includes(id));
  // Where AWS takes none of those that are to be, those that are serve on.
  if (wanted.length > 0 && taken.length === 0) taken = there.slice();
  try {
    for (const ids of chunks(
      there.filter((id) => !taken.includes(id)),
      MOST,
    )) {
      await client.elbv2(call, 'DeregisterTargets', { TargetGroupArn: arn, Targets: ids.map((Id) => ({ Id })) });
    }
  } catch (error) {
    // What has taken effect is not known.
    targets.forget(arn);
    throw failure ?? asError(error);
  }
  if (failure) throw failure;
  targets.changed(arn, taken);
  checkServed(wanted, there, closed, { ids: refused, ...(refused.length > 0 && { error: refusal(refused) }) });
}

/** One that AWS does not take fails the request of all: without those that it names it is sent once more. Gives them back. */
async function register(
  { client }: Pick<NlbSetup, 'client'>,
  arn: string,
  ids: readonly string[],
  call: CallContext,
): Promise<readonly string[]> {
  let good = ids;
  while (good.length > 0) {
    try {
      await client.elbv2(call, 'RegisterTargets', { TargetGroupArn: arn, Targets: good.map((Id) => ({ Id })) });
      break;
    } catch (error) {
      // The second one is about an ID that is none.
      if (!['InvalidTarget', 'ValidationError'].includes(awsCodeOf(error) ?? '')) throw error;
      const bad = namedIn(error, /\bi-[0-9a-f]+\b/gu);
      const left = good.filter((id) => !bad.includes(id));
      if (left.length === good.length) throw error;
      good = left;
    }
  }
  return ids.filter((id) => !good.includes(id));
}

function refusal(ids: readonly string[]): CloudError {
  const message = `AWS takes no traffic to ${listed(ids)}: not running, in another VPC, or no valid instance ID; the other nodes are targets`;
  return new CloudError('conflict', message, { effect: 'unknown' });
}
