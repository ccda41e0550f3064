/** kube-apiserver and kube-controller-manager: no cloud in them any more, and one allocator of pod CIDRs. Pure. */
import type { Lease } from '@outrigger/kube';
import { missing, ok, unknown, type Check } from './check.ts';
import { isHeld } from './lease-holder.ts';
import type { ObservedCluster, Seen } from './observed-cluster.ts';
import type { ProgramFlags, ProgramName, SeenProgram } from './seen-program.ts';

const MANAGER_FLAGS = '--cloud-provider=external or without, no --cloud-config';
const IPAM_NAMES = ['node-ipam-controller', 'nodeipam'];

export function judgeApiServer({
  apiServerFlags,
  leases,
  now,
  programs,
}: Seen<'apiServerFlags' | 'leases' | 'programs'>): readonly Check[] {
  const seen = seenOf(programs, 'kube-apiserver');
  // Where pods show them all, those that did not answer are looked at, too.
  const all = seen.length > 0 ? seen : apiServerFlags.known ? [itself(apiServerFlags.value)] : [];
  if (all.length === 0) {
    const why = [
      programs.known ? 'no pod of kube-system runs it' : programs.why,
      apiServerFlags.known ? '' : apiServerFlags.why,
    ];
    return [
      unknown(
        `the flags of kube-apiserver could not be seen: ${why.filter((one) => one !== '').join('; ')}`,
        'make sure that it has neither --cloud-provider nor --cloud-config nor the admission plugin PersistentVolumeLabel',
      ),
    ];
  }
  const running = leases.known ? leases.value.filter((lease) => isApiServer(lease) && isHeld(lease, now) !== 'no') : [];
  const unseen =
    running.length > all.length
      ? [
          unknown(
            `the flags of ${running.length - all.length} of ${running.length} kube-apiservers could not be seen`,
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

export function judgeControllerManager({ programs }: Seen<'programs'>): readonly Check[] {
  const all = seenOf(programs, 'kube-controller-manager');
  if (all.length === 0) return [unseen(programs, 'kube-controller-manager', `make sure that it has ${MANAGER_FLAGS}`)];
  return judged(
    all,
    ({ flags }) => [
      ...flagged(flags, 'cloud-provider', ['', 'external']),
      ...flagged(flags, 'cloud-config', ['']),
      ...flagged(flags, 'external-cloud-volume-plugin', ['']),
    ],
    'kube-controller-manager has no cloud provider flags',
    `start it with ${MANAGER_FLAGS}`,
  );
}

/** One manager allocates pod CIDRs, or several that agree on who does. */
export function judgeIpam({ programs }: Seen<'programs'>): readonly Check[] {
  const managers = seenOf(programs, 'kube-controller-manager');
  if (!programs.known || managers.length === 0) {
    const todo =
      'find out which manager has --allocate-node-cidrs and the controller node-ipam-controller: only one may';
    return [unseen(programs, 'kube-controller-manager', todo)];
  }
  const clouds = [...seenOf(programs, 'cloud-controller-manager'), ...seenOf(programs, 'outrigger')];
  const inKube = managers.filter(({ flags }) => allocates(flags, true));
  const inCloud = clouds.filter(({ flags }) => allocates(flags, false));
  const migrates = [...inKube, ...inCloud].every(
    ({ flags }) =>
      isOn(flags, 'enable-leader-migration') || flags.get('leader-elect-resource-name') === MIGRATION_LEASE,
  );
  if (inKube.length > 0 && inCloud.length > 0 && !migrates) {
    return [
      missing(
        'kube-controller-manager and a cloud-controller-manager both allocate pod CIDRs',
        'turn one off: --controllers=*,-node-ipam-controller; or let both use one Lease, by leader migration',
        [...inKube, ...inCloud].map(({ pod }) => pod),
      ),
    ];
  }
  const strangers = clouds.filter(
    ({ flags, program }) => program !== 'outrigger' && allocates(flags, true) && !allocates(flags, false),
  );
  if (inKube.length > 0 && strangers.length > 0) {
    return [
      unknown(
        'kube-controller-manager allocates pod CIDRs, and another manager with --allocate-node-cidrs may do so too, or only make routes',
        'see in its log whether it starts the node-ipam-controller; --controllers=*,-node-ipam-controller makes sure that it does not',
        strangers.map(({ pod }) => pod),
      ),
    ];
  }
  const partial = [...managers, ...clouds].filter(({ isPartial }) => isPartial);
  if (partial.length > 0) return [unknownFlags(partial)];
  const who =
    inKube.length > 0
      ? inCloud.length > 0
        ? 'one after the other, by leader migration'
        : 'kube-controller-manager alone'
      : inCloud.length > 0
        ? 'a cloud-controller-manager alone'
        : 'none of these managers';
  return [ok(`pod CIDRs are allocated by ${who}`)];
}

/** Each kube-apiserver renews one of its own. */
function isApiServer({ metadata }: Lease): boolean {
  return metadata?.labels?.['apiserver.kubernetes.io/identity'] === 'kube-apiserver';
}

export const MIGRATION_LEASE = 'cloud-provider-extraction-migration';

export function seenOf(programs: ObservedCluster['programs'], program: ProgramName): readonly SeenProgram[] {
  return programs.known ? programs.value.filter((one) => one.program === program) : [];
}

export function isOn(flags: ProgramFlags, name: string, byDefault = false): boolean {
  const value = flags.get(name);
  return value === undefined ? byDefault : /^(?:1|t|true)$/iu.test(value);
}

/** Flags that come from the environment of a container may say anything. */
export function unknownFlags(partial: readonly SeenProgram[]): Check {
  const text = 'some of the flags come from environment variables, which are not resolved';
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
  return { program: 'kube-apiserver', pod: 'the one that answered', node: '', flags, isPartial: false };
}
