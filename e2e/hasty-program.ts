/** The shipped program with a clock that runs HASTE times faster, as a process: it can be killed, and its patience ends within a test. */
import { hostname } from 'node:os';
import { main } from '@outrigger/cloud-controller-manager';
import { quickClock } from './quick-clock.ts';

const code = await main(process.argv.slice(2), {
  builtInProviders: {
    memory: () => import('@outrigger/provider-memory'),
    openstack: () => import('@outrigger/provider-openstack'),
  },
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
  faults: process,
  exit: (code) => process.exit(code),
  workingDirectory: process.cwd(),
  hostname: hostname(),
  clock: quickClock(Number(process.env['HASTE'])),
});
process.exit(code);
