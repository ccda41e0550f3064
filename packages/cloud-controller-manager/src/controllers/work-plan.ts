/** Which controllers this program runs, and under which lock each of them. */
import path from 'node:path';
import {
  controllerLocks,
  defaultMigrationConfig,
  FlagError,
  readMigrationConfig,
  type LeaderMigrationConfig,
} from '@outrigger/controller-manager';
import type { CloudController } from './cloud-controller.ts';
import { chosenControllers, defaultControllers } from './controllers.ts';
import type { Environment } from '../program/environment.ts';
import type { ProgramOptions } from '../options/program-options.ts';

/** This manager, as configurations of leader migration name it. */
const COMPONENT = 'cloud-controller-manager';
const ELSEWHERE = 'the leader migration configuration assigns it to another manager';

export interface WorkPlan {
  /** Run under the program's own Lease. */
  readonly main: readonly CloudController[];
  /** Run under the Lease of the migration. */
  readonly migrated: readonly CloudController[];
  /** Chosen, but not run here. */
  readonly notStarted: readonly { readonly controller: string; readonly reason: string }[];
  /** `undefined` without leader migration. */
  readonly migration: LeaderMigrationConfig | undefined;
}

/** What decides about the plan. */
export interface WorkRequest {
  readonly environment: Pick<Environment, 'controllers' | 'workingDirectory'>;
  readonly options: Pick<ProgramOptions, 'cloud' | 'leaderElection' | 'leaderMigration' | 'of'>;
}

/** From flags and files alone. Rejects with a `FlagError` for what a person has to correct. */
export async function planWork(foundation: WorkRequest): Promise<WorkPlan> {
  const { environment, options } = foundation;
  const { controllers: known = defaultControllers } = environment;
  const migration = await readMigration(foundation);
  const lockOf = migration && controllerLocks(migration, COMPONENT, known);
  const main: CloudController[] = [];
  const migrated: CloudController[] = [];
  const notStarted: { controller: string; reason: string }[] = [];
  for (const controller of chosenControllers(known, options.cloud.controllers)) {
    const lock = lockOf?.(controller.name) ?? 'main';
    const reason = lock === 'elsewhere' ? ELSEWHERE : controller.whyNot?.(options);
    if (reason !== undefined) notStarted.push({ controller: controller.name, reason });
    else if (lock === 'main') main.push(controller);
    else migrated.push(controller);
  }
  return { main, migrated, notStarted, migration };
}

async function readMigration({ environment, options }: WorkRequest): Promise<LeaderMigrationConfig | undefined> {
  const { enableLeaderMigration, leaderMigrationConfig } = options.leaderMigration;
  if (!enableLeaderMigration) return undefined;
  if (leaderMigrationConfig === '') return defaultMigrationConfig;
  const config = await readMigrationConfig(path.resolve(environment.workingDirectory, leaderMigrationConfig));
  if (config.leaderName === options.leaderElection.leaderElectResourceName) {
    const text = `${leaderMigrationConfig}: leaderName: ${config.leaderName} is already the Lease of --leader-elect-resource-name: use another name`;
    throw new FlagError('invalid-flag', text);
  }
  return config;
}
