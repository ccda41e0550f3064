/** Makes the tarballs of all packages. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtPageModule } from '../../packages/ui/src/build-page.ts';
import { compile } from './compile.ts';
import { publishedManifest, type PublishedExport } from './published-manifest.ts';
import { publishedReadme } from './published-readme.ts';
import { repository, repositoryUrl, workspacePackages } from './workspace-packages.ts';

export interface Tarball {
  /** `@outrigger/kube`. */
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly files: readonly string[];
}

export interface MakePackagesOptions {
  /** Emptied first. The tarballs lie in it, what they were packed from in `staged` below it. */
  readonly output: string;
  /** Default: that of the workspace. */
  readonly version?: string | undefined;
}

/** The same sources give the same bytes: npm writes no times, owners or modes of the machine. */
export function makePackages({ output, version }: MakePackagesOptions): readonly Tarball[] {
  const packages = workspacePackages();
  const staging = path.join(output, 'staged');
  const compiled = path.join(output, 'compiled');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  compile(packages, compiled);
  const folders = packages.map(({ folder, manifest }) => {
    const target = path.join(staging, path.basename(manifest.name));
    mkdirSync(target);
    const published = publishedManifest(manifest, version ?? manifest.version);
    writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
    cpSync(path.join(compiled, folder, 'src'), path.join(target, 'dist'), { recursive: true });
    const page = path.join(target, 'dist', 'built-page.js');
    if (existsSync(page)) writeFileSync(page, builtPageModule().source);
    for (const asItIs of manifest.files ?? []) {
      cpSync(path.join(repository, folder, asItIs), path.join(target, asItIs), { recursive: true });
    }
    const { bin = {}, exports, sideEffects } = published;
    const effects = Array.isArray(sideEffects) ? sideEffects : [];
    const named = [...Object.values(exports).flatMap(filesOf), ...Object.values(bin), ...effects];
    const missing = named.find((file) => !existsSync(path.join(target, file)));
    if (missing !== undefined) throw new Error(`${manifest.name}: package.json names ${missing}, which was not built`);
    cpSync(path.join(repository, 'LICENSE'), path.join(target, 'LICENSE'));
    const readme = path.join(repository, folder, 'README.md');
    if (!existsSync(readme)) throw new Error(`${manifest.name} has no README.md: its users see nothing else`);
    const options = { folder, version: published.version, repositoryUrl: repositoryUrl() };
    writeFileSync(path.join(target, 'README.md'), publishedReadme(readFileSync(readme, 'utf8'), options));
    return target;
  });
  rmSync(compiled, { recursive: true });
  const report = execFileSync(
    'npm',
    ['pack', ...folders, '--json', '--ignore-scripts', '--loglevel=error', `--pack-destination=${output}`],
    { encoding: 'utf8', cwd: staging, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const packed = JSON.parse(report) as readonly PackedByNpm[];
  return packed.map(({ filename, files, name, size }) => ({
    name,
    file: path.join(output, filename),
    bytes: size,
    files: files.map((file) => file.path),
  }));
}

function filesOf(target: PublishedExport): readonly string[] {
  return typeof target === 'string' ? [target] : Object.values(target);
}

/** One item of what `npm pack --json` prints. */
interface PackedByNpm {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}
