/** Who leads, and which manager may be ended. Pure. */
import { hostOf } from '../explain/leader-host.ts';
import { missing, ok, unknown, type Check } from './check.ts';
import { MIGRATION_LEASE } from './election-of.ts';
import { judgeOwnElection } from './judge-beside.ts';
import { seenOf } from './judge-components.ts';
import { holderOf, isHeld, isHolder, noLeases } from './lease-holder.ts';
import type { MigrationTarget, Seen } from './observed-cluster.ts';
import { isOn, podsOf } from './seen-program.ts';

/** Before the first step, and after the last one, somebody leads. */
export function judgeLeader(cluster: Seen<'leases'>, { leaseName }: MigrationTarget): readonly Check[] {
  const { leases } = cluster;
  if (!leases.known) return [noLeases(leases)];
  const lease = leases.value.find(({ metadata }) => metadata?.name === leaseName);
  const others = ['kube-controller-manager', MIGRATION_LEASE].flatMap((name): readonly Check[] => {
    const other = leases.value.find(({ metadata }) => metadata?.name === name);
    return other && isHeld(other, cluster.now) === 'yes' ? [ok(`${name} is held by ${holderOf(other)}`)] : [];
  });
  if (!lease) {
    const todo = 'if the current manager has another Lease, name it: --leader-elect-resource-name';
    return [
      missing(`there is no Lease kube-system/${leaseName}: no cloud-controller-manager has ever led`, todo),
      ...others,
    ];
  }
  switch (isHeld(lease, cluster.now)) {
    case 'yes':
      return [ok(`${leaseName} is held by ${holderOf(lease)}`), ...others];
    case 'no':
      return [
        missing(
          `the Lease kube-system/${leaseName} has no holder: no cloud-controller-manager is active`,
          'find out why it does not run',
        ),
        ...others,
      ];
    default: {
      const todo = 'retry, and compare the clock of this machine with those of the cluster';
      return [unknown(`the Lease kube-system/${leaseName} is about to expire, or clocks differ`, todo), ...others];
    }
  }
}

/** Whether the other manager may be ended, or has been. */
export function judgeHandOver(cluster: Seen<'leases' | 'programs'>, target: MigrationTarget): readonly Check[] {
  const ours = seenOf(cluster.programs, 'outrigger');
  return [judgeTurn(cluster, target), ...judgeOwnElection(ours, target.leaseName)];
}

function judgeTurn({ leases, now, programs }: Seen<'leases' | 'programs'>, { leaseName }: MigrationTarget): Check {
  if (!programs.known) {
    return unknown(
      `the pods of kube-system could not be listed: ${programs.why}`,
      'make sure that Outrigger runs: kubectl -n kube-system get pods',
    );
  }
  const ours = seenOf(programs, 'outrigger');
  const others = seenOf(programs, 'cloud-controller-manager');
  if (ours.length === 0)
    return missing(
      'no pod of kube-system is Outrigger',
      'start it beside the other manager, else nothing would take over',
    );
  if (!leases.known) return noLeases(leases);
  const lease = leases.value.find(({ metadata }) => metadata?.name === leaseName);
  if (!lease || isHeld(lease, now) !== 'yes') {
    return missing(`the Lease kube-system/${leaseName} has no holder`, 'see the logs of Outrigger');
  }
  const holder = holderOf(lease);
  const [isOurs, isOther] = [isHolder(ours, holder), isHolder(others, holder)];
  if (isOurs && isOther) return unknown(`${holder} leads, and both managers run there`, 'see in their logs which one');
  if (isOther)
    return missing(
      'the other manager still leads',
      'stop it when the steps before are done',
      others.map(({ pod }) => pod),
    );
  if (!isOurs) {
    const namesake = programs.value.find(({ isMirror, pod }) => isMirror && pod === hostOf(holder));
    return namesake
      ? unknown(
          `${holder} leads; the static Pod ${namesake.pod} on node ${namesake.node} has that name, which is inconclusive`,
          'check on that node whether it leads',
        )
      : unknown(`${holder} leads, which is no pod of kube-system`, 'find out which manager that is');
  }
  if (others.length === 0) return ok(`Outrigger leads (${holder}), and no other manager is there`);
  return missing(
    'Outrigger leads, and the other manager waits',
    'remove the other manager',
    others.map(({ pod }) => pod),
  );
}

/** Leader migration: on where it has a use, and off where it has none any more. */
export function judgeOneFirst(cluster: Seen<'leases' | 'programs'>): readonly Check[] {
  const { leases, now, programs } = cluster;
  if (!leases.known) return [noLeases(leases)];
  if (!programs.known) {
    return [
      unknown(
        `the pods of kube-system could not be listed: ${programs.why}`,
        'see which managers have --enable-leader-migration',
      ),
    ];
  }
  const lease = leases.value.find(({ metadata }) => metadata?.name === MIGRATION_LEASE);
  const seekers = programs.value.filter(
    ({ flags }) =>
      isOn(flags, 'enable-leader-migration') || flags.get('leader-elect-resource-name') === MIGRATION_LEASE,
  );
  const checks: Check[] = [];
  const unfiled = seekers.filter(
    ({ flags, program }) =>
      program !== 'outrigger' && isOn(flags, 'enable-leader-migration') && !flags.has('leader-migration-config'),
  );
  if (unfiled.length > 0) {
    checks.push(
      missing(
        'a manager uses the default leader migration configuration, two names of which do not exist',
        'give all managers one --leader-migration-config with the names that the guide lists',
        unfiled.map(({ pod }) => pod),
      ),
    );
  }
  if (lease && seekers.length === 0) {
    const text = `the Lease ${MIGRATION_LEASE} is there, and no visible manager uses it`;
    checks.push(
      isHeld(lease, now) === 'no'
        ? missing(
            text,
            `delete it when all controllers have moved: kubectl -n kube-system delete lease ${MIGRATION_LEASE}`,
          )
        : unknown(`${text}; ${holderOf(lease)} holds it`, 'find out which manager that is'),
    );
  }
  if (checks.length > 0) return checks;
  return [
    ok(
      seekers.length === 0
        ? 'no manager migrates controller by controller'
        : `${podsOf(seekers)} migrate under the Lease ${MIGRATION_LEASE}`,
    ),
  ];
}
