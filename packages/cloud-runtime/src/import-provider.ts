/**
 * Imports the module of a provider from a file. Where that and what it imports are TypeScript, another process strips the types, and
 * ends: in this one, the stripper (WebAssembly) would stay, with 40 MiB, for as long as the program runs.
 */
import { spawnSync } from 'node:child_process';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Types are replaced by blanks: lines and columns are those of the file. */
interface StrippedFile {
  readonly code: string;
  /** What it is where no package.json says so, by Node's own rule. */
  readonly format: 'module' | 'commonjs';
}

const TYPESCRIPT = /\.[cm]?ts$/u;
/** Node does not strip types there, and says so. */
const INSTALLED = /[/\\]node_modules[/\\]/u;
/** After that, Node strips the types here. */
const STRIP_TIMEOUT_MS = 60_000;

/** The stripper runs for so short a time that only the quick compiler of WebAssembly pays, and only what is run is validated. */
const NODE_FLAGS = ['--no-warnings', '--liftoff-only', '--wasm-lazy-validation'];

/**
 * A file and what it imports by relative paths. What cannot be stripped is left out: Node says why when it is loaded. What `--eval`
 * runs has `fs`, `path` and `vm`, as the REPL does. `process.stdout` is not used: for it, Node would first load streams and sockets.
 */
const STRIP = `
const { stripTypeScriptTypes } = require('node:module');
const files = new Set([process.argv[1]]);
const stripped = [];
for (const file of files) {
  try {
    const code = stripTypeScriptTypes(fs.readFileSync(file, 'utf8'));
    for (const [, , to] of code.matchAll(/\\b(?:from|import)\\s*\\(?\\s*(["'])(\\.\\.?\\/[^"'\\n]+\\.[cm]?ts)\\1/g)) files.add(path.resolve(file, '..', to));
    let format = 'commonjs';
    try {
      vm.compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname']);
    } catch {
      format = 'module';
    }
    stripped.push([file, { code, format }]);
  } catch {}
}
fs.writeFileSync(1, JSON.stringify(stripped));
`;

/** By path: what has been stripped and not loaded yet. */
const stripped = new Map<string, StrippedFile>();
/** URLs of providers' modules, and of what these import: no other module is touched. */
const members = new Set<string>();
let isHooked = false;

/** URLs of the modules of providers that have been imported, or were to be. */
export function providerModules(): Iterable<string> {
  return members;
}

/** Rejects with what Node says where the module cannot be loaded. */
export async function importProvider(file: string): Promise<unknown> {
  // Made at run time, so that a bundler leaves the import alone.
  const url = pathToFileURL(file).href;
  members.add(url);
  hook();
  return import(url);
}

/** For good: a provider may import more of its files when it needs them. */
function hook(): void {
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      if (context.parentURL !== undefined && members.has(context.parentURL)) members.add(resolved.url);
      return resolved;
    },
    load: (url, context, next) => {
      const found = members.has(url) ? strip(url) : undefined;
      if (found === undefined) return next(url, context);
      const format = context.format?.replace(/-typescript$/u, '') ?? found.format;
      return { format, source: found.code, shortCircuit: true };
    },
  });
}

/** `undefined` for what is not to be stripped, or could not be. */
function strip(url: string): StrippedFile | undefined {
  if (!url.startsWith('file:')) return undefined;
  const file = fileURLToPath(url);
  if (!TYPESCRIPT.test(file) || INSTALLED.test(file)) return undefined;
  if (!stripped.has(file)) stripInProcess(file);
  const found = stripped.get(file);
  stripped.delete(file);
  return found;
}

function stripInProcess(file: string): void {
  // Nothing of this process's environment: it may hold credentials, and options for Node.
  const { stdout } = spawnSync(process.execPath, [...NODE_FLAGS, '--eval', STRIP, '--', file], {
    env: {},
    encoding: 'utf8',
    maxBuffer: Infinity,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: STRIP_TIMEOUT_MS,
  });
  try {
    for (const [path, found] of JSON.parse(stdout) as readonly [string, StrippedFile][]) stripped.set(path, found);
  } catch {
    // It did not start or did not end: Node strips the types here.
  }
}
