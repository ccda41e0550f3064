import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Clock } from '@outrigger/kube';

const POLL_MS = 500;

/**
 * One build at a time on a machine: waits until nobody holds `path`, or who held it has died. Two processes that find
 * the same dead owner at the same instant could both go on; that costs a second build and nothing else, since programs
 * arrive in the cache by rename.
 */
export async function acquireBuildLock(
  path: string,
  options: { readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<AsyncDisposable> {
  for (;;) {
    options.signal?.throwIfAborted();
    if (await tryLock(path)) return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    if (await ownerIsDead(path)) {
      const aside = `${path}.${process.pid}.stale`;
      await rename(path, aside).catch(() => {});
      await rm(aside, { force: true });
    } else await options.clock.sleep(POLL_MS, options.signal);
  }
}

async function tryLock(path: string): Promise<boolean> {
  const file = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (!file) return false;
  await file.writeFile(`${process.pid}\n`);
  await file.close();
  return true;
}

async function ownerIsDead(path: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  // Empty: its owner is between creating and writing it, or has just gone.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
