/** What of a release is built, by the scripts of the commit. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { LICENCES_FILE, NODE_LICENCE_FILE } from '../image/licence-texts.ts';
import { ARCHITECTURE } from '../image/oci-layout.ts';

/** An OCI image. */
export interface ReleasedImage {
  /** Without registry and tag. */
  readonly name: string;
  /** Of the manifest. */
  readonly digest: string;
}

/** Runs a script of the sources in their folder. */
export type RunScript = (source: string, script: string, ...args: readonly string[]) => void;

const PLATFORM = `linux-${ARCHITECTURE}`;

/** Packages, plugin, images and the image credential provider into `artifacts`. */
export function buildInSource(
  source: string,
  artifacts: string,
  version: string,
  run: RunScript,
): readonly ReleasedImage[] {
  const made = (...names: readonly string[]): string => path.join(source, 'dist', ...names);
  run(source, 'scripts/packages.ts');
  mkdirSync(path.join(artifacts, 'npm'));
  for (const file of globSync('*.tgz', { cwd: made('packages') })) {
    renameSync(made('packages', file), path.join(artifacts, 'npm', file));
  }
  run(source, 'scripts/kubectl-plugin.ts');
  renameSync(made('kubectl'), path.join(artifacts, 'kubectl'));
  run(source, 'scripts/image.ts');
  const manager = takeImage(made('image'), path.join(artifacts, 'image'), 'cloud-controller-manager', version);
  run(source, 'scripts/image-credentials.ts', '--no-times');
  const [credentials, released] = [made('image-credentials'), path.join(artifacts, 'image-credentials')];
  const installer = takeImage(credentials, released, 'image-credentials', version);
  const program = 'outrigger-image-credentials';
  renameSync(path.join(credentials, program), path.join(released, `${program}-${version}-${PLATFORM}`));
  renameSync(path.join(credentials, `${program}.mjs`), path.join(released, `${program}-${version}.mjs`));
  for (const file of [LICENCES_FILE, NODE_LICENCE_FILE]) {
    renameSync(path.join(credentials, file), path.join(released, file));
  }
  return [manager, installer];
}

/** The image in `from`, and its bill of materials, by their names in a release. */
function takeImage(from: string, to: string, name: string, version: string): ReleasedImage {
  mkdirSync(to);
  const image = path.join(to, `${name}-${version}-${PLATFORM}.oci.tar`);
  renameSync(path.join(from, 'image.tar'), image);
  cpSync(path.join(from, 'sbom.cdx.json'), path.join(to, `sbom-${PLATFORM}.cdx.json`));
  const { manifests } = JSON.parse(execFileSync('tar', ['-xOf', image, './index.json'], { encoding: 'utf8' })) as {
    readonly manifests: readonly [{ readonly digest: string }];
  };
  return { name, digest: manifests[0].digest };
}

/** With the Node that runs this, and the packages that are installed in `repository`. `epoch`: of the commit, in seconds since 1970. */
export function runWithPackagesOf(repository: string, epoch: number): RunScript {
  return (source, script, ...args) => {
    const packages = path.join(source, 'node_modules');
    // Linked, not copied: links to our own packages in it are relative, and lead into `source`.
    if (!existsSync(packages)) execFileSync('cp', ['-al', path.join(repository, 'node_modules'), packages]);
    execFileSync(process.execPath, [script, ...args], {
      cwd: source,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  };
}
