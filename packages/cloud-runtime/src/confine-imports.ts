/**
 * Packages that a provider imports come from where the provider comes from. Node looks on in `node_modules` of every parent folder, and by `require`
 * in the home directory: whoever may write to one of those would choose code that runs with the cloud's credentials.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** By a directory, or a module that has none of its own, as it is called without links: the folders above it that are not searched from there. */
const above = new Map<string, readonly string[]>();
/** From nowhere. */
const ofHome: readonly string[] = ['.node_modules', '.node_libraries'].map((name) =>
  path.join(realPath(homedir()), name),
);
let isHooked = false;

/**
 * From now on, for every module of the process: nothing comes from the home directory, and nothing that is imported below `directory` from
 * `node_modules` above it, also by way of a link there that leads elsewhere.
 */
export function confineImports(directory?: string): void {
  const real = directory === undefined ? undefined : realPath(directory);
  if (real !== undefined) above.set(real, foldersAbove(real));
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const [from, to] = [fileOf(context.parentURL), fileOf(resolved.url)];
      const folder = from === undefined || to === undefined ? undefined : strangeFolder(specifier, from, to);
      if (folder !== undefined) throw missing(specifier, from, folder);
      confineSibling(specifier, from, to);
      return resolved;
    },
  });
}

/** Of the mode of a directory. */
const [STICKY, OTHERS_MAY_WRITE] = [0o1000, 0o022];

/**
 * From now on, for the module of a provider that is given by its path: nothing comes from a directory above it that others may write to and that
 * has the sticky bit, such as `/tmp`, nor from above that one. Whoever may write to another one above it may replace the module itself.
 */
export function confineModule(file: string): void {
  const real = realPath(file);
  for (let own = real, parent = path.dirname(own); parent !== own; own = parent, parent = path.dirname(own)) {
    if (isShared(parent)) return confineImports(own);
  }
}

/** A module directly in such a directory is confined by itself, and so is what it imports from beside it. */
function confineSibling(specifier: string, from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined || BARE.test(specifier) || path.dirname(from) !== path.dirname(to)) return;
  const folders = above.get(from);
  if (folders !== undefined) above.set(to, folders);
}

function isShared(directory: string): boolean {
  const { mode } = statSync(directory);
  return (mode & STICKY) !== 0 && (mode & OTHERS_MAY_WRITE) !== 0;
}

/** Of `to`, where it may not come from. `from` and `to` are called without links, so that one is known by where it leads. */
function strangeFolder(specifier: string, from: string, to: string): string | undefined {
  const ofPath = [...above].filter(([place]) => from === place || isBelow(from, place));
  const strange = [...ofHome, ...ofPath.flatMap(([, folders]) => folders)];
  const plain = strange.find((folder) => isBelow(to, folder));
  // One place may lie within another: what is imported there comes from the inner one.
  const isWithin = ofPath.length > 0 && ofPath.every(([place]) => isBelow(to, place));
  if (plain !== undefined || !BARE.test(specifier) || isWithin) return plain;
  const leads = (folder: string): boolean =>
    entriesOf(folder, specifier).some((entry) => {
      const real = realPath(path.join(folder, entry));
      return to === real || isBelow(to, real);
    });
  const linked = strange.find(leads) ?? strange.at(ofHome.length);
  // Of all that is imported by the rest of the process, as a rule nothing: no folder on the way is looked into for that.
  if (linked === undefined) return undefined;
  const own = searchedFrom(path.dirname(from)).filter((folder) => !strange.includes(folder));
  return own.some(leads) ? undefined : linked;
}

/** No path and no URL. */
const BARE = /^(?:#|@?[^./:@][^:]*$)/u;

/** What an import of a package, or `require`, may have found there. What `imports` of a package.json names is not known here. */
function entriesOf(folder: string, specifier: string): readonly string[] {
  const [name] = /^(?:@[^/]+\/)?[^#/]+/u.exec(specifier) ?? [];
  if (name !== undefined) return [name, `${name}.js`, `${name}.json`, `${name}.node`];
  const inFolder = namesIn(folder);
  return inFolder.flatMap((one) =>
    one.startsWith('@') ? namesIn(path.join(folder, one)).map((it) => path.join(one, it)) : one,
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function searchedFrom(directory: string): readonly string[] {
  const own = path.basename(directory) === 'node_modules' ? directory : path.join(directory, 'node_modules');
  const parent = path.dirname(directory);
  return parent === directory ? [own] : [own, ...searchedFrom(parent)];
}

/** A directory may itself be called `node_modules`: what is beside its packages is in it. */
function foldersAbove(directory: string): readonly string[] {
  const parent = path.dirname(directory);
  if (parent === directory) return [];
  const folder = path.join(parent, 'node_modules');
  return [...(folder === directory ? [] : [folder]), ...foldersAbove(parent)];
}

/** In the words of Node, so that what the program lends is found in its place. */
function missing(specifier: string, from: string | undefined, folder: string): Error {
  const message = `Cannot find package '${specifier}' imported from ${from}; ${folder} is not searched, install it beside the provider`;
  return Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
}

const isBelow = (file: string, folder: string): boolean => file.startsWith(folder + path.sep);

function fileOf(url: string | undefined): string | undefined {
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
}

function realPath(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
