/** Loaded before the tests of a group: a test that ends their process early would hide those behind it, and the group would count as passed. */
import { after } from 'node:test';

let ended = false;
after(() => {
  ended = true;
});
process.on('exit', (code) => {
  if (ended || code !== 0) return;
  console.error('A test has ended the process that it shares with other files: the tests behind it were not run.');
  process.exitCode = 1;
});
