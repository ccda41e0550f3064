/** What the lock file has, held against what npm says that it has installed. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { LockFile } from './bundled-packages.ts';

/**
 * The lock file of `root`. Throws where a package is installed with another hash than it has: from an older lock file, or from elsewhere. What
 * was changed in `node_modules` by another hand than npm's is not noticed.
 */
export function readLockFile(root: string): LockFile {
  const read = (file: string): LockFile => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as LockFile;
  // Written by npm, with the hash of each tarball that it has unpacked.
  const record = 'node_modules/.package-lock.json';
  if (!existsSync(path.join(root, record))) throw new Error(`${record} is not there: run make setup`);
  const lock = read('package-lock.json');
  const others = installedOtherwise(lock, read(record));
  if (others.length > 0) {
    throw new Error(
      `not installed as package-lock.json has it: ${others.join(', ')}: remove node_modules and run make setup`,
    );
  }
  return lock;
}

/** By path. What the lock file does not have is none of it: of what is bundled, `bundledPackages` refuses it. */
function installedOtherwise({ packages: locked }: LockFile, { packages: installed }: LockFile): readonly string[] {
  return Object.keys(installed).filter(
    (place) => locked[place] && locked[place].integrity !== installed[place]?.integrity,
  );
}
