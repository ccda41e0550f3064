/** Makes the repository of a new provider from the template beside this package's code. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADDITIONAL_FOLDERS, DEFAULT_CAPABILITIES, isWanted, type Capability } from './capabilities.ts';
import { renderTemplate } from './render-template.ts';

export interface CreateOptions {
  /** Made; what is in it already must not be in the way. */
  readonly directory: string;
  /** Of the provider: lower-case letters, digits and dashes. Before the `://` of its provider IDs. */
  readonly name: string;
  /** How people call the cloud. Default: made of the name. */
  readonly title?: string | undefined;
  /** Beside nodes. Default: load balancers and routes. */
  readonly capabilities?: readonly Capability[] | undefined;
  /** Folder with the tarballs of `make packages`, to be copied into the repository and installed in place of what a registry has. Default: none. */
  readonly packages?: string | undefined;
}

/**
 * As a provider's name has to be for Outrigger to load it. Of 38 characters at most: with `-cloud-controller-manager` behind it, it is the
 * value of a label, which may have 63.
 */
const NAME = /^[a-z](?:[a-z0-9-]{0,36}[a-z0-9])?$/u;
/** It is put into code and into Markdown as it is. */
const TITLE = /^[\p{L}\p{N}][\p{L}\p{N} .-]{0,59}$/u;
/** Of the repository: an image is built, and CI runs, with nothing from outside of it. */
const TARBALLS_FOLDER = 'packages';
const TARBALL = /^outrigger-(?<name>.+)-\d+\.\d+\.\d+.*\.tgz$/u;

const packageRoot = fileURLToPath(new URL('../../', import.meta.url));
const templateRoot = path.join(packageRoot, 'template');

/** Returns the files that it has written, relative to the directory. Throws an `Error` in one line, and has written nothing then. */
export function createRepository({ directory, packages, ...options }: CreateOptions): readonly string[] {
  const { capabilities = DEFAULT_CAPABILITIES, name, title = titleOf(name) } = options;
  if (!NAME.test(name)) {
    throw new Error(
      `${JSON.stringify(name)} cannot be a provider's name: at most 38 lower-case letters, digits and dashes, a letter first and no dash last`,
    );
  }
  if (!TITLE.test(title))
    throw new Error(`the title ${JSON.stringify(title)} may have letters, digits, spaces, dots and dashes`);
  if (existsSync(directory) && readdirSync(directory).some((file) => file !== '.git')) {
    throw new Error(`${directory} is not empty: name a folder that is not there yet`);
  }
  const has = new Set<string>(capabilities);
  const parts = new Set(has)
    .add(ADDITIONAL_FOLDERS.some((one) => has.has(one)) ? 'additional' : 'no-additional')
    .add(has.has('routes') ? 'routes' : 'no-routes');
  const tarballs = packages === undefined ? new Map<string, string>() : tarballsIn(packages);
  if (packages !== undefined) parts.add('packages');
  const rendered = new Map<string, string>();
  for (const file of templateFiles()) {
    if (!isWanted(file, has)) continue;
    const text = renderTemplate(readFileSync(path.join(templateRoot, file), 'utf8'), { name, title, parts });
    // npm leaves files of the name .gitignore out of what it packs.
    const target = file === '_gitignore' ? '.gitignore' : file;
    rendered.set(target, target === 'package.json' ? withPackages(text, tarballs) : text);
  }
  for (const [file, text] of rendered) {
    mkdirSync(path.join(directory, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(directory, file), text);
  }
  const copies = [...tarballs.values()].map((file) => ({ file, copy: path.posix.join(TARBALLS_FOLDER, file) }));
  for (const { copy, file } of copies) {
    mkdirSync(path.join(directory, TARBALLS_FOLDER), { recursive: true });
    copyFileSync(path.join(packages ?? '', file), path.join(directory, copy));
  }
  return [...rendered.keys(), ...copies.map(({ copy }) => copy)];
}

function templateFiles(): readonly string[] {
  return readdirSync(templateRoot, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && statSync(path.join(templateRoot, file)).isFile())
    .map((file) => file.split(path.sep).join('/'))
    .toSorted();
}

/** `acme-cloud`: Acme Cloud. */
function titleOf(name: string): string {
  const words = name.split('-').filter((word) => word !== '');
  return words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join(' ');
}

/** Our packages are those of one release: that of this one, or the tarballs, files by the names of packages. */
function withPackages(text: string, tarballs: ReadonlyMap<string, string>): string {
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  const manifest = JSON.parse(text) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const wanted = new Map([...tarballs].map(([name, file]) => [name, `file:${TARBALLS_FOLDER}/${file}`]));
  for (const list of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(list)) {
      if (name.startsWith('@outrigger/')) list[name] = wanted.get(name) ?? version;
    }
  }
  // What these depend on in turn is in no registry either.
  for (const [name, file] of wanted) {
    if (manifest.dependencies[name] === undefined) manifest.devDependencies[name] = file;
  }
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

function tarballsIn(packages: string): ReadonlyMap<string, string> {
  const found = readdirSync(packages).flatMap((file): [string, string][] => {
    const name = TARBALL.exec(file)?.groups?.['name'];
    return name === undefined ? [] : [[`@outrigger/${name}`, file]];
  });
  if (found.length === 0)
    throw new Error(`there are no tarballs in ${packages}: make packages makes them in dist/packages`);
  return new Map(found);
}
