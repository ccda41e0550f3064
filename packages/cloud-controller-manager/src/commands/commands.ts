/** The commands that come with the manager, in the order of their names. */
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

/** What a distribution gives to `newCloudControllerManager`, with commands of its own beside them. */
export const defaultCommands: readonly Command[] = [
  admissionPolicyCommand,
  adoptCommand,
  completionCommand,
  configCommand,
  explainCommand,
  migrateCommand,
  rbacCommand,
  serviceWebhookCommand,
  versionCommand,
  ...installedCommands,
];
