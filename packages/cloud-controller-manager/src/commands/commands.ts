/** The commands of the program, in the order of their names. */
import { closestName, FlagError } from '@outrigger/controller-manager';
import { admissionPolicyCommand } from './admission-policy.ts';
import { adoptCommand } from './adopt.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
import { explainCommand } from './explain.ts';
import { installedCommands } from './installed-commands.ts';
import { migrateCommand } from './migrate.ts';
import { rbacCommand } from './rbac.ts';
import { serviceWebhookCommand } from './service-webhook.ts';
import { versionCommand } from './version.ts';

/** In the order of their names. */
export const commands: readonly Command[] = [
  admissionPolicyCommand,
  adoptCommand,
  completionCommand(() => commands),
  configCommand,
  explainCommand,
  migrateCommand,
  rbacCommand,
  serviceWebhookCommand,
  versionCommand,
  ...installedCommands,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Throws a `FlagError` for a word that is no command. */
export function commandOf(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const names = commands.map((command) => command.name);
  const near = closestName(name, names);
  const hint = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${near}?`;
  throw new FlagError('unexpected-argument', `no command ${JSON.stringify(name)}; ${hint}`);
}

/** For `--help`: a line for each. */
export function renderCommands(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Commands (outrigger COMMAND --help):\n\n${lines.join('')}`;
}
