/** Who leads, whether Outrigger can wait beside the current manager, and who may be ended. Pure. */
import { hostOf } from '../explain/leader-host.ts';
import { missing, ok, unknown, type Check } from './check.ts';
import { isOn, MIGRATION_LEASE, seenOf, unknownFlags } from './judge-components.ts';
import { holderOf, isHeld } from './lease-holder.ts';
import type { MigrationTarget, ObservedCluster, Reading, Seen } from './observed-cluster.ts';
import type { SeenProgram } from './seen-program.ts';

const UPSTREAM_LEASE = 'cloud-controller-manager';
/** All who seek one Lease must agree on them. Values are upstream's defaults. */
const TIMES: Readonly<Record<string, string>> = {
  'leader-elect-lease-duration': '15s',
  'leader-elect-renew-deadline': '10s',
  'leader-elect-retry-period': '2s',
};

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

/** Whether two managers would seek one Lease: else both would be at work. */
export function judgeBeside(cluster: Seen<'leases' | 'programs'>, { leaseName }: MigrationTarget): readonly Check[] {
  const { leases, programs } = cluster;
  if (!programs.known) {
    return [
      unknown(
        `the pods of kube-system could not be listed: ${programs.why}`,
        'make sure that the other manager has --leader-elect and the Lease that Outrigger has',
      ),
    ];
  }
  const others = seenOf(programs, 'cloud-controller-manager');
  if (others.length === 0) return [noOther(cluster, leases, leaseName)];
  const checks: Check[] = [];
  const say = (found: readonly SeenProgram[], text: string, todo: string): void => {
    if (found.length > 0)
      checks.push(
        missing(
          text,
          todo,
          found.map(({ pod }) => pod),
        ),
      );
  };
  say(
    others.filter(({ flags }) => !isOn(flags, 'leader-elect', true)),
    'the other manager has --leader-elect=false: it would be active at the same time as Outrigger',
    'start it with --leader-elect=true first; or stop it before Outrigger is started, which leaves a gap',
  );
  const names = others.map((one) => ({ one, name: one.flags.get('leader-elect-resource-name') ?? UPSTREAM_LEASE }));
  const strays = names.filter(({ name }) => name !== leaseName);
  say(
    strays.map(({ one }) => one),
    `the other manager leads by the Lease ${[...new Set(strays.map(({ name }) => name))].join(', ')}, not ${leaseName}`,
    'give Outrigger the same --leader-elect-resource-name, and set it for this command too',
  );
  say(
    others.filter(({ flags }) => (flags.get('leader-elect-resource-namespace') ?? 'kube-system') !== 'kube-system'),
    'the Lease of the other manager is not in kube-system',
    'give Outrigger the same --leader-elect-resource-namespace',
  );
  const timed = others.filter(({ flags }) =>
    Object.entries(TIMES).some(([name, value]) => (flags.get(name) ?? value) !== value),
  );
  say(
    timed,
    'the other manager has other leader election timeouts',
    `give Outrigger the same ${Object.keys(TIMES)
      .map((name) => `--${name}`)
      .join(', ')}`,
  );
  const partial = others.filter(({ isPartial }) => isPartial);
  if (partial.length > 0) checks.push(unknownFlags(partial));
  return checks.length > 0
    ? checks
    : [ok(`Outrigger can wait beside ${podsOf(others)}: they use the Lease ${leaseName}`)];
}

/** Whether the other manager may be ended, or has been. */
export function judgeHandOver(cluster: Seen<'leases' | 'programs'>, { leaseName }: MigrationTarget): readonly Check[] {
  const { leases, now, programs } = cluster;
  if (!programs.known) {
    return [
      unknown(
        `the pods of kube-system could not be listed: ${programs.why}`,
        'make sure that Outrigger runs: kubectl -n kube-system get pods',
      ),
    ];
  }
  const ours = seenOf(programs, 'outrigger');
  const others = seenOf(programs, 'cloud-controller-manager');
  if (ours.length === 0)
    return [
      missing('no pod of kube-system is Outrigger', 'start it beside the other manager, else nothing would take over'),
    ];
  if (!leases.known) return [noLeases(leases)];
  const lease = leases.value.find(({ metadata }) => metadata?.name === leaseName);
  if (!lease || isHeld(lease, now) !== 'yes') {
    return [missing(`the Lease kube-system/${leaseName} has no holder`, 'see the logs of Outrigger')];
  }
  const holder = holderOf(lease);
  const [isOurs, isOther] = [isHolder(ours, holder), isHolder(others, holder)];
  if (isOurs && isOther)
    return [unknown(`${holder} leads, and both managers run there`, 'see in their logs which one')];
  if (isOther)
    return [
      missing(
        'the other manager still leads',
        'stop it when the steps before are done',
        others.map(({ pod }) => pod),
      ),
    ];
  if (!isOurs) return [unknown(`${holder} leads, which is no pod of kube-system`, 'find out which manager that is')];
  if (others.length === 0) return [ok(`Outrigger leads (${holder}), and no other manager is there`)];
  return [
    missing(
      'Outrigger leads, and the other manager waits',
      'remove the other manager',
      others.map(({ pod }) => pod),
    ),
  ];
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

function noOther({ now, programs }: Seen<'programs'>, leases: ObservedCluster['leases'], leaseName: string): Check {
  if (!leases.known) return noLeases(leases);
  const lease = leases.value.find(({ metadata }) => metadata?.name === leaseName);
  if (!lease || isHeld(lease, now) === 'no') return ok('there is no other cloud-controller-manager to wait beside');
  const holder = holderOf(lease);
  return isHolder(seenOf(programs, 'outrigger'), holder)
    ? ok('there is no other cloud-controller-manager any more')
    : unknown(
        `${holder} leads, and no pod of kube-system is another cloud-controller-manager`,
        'if that is not Outrigger, see its flags: --leader-elect, --leader-elect-resource-name',
      );
}

function noLeases(leases: Reading<unknown> & { readonly known: false }): Check {
  return unknown(`Leases of kube-system could not be listed: ${leases.why}`, 'kubectl -n kube-system get leases');
}

/** The identity of a manager begins with the name of its host: of the pod, or with the host's network of the node. */
function isHolder(programs: readonly SeenProgram[], holder: string): boolean {
  const host = hostOf(holder);
  return programs.some(({ node, pod }) => host === pod || host === node);
}

function podsOf(programs: readonly SeenProgram[]): string {
  return programs.map(({ pod }) => pod).join(', ');
}
