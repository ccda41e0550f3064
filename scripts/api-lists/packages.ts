/** Where the lists of public names are, and of what. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const listDirectory: string = path.join(root, 'docs/reference/api');

/** By the file name of its list, the source of each entry point: `provider-kit.txt`, `provider-kit-fake.txt`. */
export function packageIndexes(): ReadonlyMap<string, string> {
  const manifests = globSync('{packages,providers}/*/package.json', { cwd: root }).toSorted();
  return new Map(
    manifests.flatMap((file) => {
      const folder = path.join(root, path.dirname(file));
      const { exports } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as {
        readonly exports: Readonly<Record<string, string>>;
      };
      const name = `${file.startsWith('providers') ? 'provider-' : ''}${path.basename(folder)}`;
      return Object.entries(exports).map(([subpath, source]): [string, string] => [
        `${path.posix.join(name, subpath).replaceAll('/', '-')}.txt`,
        path.join(folder, source),
      ]);
    }),
  );
}
