/** A fork of the shipped program: its own choice of providers, a third controller, and no routes. */
import { hostname } from 'node:os';
import { defaultCommands, defaultControllers, newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { zoneLabelController } from './zone-label-controller.ts';

const manager = newCloudControllerManager({
  providers: {
    memory: () => import('@outrigger/provider-memory'),
  },
  controllers: [...defaultControllers.filter(({ name }) => name !== 'node-route-controller'), zoneLabelController],
  commands: defaultCommands,
});

const code = await manager.main(process.argv.slice(2), {
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
