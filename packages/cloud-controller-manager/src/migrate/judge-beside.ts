/** Whether Outrigger and another manager seek one Lease: else both would be at work. Pure. */
import { missing, ok, unknown, type Check } from './check.ts';
import { elects, leaseNameOf, migratesByFile } from './election-of.ts';
import { seenOf, unknownFlags } from './judge-components.ts';
import { holderOf, isHeld, isHolder, noLeases } from './lease-holder.ts';
import type { MigrationTarget, Seen } from './observed-cluster.ts';
import { podsOf, type SeenProgram } from './seen-program.ts';

const NAMESPACE: Readonly<Record<string, string>> = { 'leader-elect-resource-namespace': 'kube-system' };
/** All who seek one Lease must agree on them. Values are upstream's defaults. */
const TIMES: Readonly<Record<string, string>> = {
  'leader-elect-lease-duration': '15s',
  'leader-elect-renew-deadline': '10s',
  'leader-elect-retry-period': '2s',
};

export function judgeBeside(cluster: Seen<'leases' | 'programs'>, { leaseName }: MigrationTarget): readonly Check[] {
  const { programs } = cluster;
  if (!programs.known) {
    return [
      unknown(
        `the pods of kube-system could not be listed: ${programs.why}`,
        'make sure that the other manager has --leader-elect and the Lease that Outrigger has',
      ),
    ];
  }
  const others = seenOf(programs, 'cloud-controller-manager');
  if (others.length === 0) return [noOther(cluster, leaseName)];
  const ours = seenOf(programs, 'outrigger');
  const strays = others.filter((one) => leadsElsewhere(one, leaseName));
  const partial = [...others, ...ours].filter(({ isPartial }) => isPartial);
  const checks = [
    ...lacking(
      others.filter((one) => !elects(one)),
      'the other manager has --leader-elect=false: it would be active at the same time as Outrigger',
      'start it with --leader-elect=true first; or stop it before Outrigger is started, which leaves a gap',
    ),
    ...lacking(
      strays,
      `the other manager leads by the Lease ${leaseNamesOf(strays)}, not ${leaseName}`,
      'give Outrigger the same --leader-elect-resource-name, and set it for this command too',
    ),
    ...judgeOwnElection(ours, leaseName),
    ...lacking(
      differing(others, ours, NAMESPACE),
      'the Leases of the other manager and of Outrigger are in different namespaces',
      `give Outrigger the ${flagsOf(NAMESPACE)} of the other manager`,
    ),
    ...lacking(
      differing(others, ours, TIMES),
      'the leader election timeouts of the other manager and of Outrigger differ',
      `give Outrigger those of the other manager: ${flagsOf(TIMES)}`,
    ),
    ...(partial.length > 0 ? [unknownFlags(partial)] : []),
  ];
  return checks.length > 0
    ? checks
    : [ok(`Outrigger can wait beside ${podsOf(others)}: they use the Lease ${leaseName}`)];
}

/** Pods of Outrigger that do not wait for the Lease. */
export function judgeOwnElection(ours: readonly SeenProgram[], leaseName: string): readonly Check[] {
  const strays = ours.filter((one) => elects(one) && leadsElsewhere(one, leaseName));
  const migrating = strays.filter((one) => migratesByFile(one));
  const others = strays.filter((one) => !migratesByFile(one));
  const led = (those: readonly SeenProgram[]): string =>
    `Outrigger leads by the Lease ${leaseNamesOf(those)}, not ${leaseName}`;
  return [
    ...lacking(
      ours.filter((one) => !elects(one)),
      'Outrigger has --leader-elect=false: it is active at the same time as any other manager',
      'stop it, and start it with --leader-elect=true',
    ),
    ...lacking(
      others,
      `${led(others)}: it is active at the same time as the holder of that one`,
      `stop it, and start it with --leader-elect-resource-name=${leaseName}; if the other manager has its Lease, name that for this command`,
    ),
    ...(migrating.length > 0
      ? [
          unknown(
            `${led(migrating)}, with a leader migration file, which cannot be read from here`,
            'make sure that each controller that it runs is in the migration files of both managers, or off in the other one',
            migrating.map(({ pod }) => pod),
          ),
        ]
      : []),
  ];
}

function leadsElsewhere(one: SeenProgram, leaseName: string): boolean {
  return hasSeen(one, ['leader-elect-resource-name']) && leaseNameOf(one) !== leaseName;
}

/** Otherwise not even the default is known. */
function hasSeen({ flags, isPartial }: SeenProgram, names: readonly string[]): boolean {
  return !isPartial || names.every((name) => flags.has(name));
}

function lacking(found: readonly SeenProgram[], text: string, todo: string): readonly Check[] {
  return found.length === 0
    ? []
    : [
        missing(
          text,
          todo,
          found.map(({ pod }) => pod),
        ),
      ];
}

/** Those without the default, where not all agree. Before Outrigger is there, it has the defaults. */
function differing(
  others: readonly SeenProgram[],
  ours: readonly SeenProgram[],
  defaults: Readonly<Record<string, string>>,
): readonly SeenProgram[] {
  const byDefault = Object.values(defaults).join(' ');
  const valuesOf = ({ flags }: SeenProgram): string =>
    Object.entries(defaults)
      .map(([name, value]) => flags.get(name) ?? value)
      .join(' ');
  const all = [...others, ...ours].filter((one) => hasSeen(one, Object.keys(defaults)));
  const values = new Set([...all.map(valuesOf), ...(ours.length === 0 ? [byDefault] : [])]);
  return values.size > 1 ? all.filter((one) => valuesOf(one) !== byDefault) : [];
}

function flagsOf(defaults: Readonly<Record<string, string>>): string {
  return Object.keys(defaults)
    .map((name) => `--${name}`)
    .join(', ');
}

function leaseNamesOf(programs: readonly SeenProgram[]): string {
  return [...new Set(programs.map((one) => leaseNameOf(one)))].join(', ');
}

function noOther({ leases, now, programs }: Seen<'leases' | 'programs'>, leaseName: string): Check {
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
