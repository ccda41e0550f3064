/** A directory with some files, for the time of a test. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function withDirectory<T>(
  files: Readonly<Record<string, string>>,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-command-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
