import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The bytes of all files below a directory. */
export function treeBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0);
}
