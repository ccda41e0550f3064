/** Builds the programs of a control plane from their Go modules: the way that works wherever a Go module proxy does. */
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadGoModule, GO_ENVIRONMENT } from './go-module.ts';
import { runCommand } from './run-command.ts';
import { versionOf, type Component, type Release } from './releases.ts';

const ETCD_MODULE = 'go.etcd.io/etcd/server/v3';
const KUBERNETES_MODULE = 'k8s.io/kubernetes';

export interface BuildOptions {
  readonly release: Release;
  readonly component: Component;
  /** Where the program ends up; its folder is made. */
  readonly destination: string;
  readonly signal?: AbortSignal | undefined;
}

/** Builds one program of a control plane. */
export async function buildBinary({ component, destination, release, signal }: BuildOptions): Promise<void> {
  const version = versionOf(component, release);
  const program =
    component === 'etcd'
      ? { module: ETCD_MODULE, version, source: ETCD_MODULE, linkerFlags: '-s -w' }
      : kubernetesProgram(version, `${KUBERNETES_MODULE}/cmd/${component}`);
  await buildGoProgram({ ...program, destination, signal });
}

export interface GoProgram {
  /** Path of the module, and its exact version with the leading `v`. */
  readonly module: string;
  readonly version: string;
  /**
   * Import path of the command; or of a package whose tests become the program, as by `go test -c`; or a folder with a command of
   * one's own, without a go.mod, that imports what the module has.
   */
  readonly source: string | { readonly testsOf: string } | { readonly folder: string };
  readonly linkerFlags: string;
  /** Build tags. Default: none. */
  readonly tags?: readonly string[];
  /** Where the program ends up; its folder is made. */
  readonly destination: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A program of Kubernetes, or one that is built against its code. It learns its version from the linker: without one, `kubectl version`
 * refuses to compare. `version`: of any release, exact, with the leading `v`. `source`: as of a {@link GoProgram}.
 */
export function kubernetesProgram(version: string, source: GoProgram['source']): Omit<GoProgram, 'destination'> {
  const [major, minor] = version.slice(1).split('.');
  const name = 'k8s.io/component-base/version';
  const linkerFlags = `-s -w -X ${name}.gitVersion=${version} -X ${name}.gitMajor=${major} -X ${name}.gitMinor=${minor}`;
  return { module: KUBERNETES_MODULE, version, source, linkerFlags };
}

/** Builds one program and moves it to `destination` in one step, so that nobody ever sees half a program. */
export async function buildGoProgram(program: GoProgram): Promise<void> {
  const { destination, module, signal, source, version } = program;
  const workspace = await mkdtemp(join(tmpdir(), 'outrigger-build-'));
  try {
    const command = { cwd: workspace, env: GO_ENVIRONMENT, signal };
    const upstream = await readFile((await downloadGoModule(module, version, signal)).goMod, 'utf8');
    await writeFile(join(workspace, 'go.mod'), generateGoMod(module, version, upstream));
    const { verb, target } = await prepareSource(workspace, source);
    const beside = `${destination}.${process.pid}.partial`;
    await mkdir(join(destination, '..'), { recursive: true });
    try {
      const flags = [`-ldflags=${program.linkerFlags}`, `-tags=${(program.tags ?? []).join()}`];
      await runCommand('go', [...verb, '-trimpath', ...flags, '-o', beside, target], command);
      await rename(beside, destination);
    } finally {
      await rm(beside, { force: true });
    }
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** What `go` is to do with what. */
async function prepareSource(
  workspace: string,
  source: GoProgram['source'],
): Promise<{ readonly verb: readonly string[]; readonly target: string }> {
  if (typeof source === 'object' && 'folder' in source) {
    await cp(source.folder, join(workspace, 'program'), { recursive: true });
    return { verb: ['build'], target: './program' };
  }
  // Without `-vet=off`, `go test` also checks all that is imported, which is not ours and takes about as long as to compile it.
  const [verb, target] =
    typeof source === 'string' ? [['build'], source] : [['test', '-c', '-vet=off'], source.testsOf];
  // The import keeps the requirement that `go build` of another module's package needs.
  await writeFile(join(workspace, 'tools.go'), `//go:build tools\n\npackage tools\n\nimport _ "${target}"\n`);
  return { verb, target };
}

/**
 * A go.mod for a module outside of the source tree. Kubernetes replaces its staging modules (`k8s.io/api` …) by folders
 * of its own tree, which only count there; outside, each is the published module `v0.<minor>.<patch>`.
 */
export function generateGoMod(module: string, version: string, upstream: string): string {
  const go = /^go (?<version>\S+)$/m.exec(upstream)?.groups?.['version'];
  if (go === undefined) throw new Error(`the go.mod of ${module} ${version} has no go line`);
  const staging = [...upstream.matchAll(/^\s*(?:replace\s+)?(?<name>k8s\.io\/\S+) => \.\/staging\//gm)];
  const published = `v0.${version.replace(/^v1\./, '')}`;
  const replaces = staging.map((match) => `\t${match.groups!['name']} => ${match.groups!['name']} ${published}\n`);
  return [
    'module outrigger.build/control-plane\n\n',
    `go ${go}\n\n`,
    `require ${module} ${version}\n`,
    ...(replaces.length > 0 ? ['\nreplace (\n', ...replaces, ')\n'] : []),
  ].join('');
}
