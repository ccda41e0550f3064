/** A file that a flag names. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { whyUnreadable } from '@outrigger/kube';
import { FlagError } from './flag-error.ts';

/**
 * Its text. `flag`: `--config`; `directory`: from where `file` is resolved, default: that of the process. Rejects with a `FlagError`
 * that names both flag and file, as they were given.
 */
export async function readFlagFile(flag: string, file: string, directory = ''): Promise<string> {
  try {
    return await readFile(path.resolve(directory, file), 'utf8');
  } catch (error) {
    throw new FlagError('invalid-flag', `${flag}=${file}: ${whyUnreadable(error)}`);
  }
}
