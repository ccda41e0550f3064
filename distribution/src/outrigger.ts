/** The commands of the shipped program: what people run, in a file of its own, so that no manager has its text in memory (ADR 0049). */
import { hostname } from 'node:os';
import { defaultCommands, newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import { doctorCommand, statusCommand } from '@outrigger/status';
import { uiCommand } from '@outrigger/ui';
import { providers } from './providers.ts';

const manager = newCloudControllerManager({
  providers,
  commands: [...defaultCommands, doctorCommand, statusCommand, uiCommand],
});

const code = await manager.main(process.argv.slice(2), {
  program: 'outrigger',
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
