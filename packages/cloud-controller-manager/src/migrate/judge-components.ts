/** kube-apiserver and kube-controller-manager: no cloud in them any more, and one allocator of pod CIDRs. Pure. */
import type { Lease } from '@outrigger/kube';
import { missing, ok, unknown, type Check } from './check.ts';
import { lockOf, MIGRATION_LEASE, migratedLockOf, migratesByFile } from './election-of.ts';
import { holderOf, isHeld, isHolder, noLeases } from './lease-holder.ts';
import type { ObservedCluster, Seen } from './observed-cluster.ts';
import { isOn, type ProgramFlags, type ProgramName, type SeenProgram } from './seen-program.ts';

const MANAGER_FLAGS = '--cloud-provider=external or without, no --cloud-config';
const IPAM_NAMES = ['node-ipam-controller', 'nodeipam'];

export function judgeApiServer({
  apiServerFlags,
  leases,
  now,
  programs,
}: Seen<'apiServerFlags' | 'leases' | 'programs'>): readonly Check[] {
  const seen = seenOf(programs, 'kube-apiserver');
  // Pods show those that did not answer, too; but a kubelet can make one itself.
  const all = [...seen, ...(apiServerFlags.known ? [itself(apiServerFlags.value)] : [])];
  if (all.length === 0) {
    const why = [
      programs.known ? 'no pod of kube-system runs it' : programs.why,
      apiServerFlags.known ? '' : apiServerFlags.why,
    ];
    return [
      unknown(
        `the flags of kube-apiserver could not be seen: ${[...new Set(why)].filter((one) => one !== '').join('; ')}`,
        'make sure that it has neither --cloud-provider nor --cloud-config nor the admission plugin PersistentVolumeLabel',
      ),
    ];
  }
  const running = leases.known ? leases.value.filter((lease) => isApiServer(lease) && isHeld(lease, now) !== 'no') : [];
  const unseenCount = running.length - (seen.length || 1);
  const unseen =
    unseenCount > 0
      ? [
          unknown(
            `the flags of ${unseenCount} of ${running.length} kube-apiservers could not be seen`,
            'make sure that their flags are those of the others',
          ),
        ]
      : [];
  const checks = judged(
    all,
    ({ flags }) => [
      ...flagged(flags, 'cloud-provider', ['']),
      ...flagged(flags, 'cloud-config', ['']),
      ...(listOf(flags, 'enable-admission-plugins').includes('PersistentVolumeLabel')
        ? ['--enable-admission-plugins has PersistentVolumeLabel']
        : []),
    ],
    'kube-apiserver has no cloud provider flags',
    'remove these flags: Outrigger labels volumes with the persistent-volume-label-controller',
  );
  return [...checks, ...unseen];
}

export function judgeControllerManager(cluster: Seen<'leases' | 'programs'>): readonly Check[] {
  const { programs } = cluster;
  const all = seenOf(programs, 'kube-controller-manager');
  if (all.length === 0) return [unseen(programs, 'kube-controller-manager', `make sure that it has ${MANAGER_FLAGS}`)];
  const checks = judged(
    all,
    ({ flags }) => [
      ...flagged(flags, 'cloud-provider', ['', 'external']),
      ...flagged(flags, 'cloud-config', ['']),
      ...flagged(flags, 'external-cloud-volume-plugin', ['']),
    ],
    'kube-controller-manager has no cloud provider flags',
    `start it with ${MANAGER_FLAGS}`,
  );
  return [...checks, ...unproved(cluster)];
}

/** Any kubelet can show a kube-controller-manager; the one that leads is on the node whose name it has. */
function unproved({ leases, programs }: Seen<'leases' | 'programs'>): readonly Check[] {
  const managers = seenOf(programs, 'kube-controller-manager');
  if (!managers.every(({ isMirror }) => isMirror)) return [];
  if (!leases.known) return [noLeases(leases)];
  const lease = leases.value.find(({ metadata }) => metadata?.name === 'kube-controller-manager');
  if (!lease || isHolder(managers, holderOf(lease))) return [];
  return [
    unknown(
      `${holderOf(lease)} leads, and no static Pod of kube-controller-manager is on a node of that name: the flags of others are inconclusive`,
      'see the flags of the kube-controller-manager on that host, or ask who operates the control plane',
      managers.map(({ pod }) => pod),
    ),
  ];
}

