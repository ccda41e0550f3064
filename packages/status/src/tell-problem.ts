/** How problems are told. */
import type { Problem } from './cluster-status.ts';

/** A node or a Service that waits for less is on its way. */
export const PATIENCE_MS = 60_000;

/** Of one kind of problem, each by itself: what is beyond is counted. */
const MOST_TOLD = 20;

/** What is wrong, in the order in which it was found. */
export type Tell = (problem: Problem) => void;

/** `N things`, or `1 thing`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Of many of one kind the first, and how many more there are. */
export function tellAll(
  problems: readonly Problem[],
  { section, thing }: { readonly section: Problem['section']; readonly thing: string },
  tell: Tell,
): void {
  for (const problem of problems.slice(0, MOST_TOLD)) tell(problem);
  const rest = problems.length - MOST_TOLD;
  if (rest <= 0) return;
  tell({ severity: 'error', section, message: `${counted(rest, `more ${thing}`)} with a problem.`, commands: [] });
}
