/** How a program takes part in leader election, by its flags. Pure. */
import { isOn, type SeenProgram } from './seen-program.ts';

export const MIGRATION_LEASE = 'cloud-provider-extraction-migration';

export function elects({ flags }: SeenProgram): boolean {
  return isOn(flags, 'leader-elect', true);
}

export function leaseNameOf({ flags, program }: SeenProgram): string {
  const byDefault = program === 'kube-controller-manager' ? program : 'cloud-controller-manager';
  return flags.get('leader-elect-resource-name') ?? byDefault;
}

/** What only one program can have at a time: its Lease, or without leader election the pod itself. */
export function lockOf(one: SeenProgram): string {
  return elects(one) ? `${namespaceOf(one)}/${leaseNameOf(one)}` : one.pod;
}

/** The same for a controller that its leader migration file is thought to name. */
export function migratedLockOf(one: SeenProgram): string {
  return migratesByFile(one) ? `${namespaceOf(one)}/${MIGRATION_LEASE}` : lockOf(one);
}

/** Which controllers migrate cannot be seen: the file is not in the pod's definition. */
export function migratesByFile(one: SeenProgram): boolean {
  const { flags, isPartial } = one;
  return elects(one) && isOn(flags, 'enable-leader-migration', isPartial) && flags.has('leader-migration-config');
}

function namespaceOf({ flags }: SeenProgram): string {
  return flags.get('leader-elect-resource-namespace') ?? 'kube-system';
}
