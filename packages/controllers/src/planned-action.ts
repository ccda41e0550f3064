/** An action that is planned, as a sentence that says how it stands. */
import type { WorkQueue } from '@outrigger/kube';
import type { Fact } from './finding.ts';

/** `waits`: it is tried in `inMs`; `hasFailed`: since it failed before. */
export type ActionState =
  | { readonly kind: 'now' }
  | { readonly kind: 'under-way' }
  | { readonly kind: 'waits'; readonly inMs: number; readonly hasFailed: boolean };

/** By its queue. `isAsked`: a request for its sake is in progress. */
export function queuedState<K>(
  queue: Pick<WorkQueue<K>, 'dueInMs' | 'requeues'>,
  key: K,
  isAsked: boolean,
): ActionState {
  const inMs = queue.dueInMs(key);
  if (isAsked) return { kind: 'under-way' };
  return inMs === undefined ? { kind: 'now' } : { kind: 'waits', inMs, hasFailed: queue.requeues(key) > 0 };
}

/** `summary`: a clause without a subject. */
export function factOfAction(summary: string, state: ActionState): Fact {
  const text = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  if (state.kind === 'under-way') return { text: `${text} The request is in progress.` };
  if (state.kind === 'now') return { text };
  return { text: state.hasFailed ? `${text} The last attempt failed.` : text, inMs: state.inMs };
}
