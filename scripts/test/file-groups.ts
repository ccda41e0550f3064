/**
 * Unit tests share processes: most of them take milliseconds, and a process that loads what they try takes half a second.
 * What starts programs, listens or tries a whole contract keeps a process of its own.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const OWN_PROCESS = /\.(browser|contract|control-plane|integration|lab|packages)\.test\.ts$/;
const GROUP_END = join(import.meta.dirname, 'group-end.ts');

/** Files for one process each, in their order. Neighbours share most of what they load, so a group is a run of neighbours. */
export function groupFiles(
  files: readonly string[],
  perGroup: number,
): { readonly alone: readonly string[]; readonly groups: readonly (readonly string[])[] } {
  const together = files.filter((path) => !OWN_PROCESS.test(path));
  const groups: string[][] = [];
  for (let start = 0; start < together.length; start += perGroup) {
    groups.push(together.slice(start, start + perGroup));
  }
  return { alone: files.filter((path) => OWN_PROCESS.test(path)), groups };
}

/** Writes one module per group, which imports the group's files, and returns the paths for `node --test`. */
export function writeGroups(groups: readonly (readonly string[])[], directory: string): readonly string[] {
  return groups.map((files, index) => {
    const path = join(directory, `unit-${index + 1}-of-${groups.length}.mjs`);
    const imports = [GROUP_END, ...files].map(
      (file) => `import ${JSON.stringify(pathToFileURL(resolve(file)).href)};\n`,
    );
    writeFileSync(path, imports.join(''));
    return path;
  });
}
