#!/usr/bin/env node
/** The executable. */
import { once } from 'node:events';
import { isSea } from 'node:sea';
import { imageCredentialsCommand } from './command.ts';
import { systemClock } from './system-clock.ts';

void imageCredentialsCommand(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  clock: systemClock,
  self: isSea() ? process.execPath : (process.argv[1] ?? ''),
  ended: async () => {
    // A signal handler alone keeps no process.
    const waiting = process.stdin.resume();
    await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    waiting.destroy();
  },
}).then((code) => {
  process.exitCode = code;
});
