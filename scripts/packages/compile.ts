/** Compiles the packages: JavaScript and declarations of what their `exports` reach. Tests, suites and fakes are not reached. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repository, type WorkspacePackage } from './workspace-packages.ts';

/** The oldest Node that a package may name: what it has of the language and its library. */
const OLDEST_NODE = { engine: '>=20', target: 'es2023', lib: ['es2023', 'esnext.disposable'] };

/**
 * Writes `<output>/packages/kube/src/….js` and `….d.ts`, and so on for each package. One run of the compiler for them all: a package
 * finds the sources of another as in the workspace. Throws an `Error` with what the compiler says.
 */
export function compile(packages: readonly WorkspacePackage[], output: string): void {
  const { engine, lib, target } = OLDEST_NODE;
  runCompiler(packages, {
    noEmit: false,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    // `using` is written out: Node 22 has the symbols, and not the syntax.
    target,
    outDir: output,
  });
  // What is newer than the oldest Node would be found by its users.
  const oldest = packages.filter(({ manifest }) => manifest.engines?.node === engine);
  if (oldest.length > 0) runCompiler(oldest, { lib, target });
}

function runCompiler(packages: readonly WorkspacePackage[], compilerOptions: object): void {
  const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-compile-'));
  try {
    const project = path.join(directory, 'tsconfig.json');
    const entries = packages.flatMap(({ folder, manifest: { exports = {}, name } }) =>
      Object.entries(exports).map(([subpath, file]) => ({
        specifier: path.posix.join(name, subpath),
        file: path.join(repository, folder, file),
      })),
    );
    const programs = packages.flatMap(({ folder, manifest: { bin = {} } }) =>
      Object.values(bin).map((file) => path.join(repository, folder, file)),
    );
    const files = [...entries.map(({ file }) => file), ...programs];
    // What is found through node_modules counts as another's, and is not written.
    const paths = Object.fromEntries(entries.map(({ file, specifier }) => [specifier, [file]]));
    const typeRoots = [path.join(repository, 'node_modules/@types')];
    const config = {
      extends: path.join(repository, 'tsconfig.json'),
      compilerOptions: { rootDir: repository, typeRoots, paths, ...compilerOptions },
      files,
      include: [],
    };
    writeFileSync(project, JSON.stringify(config));
    const compiler = path.join(repository, 'node_modules/.bin/tsc');
    execFileSync(compiler, ['-p', project], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    throw new Error(`the packages cannot be compiled:\n${stdout}`, { cause: error });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
