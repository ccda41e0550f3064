/** Programs made of Go modules that are built once and kept in the cache. */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { access, constants, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger, systemClock, type Clock, type Logger } from '@outrigger/kube';
import { buildGoProgram, type GoProgram } from './build-binaries.ts';
import { acquireBuildLock } from './build-lock.ts';
import { buildLockPath, cacheDirectory } from './cache-directory.ts';

export interface CachedGoProgram extends Omit<GoProgram, 'destination'> {
  /** Of the file, and of its folder in the cache. */
  readonly name: string;
}

export interface CacheOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  /** Told of a build, which takes minutes. */
  readonly logger?: Logger;
  /** Default: `buildGoProgram`. */
  readonly build?: (program: GoProgram) => Promise<void>;
}

/**
 * The path of the program, which is built if that version of it, and of one's own sources, is not in the cache. Rejects with
 * code `ENOENT` where there is no Go, and with the end of Go's output when the build fails.
 */
export async function cachedGoProgram(program: CachedGoProgram, options: CacheOptions = {}): Promise<string> {
  const { build = buildGoProgram, clock = systemClock, env = process.env, logger = silentLogger } = options;
  const { name, source, version } = program;
  const own = typeof source === 'object' && 'folder' in source ? `-${await digestOf(source.folder)}` : '';
  const destination = join(cacheDirectory(env), name, `${version}${own}`, name);
  if (await isExecutable(destination)) return destination;
  await mkdir(cacheDirectory(env), { recursive: true });
  await using _lock = await acquireBuildLock(buildLockPath(env), { clock, signal: program.signal });
  // Another process may have made it while this one waited for the lock.
  if (await isExecutable(destination)) return destination;
  const started = clock.monotonic();
  logger.info(`${name} ${version}: build …`);
  await build({ ...program, destination });
  const seconds = Math.round((clock.monotonic() - started) / 1_000);
  logger.info(`${name} ${version}: build took ${seconds} s`, { path: destination });
  return destination;
}

/** Of the names and the contents of its files. */
async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync('**/*.go', { cwd: folder }).toSorted()) {
    hash.update(`${file}\0`).update(await readFile(join(folder, file)));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Whether there is such a program. */
export function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
