/** Files with credentials that others on the machine can read: said at the start, as nothing here can know who they are. */
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@outrigger/kube';

export interface SecretFile {
  /** `--cloud-config`. */
  readonly flag: string;
  readonly path: string;
  /** The provider has it watched: it may be a bundle of authorities, which is no secret. */
  readonly isWatched?: boolean;
}

/** Of the mode of a file. */
const [GROUP_MAY_READ, OTHERS_MAY_READ] = [0o040, 0o004];

/** `group`: that of this process, which may be how it is let read them. Of a file that is not there it says nothing, of each other once. */
export async function warnOfReadableSecrets(
  files: readonly SecretFile[],
  { group, logger, workingDirectory }: { group: number | undefined; logger: Logger; workingDirectory: string },
): Promise<void> {
  const judged = new Set<string>();
  for (const { flag, isWatched = false, path: name } of files) {
    const file = path.resolve(workingDirectory, name);
    if (judged.has(file)) continue;
    judged.add(file);
    const found = await stat(file).catch(() => undefined);
    if (!found || (await isMountedByKubelet(file))) continue;
    const byGroup = (found.mode & GROUP_MAY_READ) !== 0 && found.gid !== group;
    if ((found.mode & OTHERS_MAY_READ) === 0 && !byGroup) continue;
    if (isWatched && (await hasCertificatesAlone(file))) continue;
    const mode = (found.mode & 0o777).toString(8);
    logger.warn('A file with credentials can be read by others: chmod 600 it', { flag, file, mode });
  }
}

async function hasCertificatesAlone(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY-----');
}

/** The kubelet writes a Secret or a ConfigMap into a directory `..2026_…` that `..data` leads to, and of which the pod alone has a mount. */
async function isMountedByKubelet(file: string): Promise<boolean> {
  const real = await realpath(file);
  return path.basename(path.dirname(real)).startsWith('..');
}
