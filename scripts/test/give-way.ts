/** Has a program take what others leave of the processor. */
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** It, and what it starts from now on. For one that was started with `detached`: its session must be its own. */
export function giveWay({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
    // Linux shares out the processor among sessions first (sched(7), "The autogroup feature").
    writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW));
  } catch {
    // It has ended, or this system has no such groups.
  }
}
