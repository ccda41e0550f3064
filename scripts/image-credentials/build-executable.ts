/** `outrigger-image-credentials` as a script for nodes that have Node.js, and as one executable for those that have not (docs/adr/0047-image-credentials.md). */
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { inject } from 'postject';
import { shippedNode, type ShippedNode } from '../image/shipped-node.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface BuiltFile {
  readonly file: string;
  readonly bytes: number;
}

export interface BuiltExecutable extends BuiltFile {
  /** Source files that something was taken from, relative to the repository, with `/`. */
  readonly inputs: readonly string[];
  /** What it is a copy of. */
  readonly node: ShippedNode;
}

const BUNDLE: BuildOptions = {
  absWorkingDir: repository,
  entryPoints: [path.join(repository, 'packages/image-credentials/src/bin.ts')],
  bundle: true,
  // ES modules can be cut to what is used.
  mainFields: ['module', 'main'],
  platform: 'node',
  target: 'node24',
  // As the manager's: names stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'external',
  logLevel: 'warning',
};

/** `outrigger-image-credentials.mjs` in the folder. */
export async function buildScript(folder: string): Promise<BuiltFile> {
  const file = path.join(folder, 'outrigger-image-credentials.mjs');
  // CommonJS packages in the bundle ask for `require`, which an ES module does not have.
  const banner =
    "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";
  await build({ ...BUNDLE, format: 'esm', outfile: file, banner: { js: banner } });
  await chmod(file, 0o755);
  return { file, bytes: (await stat(file)).size };
}

/** The mark in every Node by which it is found that there is a program in it. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * `outrigger-image-credentials` in the folder: the pinned Node, with the program and its compiled code in it. Linux only. `root`: where that
 * Node is installed; default: this repository. Throws for one that is not what it should be.
 */
export async function buildExecutable(folder: string, root: string = repository): Promise<BuiltExecutable> {
  if (process.platform !== 'linux') throw new Error(`the executable is for Linux, and this is ${process.platform}`);
  const node = shippedNode(root);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'outrigger-image-credentials');
  const working = await mkdtemp(path.join(tmpdir(), 'outrigger-sea-'));
  try {
    const { blob, inputs } = await compileProgram(working, node);
    const beside = path.join(working, 'executable');
    await copyFile(node.path, beside);
    await chmod(beside, 0o755);
    await injectQuietly(beside, blob);
    await copyFile(beside, `${file}.new`);
    await rename(`${file}.new`, file);
    return { file, bytes: (await stat(file)).size, inputs, node };
  } finally {
    await rm(working, { recursive: true });
  }
}

/** What is put into Node: the program and its compiled code, the same for the same sources. `working`: a folder for files in between. */
export async function compileProgram(
  working: string,
  node: ShippedNode,
): Promise<{ readonly blob: Buffer; readonly inputs: readonly string[] }> {
  // The main program of an executable is CommonJS.
  const { metafile } = await build({
    ...BUNDLE,
    format: 'cjs',
    outfile: path.join(working, 'main.cjs'),
    metafile: true,
  });
  const settings = {
    // Names without a folder: they go into the executable.
    main: 'main.cjs',
    output: 'blob',
    // Before the program runs; then it has a listener of its own.
    execArgv: ['--disable-sigusr1'],
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
  };
  await writeFile(path.join(working, 'sea.json'), JSON.stringify(settings));
  // By the seed V8 orders what it compiles. Whatever it is, the code is taken.
  execFileSync(node.path, ['--random-seed=1', '--experimental-sea-config', 'sea.json'], {
    cwd: working,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  return { blob: await readFile(path.join(working, 'blob')), inputs: inputs.toSorted() };
}

/** Postject says on the console what is the matter with every executable of Node: its section of notes has no name. */
async function injectQuietly(file: string, blob: Buffer): Promise<void> {
  const { log, warn } = console;
  try {
    console.log = console.warn = () => {};
    await inject(file, 'NODE_SEA_BLOB', blob, { sentinelFuse: FUSE });
  } finally {
    Object.assign(console, { log, warn });
  }
}
