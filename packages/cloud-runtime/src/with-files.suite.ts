/** A folder of files for one test, such as modules of a provider. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** `files`: texts by their paths. The folder is removed after `work`. */
export async function withFiles(
  files: Record<string, string>,
  work: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-files-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
      await writeFile(path.join(directory, name), text);
    }
    await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
