/** Targets that are no part of the product: whether a finding is told from a moment in which the machine was slow. */
import { threadId } from 'node:worker_threads';
import type { Target } from './target.ts';

function takeSquareOf({ length }: string): void {
  let sum = 0;
  for (let n = 0; n < length; n++) for (let m = 0; m < length; m++) sum = (sum + n * m) | 0;
  if (sum === 0.5) throw new Error('never: the sum is used, so that the loops are not optimised away');
}

export const plantedTargets: readonly Target[] = [
  { name: 'planted: takes the square of its size', run: takeSquareOf },
  // One of the two is slow in the thread that is asked first.
  ...[0, 1].map((remainder) => ({
    name: `planted: takes the square of its size in threads of ${remainder === 0 ? 'even' : 'odd'} number`,
    run: (text: string) => (threadId % 2 === remainder ? takeSquareOf(text) : undefined),
  })),
];
