/** Finds a provider by what `--cloud-provider` names. */
import { createRequire } from 'node:module';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as contract from '@outrigger/cloud-provider';
import { CloudError, type CloudProvider, type ProviderFactoryOptions } from '@outrigger/cloud-provider';
import { confineImports, confineModule } from './confine-imports.ts';
import { failurePlace } from './failure-place.ts';
import { importProvider, providerModules } from './import-provider.ts';
import { lendModule } from './lend-modules.ts';

export interface LoadProviderOptions {
  /** Names that come with the program, each with a lazy import of the module. They win over packages of the same name. */
  readonly builtIn: Readonly<Record<string, () => Promise<unknown>>>;
  /** Relative paths are resolved from here. Absolute. */
  readonly workingDirectory: string;
  /**
   * `--provider-path`: the directory in whose `node_modules`, or in which itself, npm packages are looked for, and what these import; nowhere
   * else. Default: no npm package is loaded.
   */
  readonly providerPath?: string | undefined;
  /** The name that the provider is to have. Default: its own. */
  readonly name?: string | undefined;
  /** Handed to the provider. Default: nothing. */
  readonly userAgent?: readonly string[] | undefined;
}

/** `.cjs` is not taken: the contract is an ES module's default export. */
const MODULE_EXTENSIONS = ['.js', '.mjs', '.ts'];
/** npm's own rule for names, with an optional subpath. */
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:\/[\w.~-]+)*$/;
const PROVIDER_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/**
 * Loads the provider that `spec` names and makes it: a built-in name, the path of an ES module (anything that starts with
 * `/` or `.`, or ends like a module), or an npm package. Throws a `CloudError` `configuration` whose message is one line.
 */
export async function loadProvider(spec: string, options: LoadProviderOptions): Promise<CloudProvider> {
  const builtIn = Object.hasOwn(options.builtIn, spec) ? options.builtIn[spec] : undefined;
  if (builtIn) return makeProvider(await importModule(spec, spec, builtIn), spec, options);
  const { providerPath, workingDirectory } = options;
  confineImports(providerPath === undefined ? undefined : path.resolve(workingDirectory, providerPath));
  lendModule('@outrigger/cloud-provider', contract);
  const isPath = looksLikePath(spec);
  const file = isPath ? await findModule(spec, options) : await findPackage(spec, options);
  if (isPath) confineModule(file);
  return makeProvider(await importModule(spec, file, () => importProvider(file)), spec, options);
}

function looksLikePath(spec: string): boolean {
  return spec.startsWith('.') || path.isAbsolute(spec) || MODULE_EXTENSIONS.includes(path.extname(spec));
}

async function findModule(spec: string, { workingDirectory }: LoadProviderOptions): Promise<string> {
  const file = path.resolve(workingDirectory, spec);
  if (!MODULE_EXTENSIONS.includes(path.extname(file))) {
    throw refuse(spec, `a provider module ends in ${MODULE_EXTENSIONS.join(', ')}`);
  }
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw refuse(spec, `there is no file ${file}`);
  return file;
}

/**
 * In the one directory that was named, and not by Node's own look-up, which goes on in the working directory, the parents of each and the
 * home directory: whoever may write to one of those would choose the code that holds the cloud's credentials.
 */
async function findPackage(spec: string, options: LoadProviderOptions): Promise<string> {
  const { builtIn, providerPath, workingDirectory } = options;
  if (PACKAGE_NAME.test(spec) && providerPath !== undefined) {
    const file = await resolvePackage(spec, path.resolve(workingDirectory, providerPath));
    if (file !== undefined) return file;
  }
  const names = Object.keys(builtIn).toSorted().join(', ') || 'none';
  const installed = providerPath === undefined ? ' (--provider-path says where those are)' : ` in ${providerPath}`;
  throw refuse(
    spec,
    `neither a built-in provider (${names}), nor the path of a module, nor an npm package installed${installed}`,
  );
}

/**
 * An ES module's package may have only an `import` condition, which `require.resolve` does not see; `import.meta.resolve`
 * starts from this file alone, which in a bundle is the wrong place. So the folders are looked through, and then `exports` is read.
 */
