/**
 * Targets that are no part of the product: whether a finding is told from a moment in which the machine was slow, and whether defects as
 * the product once had are found.
 */
import { threadId } from 'node:worker_threads';
import type { Target } from './targets.ts';

function takeSquareOf({ length }: string): void {
  let sum = 0;
  for (let n = 0; n < length; n++) for (let m = 0; m < length; m++) sum = (sum + n * m) | 0;
  if (sum === 0.5) throw new Error('never: the sum is used, so that the loops are not optimised away');
}

/** Masks tokens by an expression that begins anew at each beginning, and reads on to the end of the text from each. */
function maskTokens(text: string): string {
  return text.replace(/\beyJ[\w-]{8,}\.[\w-]+/gu, '[redacted]');
}

/** Of a name that a cloud gives. With more characters before the slash it would not end. */
const NAME = 'a/b';

/** A glob as a regular expression that tries again: how the stars share the name's first characters, in all ways. */
function matchGlob(glob: string): boolean {
  const expression = glob.replaceAll(/[\\^$.+()=!|*?{}[\]]/gu, (token) => (token === '*' ? '[^/]*' : `\\${token}`));
  return new RegExp(`^(?:${expression})$`, 'u').test(NAME);
}

/** As the product once had them, and what is found without being told how. */
export const oldDefects: readonly Target[] = [
  { name: 'planted: masks tokens by an expression', run: maskTokens },
  { name: 'planted: matches a glob by an expression', run: matchGlob },
];

export const plantedTargets: readonly Target[] = [
  { name: 'planted: takes the square of its size', run: takeSquareOf },
  // One of the two is slow in the thread that is asked first.
  ...[0, 1].map((remainder) => ({
    name: `planted: takes the square of its size in threads of ${remainder === 0 ? 'even' : 'odd'} number`,
    run: (text: string) => (threadId % 2 === remainder ? takeSquareOf(text) : undefined),
  })),
];
