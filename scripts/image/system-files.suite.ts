/** Whether a root has what goes with the programs and libraries of others that are in it. For tests. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Component {
  readonly 'bom-ref'?: string;
  readonly name: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly content: string }[];
  readonly components?: readonly Component[];
}

const repository = fileURLToPath(new URL('../../', import.meta.url));
const NODE_LICENSE = 'usr/share/doc/node/LICENSE';

/** Licence files that are not in `root`: Node's, and those that this machine has of the Debian packages in `bill`. */
export function missingTerms(root: string, bill: string): readonly string[] {
  const packages = componentsOf(bill).filter(({ purl = '' }) => purl.startsWith('pkg:deb/'));
  const debian = packages.map(({ name }) => `usr/share/doc/${name}/copyright`).filter((file) => existsSync(`/${file}`));
  return [NODE_LICENSE, ...debian].filter((file) => !existsSync(join(root, file)));
}

/** npm packages in `bill` that come with a licence file whose text is not in `licences`. Node's is a file of its own. */
export function missingLicences(licences: string, bill: string): readonly string[] {
  const places = componentsOf(bill).map((one) => one['bom-ref'] ?? '');
  const packages = places.filter((place) => /^node_modules\/(?!node-linux-)/u.test(place));
  if (packages.length === 0) throw new Error('the bill of materials has no package of npm');
  return packages.filter((place) =>
    globSync('LICENSE*', { cwd: join(repository, place) }).some(
      (file) => !licences.includes(readFileSync(join(repository, place, file), 'utf8').trim()),
    ),
  );
}

/**
 * Files of `root` that `bill` does not have by path and hash. `others`: what it has by another name, or not, as it is ours; that of a folder
 * ends with `/`. Node's licence is of the package that it has.
 */
export function unlistedFiles(root: string, bill: string, others: readonly string[]): readonly string[] {
  const listed = new Set(componentsOf(bill).map(({ hashes, name }) => `${name} ${hashes?.[0]?.content}`));
  const known = [NODE_LICENSE, ...others];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(root.length + 1))
    .filter((file) => !known.some((one) => (one.endsWith('/') ? file.startsWith(one) : file === one)))
    .filter((file) => !listed.has(`/${file} ${sha256(join(root, file))}`));
}

function componentsOf(bill: string): readonly Component[] {
  const { components } = JSON.parse(bill) as { readonly components: readonly Component[] };
  return components.flatMap((one) => [one, ...(one.components ?? [])]);
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
