/** Under which lock each controller runs while controllers are moved between managers. Upstream: `leadermigration.FilterFunc`. */
import { FlagError } from '../flags/flag-error.ts';
import { ControllerNames, type ControllerName } from '../lifecycle/controller-selection.ts';
import type { LeaderMigrationConfig } from './migration-config.ts';

/** `elsewhere`: another manager runs it; this one must not. */
export type ControllerLock = 'main' | 'migration' | 'elsewhere';

/**
 * Tells the lock of a controller by its name. `component`: this manager, as configurations name it; `known`: all
 * controllers of this manager, whether they are on or off.
 *
 * Throws a `FlagError` for a name that no controller has: passed over, as upstream does, the controller that was meant
 * would run under the main lock of two managers at once. And for a controller that is named twice, differently.
 */
export function controllerLocks(
  config: LeaderMigrationConfig,
  component: string,
  known: readonly ControllerName[],
): (controller: string) => ControllerLock {
  const names = new ControllerNames(known);
  const locks = new Map<string, { readonly component: string; readonly lock: ControllerLock }>();
  for (const leader of config.controllerLeaders) {
    const { name } = names.get(leader.name, leader.where);
    const before = locks.get(name);
    if (before !== undefined && before.component !== leader.component) {
      const text = `${leader.where}: ${name} is to run in ${before.component} already, not in ${leader.component}`;
      throw new FlagError('invalid-flag', text);
    }
    const here = leader.component === component || leader.component === '*';
    locks.set(name, { component: leader.component, lock: here ? 'migration' : 'elsewhere' });
  }
  return (controller) => locks.get(controller)?.lock ?? 'main';
}
