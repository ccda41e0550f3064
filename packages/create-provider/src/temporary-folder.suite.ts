/** A folder of a test's own, and repositories in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRepository, type CreateOptions } from './create/create-repository.ts';

export interface TemporaryFolder extends Disposable {
  readonly path: string;
  /** Makes the repository of a provider in it, and returns its path. */
  create(name: string, options?: Omit<CreateOptions, 'directory' | 'name'>): string;
}

export function temporaryFolder(): TemporaryFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-create-'));
  return {
    path: folder,
    create: (name, options = {}) => {
      const directory = path.join(folder, name);
      createRepository({ directory, name, ...options });
      return directory;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
