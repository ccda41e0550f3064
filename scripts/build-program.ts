/** Bundles the program into a few files and puts its launcher beside them. `make build` runs this through `build.ts`. */
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export interface BuiltProgram {
  /** The file that is run. */
  readonly bundle: string;
  /** It and its parts, without source maps. */
  readonly bundleBytes: number;
  /** Source files that something was taken from, relative to the repository, with `/`. */
  readonly inputs: readonly string[];
  readonly launcher: string;
  /** The same, for the commands. */
  readonly outrigger: string;
}

/** CommonJS packages in the bundle ask for these, which an ES module does not have. */
const COMMONJS_NAMES = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __dirnameOf } from 'node:path';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  'const __dirname = __dirnameOf(__filename);',
].join('\n');

/**
 * Writes `<directory>/dist/cloud-controller-manager.js`, its parts in `parts/` beside it, and
 * `cloud-controller-manager` and `outrigger` in `<directory>/bin`. `maps`: also the source map of each file, default true;
 * without them, the files do not depend on the directory.
 */
export async function buildProgram(directory: string = root, maps: boolean = true): Promise<BuiltProgram> {
  const bundle = join(directory, 'dist', 'cloud-controller-manager.js');
  const launcher = join(directory, 'bin', 'cloud-controller-manager');
  const outrigger = join(directory, 'bin', 'outrigger');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [{ in: 'distribution/src/cloud-controller-manager.ts', out: basename(bundle, '.js') }],
    outdir: dirname(bundle),
    bundle: true,
    // What is imported lazily is a file of its own, which is not even read before it is needed: a third of the text is left,
    // and 12 MiB less in memory.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    metafile: true,
    // ES modules can be cut to what is used; 'main' is CommonJS where a package has both.
    mainFields: ['module', 'main'],
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Readable stack traces are worth more than kilobytes that are read once.
    minify: false,
    // …but white space doubles the text that stays in memory.
    minifyWhitespace: true,
    sourcemap: maps && 'linked',
    // A file beside it; in the program their typographic quotes would double its text in memory.
    legalComments: 'external',
    banner: { js: COMMONJS_NAMES },
    logLevel: 'warning',
  });
  const outputs = Object.entries(metafile.outputs);
  await removeOldParts(join(dirname(bundle), 'parts'), new Set(outputs.map(([path]) => basename(path))));
  await mkdir(dirname(launcher), { recursive: true });
  for (const file of [launcher, outrigger]) {
    await copyFile(join(root, 'distribution/launcher.sh'), file);
    await chmod(file, 0o755);
  }
  const code = outputs.filter(([path]) => path.endsWith('.js'));
  return {
    bundle,
    bundleBytes: code.reduce((sum, [, { bytes }]) => sum + bytes, 0),
    inputs: [...new Set(code.flatMap(([, { inputs }]) => Object.keys(inputs)))].sort(),
    launcher,
    outrigger,
  };
}

/** Parts of an earlier build: their names change with what they hold. */
async function removeOldParts(directory: string, current: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!current.has(name)) await rm(join(directory, name));
  }
}