async function resolvePackage(spec: string, from: string): Promise<string | undefined> {
  const parts = spec.split('/');
  const name = parts.slice(0, spec.startsWith('@') ? 2 : 1).join('/');
  const subpath = ['.', ...parts.slice(name.split('/').length)].join('/');
  for (const folder of [path.join(from, 'node_modules'), from]) {
    const root = path.join(folder, name);
    const text = await readFile(path.join(root, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    return entryOf(spec, root, text, subpath);
  }
  return undefined;
}

function entryOf(spec: string, root: string, text: string, subpath: string): string {
  let manifest: { exports?: unknown; main?: unknown };
  try {
    manifest = JSON.parse(text) as typeof manifest;
  } catch (error) {
    throw refuse(spec, `${path.join(root, 'package.json')} is not JSON: ${firstLine(error)}`);
  }
  if (manifest.exports === undefined || manifest.exports === null) {
    const main = typeof manifest.main === 'string' ? manifest.main : 'index.js';
    return legacyEntry(spec, root, subpath === '.' ? main : subpath);
  }
  const entry = exportTarget(manifest.exports, subpath);
  if (entry === undefined) throw refuse(spec, `${path.join(root, 'package.json')} has no export ${subpath} for import`);
  return path.join(root, entry);
}

/** Without `exports`, `main` may leave out the extension, or name a folder. */
function legacyEntry(spec: string, root: string, entry: string): string {
  try {
    return createRequire(path.join(root, 'package.json')).resolve(path.join(root, entry));
  } catch (error) {
    throw refuse(spec, `${root} has no module at ${entry}: ${firstLine(error)}`);
  }
}

/** Node's rule: the first condition that holds, in the order of the object's keys. */
function exportTarget(exports: unknown, subpath: string): string | undefined {
  if (typeof exports === 'string') return subpath === '.' ? exports : undefined;
  if (typeof exports !== 'object' || exports === null || Array.isArray(exports)) return undefined;
  const entries = Object.entries(exports);
  if (entries.some(([key]) => key.startsWith('.')))
    return conditionTarget((exports as Record<string, unknown>)[subpath]);
  return subpath === '.' ? conditionTarget(exports) : undefined;
}

function conditionTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  if (Array.isArray(target)) {
    return target.map(conditionTarget).find((found) => found !== undefined);
  }
  for (const [condition, value] of Object.entries(target)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue;
    const found = conditionTarget(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function importModule(spec: string, from: string, load: () => Promise<unknown>): Promise<unknown> {
  try {
    return await load();
  } catch (error) {
    const kit = /Cannot find package '@outrigger\/provider-kit'/u.test(firstLine(error))
      ? '; the program lends @outrigger/cloud-provider alone: install the kit beside the provider, or bundle both into one file'
      : '';
    throw refuse(spec, `${from} could not be loaded: ${firstLine(error)}${placeOf(error)}${kit}`);
  }
}

function makeProvider(
  module: unknown,
  spec: string,
  { name, userAgent = [] }: Pick<LoadProviderOptions, 'name' | 'userAgent'>,
): CloudProvider {
  const factory = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
  if (factory === undefined)
    throw refuse(spec, 'the module has no default export; it must be a function that makes the provider');
  if (typeof factory !== 'function') {
    throw refuse(
      spec,
      `the module's default export must be a function that makes the provider, not ${typeOf(factory)}`,
    );
  }
  let provider: unknown;
  try {
    const options: ProviderFactoryOptions = {
      ...(name !== undefined && { name }),
      ...(userAgent.length > 0 && { userAgent }),
    };
    provider = (factory as (options: object) => unknown)(options);
  } catch (error) {
    throw refuse(spec, `its factory failed: ${firstLine(error)}${placeOf(error)}`);
  }
  checkShape(provider, spec);
  if (name !== undefined && provider.name !== name) {
    throw refuse(spec, `this provider takes no other name: it is ${provider.name}, and not ${name}`);
  }
  return provider;
}

function checkShape(provider: unknown, spec: string): asserts provider is CloudProvider {
  if (typeof provider !== 'object' || provider === null || provider instanceof Promise) {
    throw refuse(spec, `its factory must return a provider, not ${typeOf(provider)}`);
  }
  const members = provider as Record<string, unknown>;
  const { name, open, close } = members;
  if (typeof name !== 'string' || !PROVIDER_NAME.test(name)) {
    throw refuse(
      spec,
      `the provider's name must be lower-case letters, digits and dashes, not ${JSON.stringify(name)}`,
    );
  }
  if (typeof open !== 'function') throw refuse(spec, `the provider ${name} has no method open(host)`);
  if (typeof close !== 'function') throw refuse(spec, `the provider ${name} has no method close()`);
  if (members['permissions'] !== undefined && !areWords(members['permissions'])) {
    throw refuse(spec, `permissions of the provider ${name} must be lists of strings, by capability`);
  }
  if (members['buckets'] !== undefined && !areWords([members['buckets']])) {
    throw refuse(spec, `buckets of the provider ${name} must be a list of strings`);
  }
  if (members['callLimits'] !== undefined && !areLimits(members['callLimits'])) {
    throw refuse(
      spec,
      `callLimits of the provider ${name} must be a qps above 0 and a burst of at least 1 for each bucket`,
    );
  }
  for (const member of ['checkConfig', 'reconfigure', 'watchedFiles']) {
    if (members[member] !== undefined && typeof members[member] !== 'function') {
      throw refuse(spec, `${member} of the provider ${name} is not a method`);
    }
  }
}

function areWords(lists: unknown): boolean {
  if (typeof lists !== 'object' || lists === null) return false;
  return Object.values(lists).every((words) => Array.isArray(words) && words.every((word) => typeof word === 'string'));
}

function areLimits(byBucket: unknown): boolean {
  if (typeof byBucket !== 'object' || byBucket === null) return false;
  return Object.values(byBucket).every(
    (limits: { readonly qps?: unknown; readonly burst?: unknown } | null) =>
      Number(limits?.qps) > 0 && Number(limits?.burst) >= 1,
  );
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return value instanceof Promise ? 'a promise' : `a value of type ${typeof value}`;
}

/** Node puts a whole code frame into a syntax error's message. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}

function placeOf(error: unknown): string {
  return failurePlace(error, providerModules(), import.meta.url);
}

function refuse(spec: string, why: string): CloudError {
  return new CloudError('configuration', `--cloud-provider=${spec}: ${why}`);
}
