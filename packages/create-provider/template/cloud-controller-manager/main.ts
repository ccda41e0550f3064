/** The cloud-controller-manager of My Cloud: Outrigger's, with this provider built in. As `outrigger`, it runs the commands. */
import { hostname } from 'node:os';
import { defaultCommands, newCloudControllerManager } from '@outrigger/cloud-controller-manager';

const manager = newCloudControllerManager({
  providers: { 'my-cloud': () => import('./src/provider.ts') },
  commands: defaultCommands,
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
process.exit(code);
