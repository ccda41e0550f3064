/** `/configz`: the configuration in force, in the shape of upstream's, so that tools that read it go on working. */
import { formatGoDuration, type LeaderMigrationConfig } from '@outrigger/controller-manager';
import { API_GROUP, API_VERSION, configKeys, KIND } from '../options/config-keys.ts';
import { programFlags, type ProgramOptions } from '../options/program-options.ts';

/** Paths, names and numbers only: no secret is among the flags. `migration`: what is in force. */
export function renderConfigz(
  options: Pick<ProgramOptions, 'valueOf'>,
  migration?: LeaderMigrationConfig,
): Readonly<Record<string, unknown>> {
  const config: Record<string, unknown> = { kind: KIND, apiVersion: API_VERSION };
  for (const { fixed, flag, path } of configKeys) {
    let at = config;
    for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[path.at(-1) ?? ''] = flag === undefined ? fixed : shown(flag, options.valueOf(flag));
  }
  if (migration) {
    const controllerLeaders = migration.controllerLeaders.map(({ component, name }) => ({ name, component }));
    const { leaderName } = migration;
    Object.assign(config['Generic'] as object, {
      LeaderMigration: { leaderName, resourceLock: 'leases', controllerLeaders },
    });
  }
  return { [API_GROUP]: config };
}

function shown(flag: string, value: unknown): unknown {
  if (programFlags.find(flag)?.type.word === 'duration' && typeof value === 'number') return formatGoDuration(value);
  // Go shows a list without items as null.
  return Array.isArray(value) && value.length === 0 ? null : value;
}
