/** Whether this machine can bring up the OpenStack lab (providers/openstack/lab), found out without bringing it up. */
import { spawnSync } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { labDirectory } from './lab.ts';

/** The lab takes 3 GiB at most, the control plane and the tests beside it the rest. */
const NEEDED_GIB = 6;
const ANSWER_MS = 20_000;

/** Resolves with the first reason why not, in words. `undefined`: it can. */
export async function whyNoLab(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the lab needs Linux';
  if (process.getuid?.() !== 0) return 'the lab needs root: chroot and namespaces';
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0)
    return 'no mount and PID namespaces can be made here';
  const available = Number(/^MemAvailable:\s+(\d+) kB$/mu.exec(await readFile('/proc/meminfo', 'utf8'))?.[1] ?? 0);
  if (available < NEEDED_GIB * 1024 ** 2)
    return `${NEEDED_GIB} GiB of memory are needed, and ${(available / 1024 ** 2).toFixed(1)} are free`;
  const isBuilt = await access(join(labDirectory(), 'root')).then(
    () => true,
    () => false,
  );
  return isBuilt ? undefined : whyNotBuilt();
}

/** As providers/openstack/lab/build.sh finds the archive. */
async function whyNotBuilt(): Promise<string | undefined> {
  const archive = process.env['OUTRIGGER_DEBIAN_ARCHIVE'] ?? archiveOfApt();
  if (!archive) return "this machine's apt has no archive of Debian to build the lab from";
  try {
    const { ok, status } = await fetch(`${archive}/dists/bookworm/InRelease`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return ok ? undefined : `the archive of Debian answers ${status} for bookworm`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `the archive of Debian cannot be reached: ${cause instanceof Error ? cause.message : message}`;
  }
}

function archiveOfApt(): string | undefined {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'], {
    encoding: 'utf8',
  });
  const uris = (stdout ?? '').split('\n').map((line) => line.replace(/\/$/u, ''));
  return uris.find((uri) => uri.endsWith('/debian'));
}
