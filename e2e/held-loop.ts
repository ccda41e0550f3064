/** What the log of a program tells of an event loop that was held: `watchEventLoop`, `heldAs` and `runController`. Entry point: `holdsIn`. */

/**
 * Of a hold that is laid to nobody, what was computed. The watch sees a beat that comes late, and all that was computed since the one before it: where the machine
 * stops the process for a second amidst many small steps, or garbage is collected, it says so too. So much at once is a text that costs more than its size: those
 * took a minute, and a Lease is lost after ten seconds.
 */
const COMPUTED_MS = 5_000;

/** Those lines, without what a busy machine may be the reason of. */
export function holdsIn(log: string): readonly string[] {
  return log
    .split('\n')
    .filter(
      (line) =>
        line.includes('held the event loop') &&
        Number(/ computed="(\d+)ms"/u.exec(line)?.[1] ?? COMPUTED_MS) >= COMPUTED_MS,
    );
}
