/** Asks the cloud about single parts, with a deadline; gives an answer for each, whatever happens. */
import {
  CloudError,
  type CallContext,
  type LoadBalancers,
  type PartAnswer,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import { callInTime } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';
import { asError } from './failure.ts';

const DEADLINE_MS = 30_000;

export interface ReadOptions {
  readonly provider: Pick<LoadBalancers, 'read'>;
  readonly callContext: (signal: AbortSignal) => CallContext;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** In the order of `questions`. */
export async function readParts(
  questions: readonly PartQuestion[],
  { callContext, clock, provider, signal }: ReadOptions,
): Promise<readonly PartAnswer[]> {
  const what = `reading ${questions.length} parts of a load balancer`;
  const late = `the cloud did not say within ${DEADLINE_MS} ms whether parts of a load balancer are there`;
  const all = (error: Error): readonly PartAnswer[] => questions.map(() => ({ kind: 'failed', error }));
  try {
    const answers = await callInTime({ clock, timeoutMs: DEADLINE_MS, what, signal, late }, callContext, (call) =>
      provider.read ? provider.read(questions, call) : [],
    );
    if (answers.length === questions.length) return answers;
    const counts = `${answers.length} answers to ${questions.length} questions`;
    return all(new CloudError('invalid', `the provider gave ${counts} about parts of a load balancer`));
  } catch (thrown) {
    signal.throwIfAborted();
    return all(asError(thrown));
  }
}
