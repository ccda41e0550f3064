#!/usr/bin/env node
/** The executable. */
import { isSea } from 'node:sea';
import { imageCredentialsCommand } from './command.ts';
import { systemClock, untilAskedToEnd } from './system-clock.ts';

// On SIGUSR1 Node opens its inspector on the loopback address, where any local user runs code in here and reads its tokens. A listener takes
// the signal from Node.
process.on('SIGUSR1', () => {});

void imageCredentialsCommand(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  self: isSea() ? process.execPath : (process.argv[1] ?? ''),
  ended: untilAskedToEnd,
}).then((code) => {
  // Now: a stdin that is still open would keep the process. What was written is out, as pipes and files are written at once.
  process.exit(code);
});
