/** Files of one folder, as a Secret or a ConfigMap is mounted. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { CloudError } from '@outrigger/cloud-provider';

/**
 * Texts by the names of files, each without a line break at its end; `undefined` where there is no such folder. Throws a `CloudError` `configuration` for one
 * that cannot be read, or of which a file cannot, such as one that goes meanwhile; in it the folder is called `what`.
 */
export async function readMountedFiles(
  directory: string,
  what: string,
  isWanted: (name: string) => boolean,
): Promise<ReadonlyMap<string, string> | undefined> {
  let names: readonly string[] | undefined;
  try {
    names = (await readdir(directory)).filter(isWanted);
    const files = names.map(async (name): Promise<[string, string]> => {
      const text = await readFile(path.join(directory, name), 'utf8');
      return [name, text.replace(/\n$/u, '')];
    });
    return new Map(await Promise.all(files));
  } catch (error) {
    const { code, path: at = directory } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !names) return undefined;
    const message = `${what} ${at} cannot be read: ${code ?? 'unknown error'}`;
    throw new CloudError('configuration', message, { cause: error });
  }
}
