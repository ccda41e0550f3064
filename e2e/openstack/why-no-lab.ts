/** Whether this machine can bring up the OpenStack lab (providers/openstack/lab), found out without bringing it up. Entry: `whyNoLab`. */
import { spawnSync } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock, type Clock } from '@outrigger/kube';
import { labDirectory } from './lab.ts';

/** The lab takes 3 GiB at most, the control plane and the tests beside it the rest. */
const NEEDED_GIB = 6;
const ANSWER_MS = 20_000;
/** For how long what may pass is looked at again, and how often. */
const PATIENCE_MS = 90_000;
const PAUSE_MS = 10_000;
const ARCHIVE = fileURLToPath(new URL('../../providers/openstack/lab/archive.sh', import.meta.url));
/** Of each archive that providers/openstack/lab/build.sh takes packages from. */
const SUITES = { debian: 'bookworm', 'debian-security': 'bookworm-security' };
/** Below 500, and yet no word about what is asked for. */
const BUSY: readonly number[] = [408, 429];

/** What the lab needs and has not. */
export interface Lack {
  readonly why: string;
  /** It may be there in a moment: memory that others use, an archive that does not answer. */
  readonly mayPass: boolean;
}

/** Resolves with the first reason why not, in words. `undefined`: it can. */
export async function whyNoLab(): Promise<string | undefined> {
  return lastingLack(async () => whyNever() ?? (await lackOfMemory()) ?? (await lackOfBuild()), systemClock);
}

/** Looks again while what is missing may pass. What cannot is told at once. */
export async function lastingLack(look: () => Promise<Lack | undefined>, clock: Clock): Promise<string | undefined> {
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (let looks = 1; ; looks++) {
    const lack = await look();
    if (!lack?.mayPass) return lack?.why;
    if (clock.monotonic() + PAUSE_MS > deadline) return `${lack.why} (looked at ${looks} times)`;
    await clock.sleep(PAUSE_MS);
  }
}

const never = (why: string): Lack => ({ why, mayPass: false });
const notNow = (why: string): Lack => ({ why, mayPass: true });

function whyNever(): Lack | undefined {
  if (process.platform !== 'linux') return never('the lab needs Linux');
  if (process.getuid?.() !== 0) return never('the lab needs root: chroot and namespaces');
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0)
    return never('no mount and PID namespaces can be made here');
  return undefined;
}

async function lackOfMemory(): Promise<Lack | undefined> {
  const text = await readFile('/proc/meminfo', 'utf8');
  const gib = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'mu').exec(text)?.[1] ?? 0) / 1024 ** 2;
  const [total, available] = [gib('MemTotal'), gib('MemAvailable')];
  if (total < NEEDED_GIB) return never(`${NEEDED_GIB} GiB of memory are needed, and there are ${total.toFixed(1)}`);
  if (available >= NEEDED_GIB) return undefined;
  return notNow(`${NEEDED_GIB} GiB of memory are needed, and ${available.toFixed(1)} are free`);
}

async function lackOfBuild(): Promise<Lack | undefined> {
  const isBuilt = await access(join(labDirectory(), 'root')).then(
    () => true,
    () => false,
  );
  if (isBuilt) return undefined;
  for (const [name, suite] of Object.entries(SUITES)) {
    const lack = await lackOfArchive(name, suite);
    if (lack) return lack;
  }
  return undefined;
}

async function lackOfArchive(name: string, suite: string): Promise<Lack | undefined> {
  const { status, stderr, stdout } = spawnSync('bash', [ARCHIVE, name], { encoding: 'utf8' });
  if (status !== 0) return never(stderr.trim());
  const release = `${stdout.trim()}/dists/${suite}/InRelease`;
  try {
    const response = await fetch(release, { signal: AbortSignal.timeout(ANSWER_MS) });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const why = `${release} is answered with ${response.status}`;
    return response.status < 500 && !BUSY.includes(response.status) ? never(why) : notNow(why);
  } catch (error) {
    const { cause, message } = error as Error;
    return notNow(`${release} cannot be had: ${cause instanceof Error ? cause.message : message}`);
  }
}
