/** A call of the contract that must end in time, even where the provider does not look at its signal. */
import { CloudError } from '@outrigger/cloud-provider';
import { withDeadline, type Deadline } from '@outrigger/kube';

/** `late`: what the `timeout` error says. Default: that `what` had no answer within `timeoutMs`. */
export interface CallDeadline extends Omit<Deadline, 'late'> {
  readonly late?: string;
}

/** Settles as the call does, or rejects with a `CloudError` `timeout`, or with the reason of `signal`. */
export function callInTime<T>(
  { late, ...deadline }: CallDeadline,
  send: (signal: AbortSignal, getsOn: () => void) => T | PromiseLike<T>,
): Promise<T> {
  const text = late ?? `${deadline.what}: no answer within ${deadline.timeoutMs} ms`;
  return withDeadline({ ...deadline, late: (cause) => new CloudError('timeout', text, { cause }) }, send);
}
