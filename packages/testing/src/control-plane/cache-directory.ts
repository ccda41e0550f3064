import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what was downloaded or built stays: `$XDG_CACHE_HOME/outrigger`, by default below `~/.cache`. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'outrigger');
}

/** For `acquireBuildLock`, once the cache directory is there: one for all that is kept in it. */
export function buildLockPath(env: NodeJS.ProcessEnv): string {
  return join(cacheDirectory(env), '.build-lock');
}
