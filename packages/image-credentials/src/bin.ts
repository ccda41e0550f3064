#!/usr/bin/env node
/** The executable. */
import { isSea } from 'node:sea';
import { imageCredentialsCommand } from './command.ts';
import { systemClock, untilAskedToEnd } from './system-clock.ts';

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
