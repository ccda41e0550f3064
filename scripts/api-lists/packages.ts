/** Where the lists of public names are, and of what. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const listDirectory: string = path.join(root, 'docs/reference/api');

/** By the file name of its list, the `index.ts` of each package. */
export function packageIndexes(): ReadonlyMap<string, string> {
  const files = globSync('{packages,providers}/*/src/index.ts', { cwd: root }).toSorted();
  return new Map(
    files.map((file) => {
      const [room, name = ''] = file.split(path.sep);
      return [`${room === 'providers' ? 'provider-' : ''}${name}.txt`, path.join(root, file)];
    }),
  );
}
