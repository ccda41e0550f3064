/** Changes security groups one after the other, of which each may refuse. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { Closed } from '../left-out.ts';
import type { JudgedGroups } from './node-groups.ts';

export type Refusal = Error & Pick<CloudError, 'code'>;

/** Where the cloud is not reached, or asks for a pause, the others are not tried either. */
const OF_ALL = ['unavailable', 'timeout', 'throttled', 'retry-after', 'unauthenticated'] as const;

/** Of one group alone. */
export const isRefusal = (error: unknown): error is Refusal =>
  isCloudError(error) && !OF_ALL.some((code) => error.code === code);

/** One group that cannot be changed keeps no other out. */
export async function eachGroup(
  { groups, unclear }: Pick<JudgedGroups, 'groups' | 'unclear'>,
  call: CallContext,
  change: (group: string) => Promise<void>,
): Promise<Closed | undefined> {
  const [firstUnclear] = unclear.values();
  let error: CloudError | undefined;
  const refused = new Set<string>();
  for (const [group, instances] of groups) {
    try {
      await change(group);
    } catch (thrown) {
      call.signal.throwIfAborted();
      if (!isRefusal(thrown)) throw thrown;
      for (const id of instances) refused.add(id);
      error ??= refusedRule(group, thrown);
    }
  }
  error ??= firstUnclear;
  return error && { instances: new Set([...unclear.keys(), ...refused]), error, refused };
}

function refusedRule(group: string, cause: Refusal): CloudError {
  if (cause.code === 'quota') return new CloudError('quota', cause.message, { cause });
  return new CloudError(cause.code, `security group ${group} gets no rule for load balancers: ${cause.message}`, {
    cause,
  });
}
