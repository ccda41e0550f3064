/** The shipped manager, with the providers that come with it. Its commands are in a file beside it, which a manager never reads. */
import { hostname } from 'node:os';
import { extname } from 'node:path';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { providers } from './providers.ts';

const args = process.argv.slice(2);
// A word before any flag is a command. Of a name that is no literal a bundler leaves the import as it is.
const beside = new URL(`outrigger${extname(import.meta.filename)}`, import.meta.url);
if (/^[^-]/u.test(args[0] ?? '')) await import(beside.href);

const manager = newCloudControllerManager({ providers });

const code = await manager.main(args, {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
  faults: process,
  exit: (code) => process.exit(code),
  workingDirectory: process.cwd(),
  hostname: hostname(),
});
// What is still open (a provider's socket, a watch that does not end) must not keep a manager that has ended alive.
process.exit(code);