/** One manager allocates pod CIDRs, or several that agree on who does. */
export function judgeIpam(cluster: Seen<'leases' | 'programs'>): readonly Check[] {
  const { programs } = cluster;
  const managers = seenOf(programs, 'kube-controller-manager');
  if (!programs.known || managers.length === 0) {
    const todo =
      'find out which manager has --allocate-node-cidrs and the controller node-ipam-controller: only one may';
    return [unseen(programs, 'kube-controller-manager', todo)];
  }
  const clouds = [...seenOf(programs, 'cloud-controller-manager'), ...seenOf(programs, 'outrigger')];
  const inKube = managers.filter(({ flags }) => allocates(flags, true));
  const allocators = [...inKube, ...clouds.filter(({ flags }) => allocates(flags, false))];
  if (countOf(allocators, lockOf) > 1) return [judgeTurns(allocators)];
  const strangers = clouds.filter(
    ({ flags, program }) => program !== 'outrigger' && allocates(flags, true) && !allocates(flags, false),
  );
  if (allocators.length > 0 && strangers.length > 0 && countOf([...allocators, ...strangers], lockOf) > 1) {
    return [
      unknown(
        'a manager allocates pod CIDRs, and another one with --allocate-node-cidrs may do so too, or only make routes',
        'see in its log whether it starts the node-ipam-controller; --controllers=*,-node-ipam-controller makes sure that it does not',
        strangers.map(({ pod }) => pod),
      ),
    ];
  }
  const partial = [...managers, ...clouds].filter(({ isPartial }) => isPartial);
  if (partial.length > 0) return [unknownFlags(partial)];
  const who =
    allocators.length === 0
      ? 'none of these managers'
      : countOf(allocators, ({ program }) => program) > 1
        ? 'one after the other, under one Lease'
        : inKube.length > 0
          ? 'kube-controller-manager alone'
          : 'a cloud-controller-manager alone';
  return [ok(`pod CIDRs are allocated by ${who}`), ...unproved(cluster)];
}

/** Of several that have not one lock: whether leader migration gives their controller one. */
function judgeTurns(allocators: readonly SeenProgram[]): Check {
  const pods = allocators.map(({ pod }) => pod);
  // It trusts that under the lock of a migration only one is active.
  const trusts = allocators.some((one) => one.program === 'outrigger' && migratesByFile(one))
    ? '; Outrigger does not look for another allocator at its start if its own file has that controller'
    : '';
  return countOf(allocators, migratedLockOf) > 1
    ? missing(
        'several managers allocate pod CIDRs at the same time: their node-ipam-controllers do not use one Lease',
        `turn one off: --controllers=*,-node-ipam-controller; or give all --enable-leader-migration and one --leader-migration-config with node-ipam-controller${trusts}`,
        pods,
      )
    : unknown(
        'several managers allocate pod CIDRs, one after the other only if their leader migration files say so, which cannot be read from here',
        `see that node-ipam-controller is in the file of each, with the same component, and leaderName ${MIGRATION_LEASE}${trusts}`,
        pods,
      );
}

function countOf(programs: readonly SeenProgram[], what: (one: SeenProgram) => string): number {
  return new Set(programs.map((one) => what(one))).size;
}

/** Each kube-apiserver renews one of its own. */
function isApiServer({ metadata }: Lease): boolean {
  return metadata?.labels?.['apiserver.kubernetes.io/identity'] === 'kube-apiserver';
}

export function seenOf(programs: ObservedCluster['programs'], program: ProgramName): readonly SeenProgram[] {
  return programs.known ? programs.value.filter((one) => one.program === program) : [];
}

/** Flags that come from the environment of a container, or from a file, may say anything. */
export function unknownFlags(partial: readonly SeenProgram[]): Check {
  const text = 'some of the flags come from environment variables or from a --config file, which are not read';
  return unknown(
    text,
    'see the flags of the running program: /flagz, or its log',
    partial.map(({ pod }) => pod),
  );
}

function unseen(programs: ObservedCluster['programs'], program: ProgramName, todo: string): Check {
  const why = programs.known ? 'no pod of kube-system runs it' : programs.why;
  return unknown(`the flags of ${program} could not be seen: ${why}`, todo);
}

function judged(
  all: readonly SeenProgram[],
  faults: (one: SeenProgram) => readonly string[],
  good: string,
  todo: string,
): readonly Check[] {
  const found = all.flatMap((one) => faults(one).map((fault) => `${one.pod}: ${fault}`));
  if (found.length > 0) return [missing(`flags of an in-tree cloud provider`, todo, found)];
  const partial = all.filter(({ isPartial }) => isPartial);
  return partial.length > 0 ? [unknownFlags(partial)] : [ok(`${good}: ${all.map(({ pod }) => pod).join(', ')}`)];
}

/** Values of other flags, and of these where they are file names, are nobody's business: they are not shown. */
function flagged(flags: ProgramFlags, name: string, good: readonly string[]): readonly string[] {
  const value = flags.get(name);
  return value === undefined || good.includes(value) ? [] : [`--${name}=${value}`];
}

function listOf(flags: ProgramFlags, name: string): readonly string[] {
  return (flags.get(name) ?? '').split(',');
}

function allocates(flags: ProgramFlags, byDefault: boolean): boolean {
  if (!isOn(flags, 'allocate-node-cidrs')) return false;
  const controllers = (flags.get('controllers') ?? '*').split(',');
  const says = (sign: string): boolean => IPAM_NAMES.some((name) => controllers.includes(sign + name));
  return !says('-') && (says('') || (byDefault && controllers.includes('*')));
}

function itself(flags: ProgramFlags): SeenProgram {
  return {
    program: 'kube-apiserver',
    pod: 'the one that answered',
    isMirror: false,
    node: '',
    flags,
    isPartial: false,
  };
}
