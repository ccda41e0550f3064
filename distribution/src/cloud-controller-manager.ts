/** The shipped program: the manager and the providers that come with it. A fork that ships others replaces this file. */
import { hostname } from 'node:os';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';

const manager = newCloudControllerManager({
  providers: {
    memory: () => import('@outrigger/provider-memory'),
    openstack: () => import('@outrigger/provider-openstack'),
    vsphere: () => import('@outrigger/provider-vsphere'),
  },
});

const code = await manager.main(process.argv.slice(2), {
  program: process.env['OUTRIGGER_PROGRAM'] === 'outrigger' ? 'outrigger' : 'cloud-controller-manager',
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
