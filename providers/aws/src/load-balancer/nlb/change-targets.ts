/** Targets in and out, in chunks; the new ones first, so that a group is never emptied on the way. */
import { CloudError, type CallContext, type Owner } from '@outrigger/cloud-provider';
import { awsCodeOf, namedIn } from '../../client/aws-errors.ts';
import { chunks } from '../../client/pages.ts';
import { loadBalancerName } from '../names.ts';
import type { NlbSetup } from './nlb-setup.ts';

/** `RegisterTargets` and `DeregisterTargets` take no more. */
const MOST = 100;
const SHOWN = 5;

type Needs = Pick<NlbSetup, 'access' | 'client' | 'targets'>;

export async function changeTargets(
  { access, client, targets }: Needs,
  arn: string,
  { owner, wanted }: { readonly owner: Owner; readonly wanted: readonly string[] },
  call: CallContext,
): Promise<void> {
  const there = await targets.of(arn, call);
  const coming = wanted.filter((id) => !there.includes(id));
  if (coming.length > 0 && access.usesShared) {
    const isOwn = await access.spreadRules(loadBalancerName(owner.uid), coming, call);
    if (!isOwn) await access.useShared((shared) => access.open(shared, coming, call), call);
  }
  const refused: string[] = [];
  let taken: readonly string[];
  try {
    for (const ids of chunks(coming, MOST)) refused.push(...(await register({ client }, arn, ids, call)));
    taken = wanted.filter((id) => !refused.includes(id));
    // Where AWS takes none of those that are to be, those that are serve on.
    if (refused.length > 0 && taken.length === 0) taken = there;
    for (const ids of chunks(
      there.filter((id) => !taken.includes(id)),
      MOST,
    )) {
      await client.elbv2(call, 'DeregisterTargets', { TargetGroupArn: arn, Targets: ids.map((Id) => ({ Id })) });
    }
  } catch (error) {
    // What has taken effect is not known.
    targets.forget(arn);
    throw error;
  }
  targets.changed(arn, taken);
  if (refused.length > 0) throw refusal(refused);
}

/** One that AWS does not take fails the request of all: without those that it names it is sent once more. */
async function register(
  { client }: Pick<NlbSetup, 'client'>,
  arn: string,
  ids: readonly string[],
  call: CallContext,
): Promise<readonly string[]> {
  const send = (some: readonly string[]): Promise<unknown> =>
    client.elbv2(call, 'RegisterTargets', { TargetGroupArn: arn, Targets: some.map((Id) => ({ Id })) });
  try {
    await send(ids);
    return [];
  } catch (error) {
    if (awsCodeOf(error) !== 'InvalidTarget') throw error;
    const bad = namedIn(error, /\bi-[0-9a-f]+\b/gu).filter((id) => ids.includes(id));
    if (bad.length === 0) throw error;
    const good = ids.filter((id) => !bad.includes(id));
    if (good.length > 0) await send(good);
    return bad;
  }
}

function refusal(ids: readonly string[]): CloudError {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} others` : '';
  const message = `AWS takes no traffic to ${ids.slice(0, SHOWN).join(', ')}${more}: not running, or in another VPC; the other nodes are targets`;
  return new CloudError('conflict', message, { effect: 'unknown' });
}
