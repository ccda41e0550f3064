/** Asks the cloud once what there is for Services, with a deadline; gives an answer for each, whatever happens. */
import {
  CloudError,
  PROVIDER_ID_LENGTH,
  type CallContext,
  type CallPriority,
  type LoadBalancerObservation,
  type LoadBalancers,
  type LoadBalancerService,
  type PartName,
} from '@outrigger/cloud-provider';
import { callInTime } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';
import { asError } from './failure.ts';

/** A question that takes longer is given up: the others have to be asked too. From its last request on, which may wait for the call budget. */
const DEADLINE_MS = 30_000;

export interface ObserveOptions {
  readonly provider: Pick<LoadBalancers, 'observe'>;
  /** `about`: UIDs of the Services. */
  readonly callContext: (signal: AbortSignal, about: readonly string[], priority: CallPriority) => CallContext;
  readonly clock: Clock;
  /** Ends all questions. */
  readonly signal: AbortSignal;
}

/** Of one load balancer, parts and other things together: one of a thousand ports has a few thousand. */
const MOST_PARTS = 10_000;

/** In the order of `services`; what shows more than there may be is `failed`. */
export async function observeOnce(
  services: readonly LoadBalancerService[],
  { callContext, clock, provider, signal }: ObserveOptions,
  priority: CallPriority = 'normal',
): Promise<readonly LoadBalancerObservation[]> {
  const what = `observing ${services.length} load balancers`;
  const late = `the cloud did not say within ${DEADLINE_MS} ms what load balancers there are`;
  const uids = services.map(({ uid }) => uid);
  const all = (error: Error): readonly LoadBalancerObservation[] => services.map(() => ({ kind: 'failed', error }));
  try {
    const observations = await callInTime(
      { clock, timeoutMs: DEADLINE_MS, what, signal, late },
      (either) => callContext(either, uids, priority),
      (call) => provider.observe(services, call),
    );
    if (observations.length === services.length) return observations.map(bounded);
    const counts = `${observations.length} answers to ${services.length} questions`;
    return all(new CloudError('invalid', `the provider gave ${counts} about load balancers`));
  } catch (thrown) {
    return all(asError(thrown));
  }
}

/** By number and names. `attributes` are the provider's own, as large as what it keeps of one answer of its cloud. */
function bounded(one: LoadBalancerObservation): LoadBalancerObservation {
  const all: readonly PartName[] = one.kind === 'parts' ? [...one.parts, ...(one.others ?? [])] : [];
  const isShort = ({ id, kind }: PartName): boolean => `${kind}${id}`.length <= PROVIDER_ID_LENGTH;
  if (all.length <= MOST_PARTS && all.every(isShort)) return one;
  const text = `the provider gave more than ${MOST_PARTS} parts of a load balancer, or names of more than ${PROVIDER_ID_LENGTH} characters`;
  return { kind: 'failed', error: new CloudError('invalid', text) };
}
