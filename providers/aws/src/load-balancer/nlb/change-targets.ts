/** Targets in and out, in chunks; the new ones first, so that a group is never emptied on the way. */
import { asError, CloudError, type CallContext, type Owner } from '@outrigger/cloud-provider';
import { awsCodeOf, namedIn } from '../../client/aws-errors.ts';
import { chunks } from '../../client/pages.ts';
import { loadBalancerName } from '../names.ts';
import { checkServed, listed, type Closed } from '../left-out.ts';
import type { NlbSetup } from './nlb-setup.ts';

/** `RegisterTargets` and `DeregisterTargets` take no more. */
const MOST = 100;
/** Where there is no room for one more, there is none for another. */
const TOO_MANY = 'TooManyTargets';
/** The second one is about single targets. */
const FULL = [TOO_MANY, 'TooManyRegistrationsForTargetId'];

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
  const refused: Refused[] = [];
  const registered: string[] = [];
  try {
    await open();
    const letIn = coming.filter((id) => !closed?.instances.has(id));
    for (const ids of chunks(letIn, MOST)) {
      const bad = await registerUnlessFull({ client }, arn, { ids, refused }, call);
      refused.push(...bad);
      registered.push(...ids.filter((one) => !bad.some(({ id }) => id === one)));
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
  checkServed(wanted, there, closed, refusedIn(refused));
}

interface Refused {
  readonly id: string;
  /** AWS has no room for it. */
  readonly quota?: Error;
}

/** One that AWS does not take fails the request of all: without those that it names it is sent once more. Gives them back. */
async function register(
  { client }: Pick<NlbSetup, 'client'>,
  arn: string,
  ids: readonly string[],
  call: CallContext,
): Promise<readonly Refused[]> {
  let good = ids;
  const refused = (): readonly Refused[] => ids.filter((id) => !good.includes(id)).map((id) => ({ id }));
  while (good.length > 0) {
    try {
      await client.elbv2(call, 'RegisterTargets', { TargetGroupArn: arn, Targets: good.map((Id) => ({ Id })) });
      break;
    } catch (error) {
      const code = awsCodeOf(error) ?? '';
      if (FULL.includes(code))
        return [...refused(), ...(await registerHalves({ client }, arn, good, asError(error), call))];
      // The second one is about an ID that is none.
      if (!['InvalidTarget', 'ValidationError'].includes(code)) throw error;
      const bad = namedIn(error, /\bi-[0-9a-f]+\b/gu);
      const left = good.filter((id) => !bad.includes(id));
      if (left.length === good.length) throw error;
      good = left;
    }
  }
  return refused();
}

/** As many as there is room for. */
async function registerHalves(
  setup: Pick<NlbSetup, 'client'>,
  arn: string,
  ids: readonly string[],
  quota: Error,
  call: CallContext,
): Promise<readonly Refused[]> {
  if (ids.length === 1) return ids.map((id) => ({ id, quota }));
  const half = Math.ceil(ids.length / 2);
  const refused = await register(setup, arn, ids.slice(0, half), call);
  return [...refused, ...(await registerUnlessFull(setup, arn, { ids: ids.slice(half), refused }, call))];
}

/** `refused`: before these. */
async function registerUnlessFull(
  setup: Pick<NlbSetup, 'client'>,
  arn: string,
  { ids, refused }: { readonly ids: readonly string[]; readonly refused: readonly Refused[] },
  call: CallContext,
): Promise<readonly Refused[]> {
  const full = refused.find(({ quota }) => awsCodeOf(quota) === TOO_MANY);
  return full ? ids.map((id) => ({ ...full, id })) : register(setup, arn, ids, call);
}

function refusedIn(refused: readonly Refused[]): Parameters<typeof checkServed>[3] {
  const ids = refused.map(({ id }) => id);
  if (ids.length === 0) return { ids };
  const message = `AWS takes no traffic to ${listed(ids)}: not running, in another VPC, or no valid instance ID; the other nodes are targets`;
  const { quota } = refused.find((one) => one.quota) ?? {};
  return { ids, error: quota ?? new CloudError('conflict', message, { effect: 'unknown' }) };
}
