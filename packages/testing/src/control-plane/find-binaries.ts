/**
 * Finds the programs of a control plane: `KUBEBUILDER_ASSETS`, `PATH`, the cache, the official download, a build from
 * the Go modules, in this order. A program of another version than the one asked for is passed over.
 */
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { silentLogger, systemClock, type Clock, type Logger } from '@outrigger/kube';
import { buildBinary } from './build-binaries.ts';
import { acquireBuildLock } from './build-lock.ts';
import { buildLockPath, cacheDirectory } from './cache-directory.ts';
import { isExecutable } from './cached-go-program.ts';
import { ControlPlaneError } from './control-plane-error.ts';
import { downloadBinary } from './download-binaries.ts';
import { RELEASES, versionOf, type Component, type KubernetesMinor, type Release } from './releases.ts';
import { runCommand } from './run-command.ts';

/** Where a program was found, or how it was made. */
export type BinarySource = 'KUBEBUILDER_ASSETS' | 'PATH' | 'cache' | 'download' | 'build';

export interface FoundBinary {
  readonly path: string;
  readonly source: BinarySource;
}

export interface FindOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Told which way is tried; a build takes minutes. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Gets a program that is not there yet, in this order. Default: download, then build. */
  readonly makers?: readonly BinaryMaker[];
  /** Pass over `KUBEBUILDER_ASSETS` and `PATH`, so that the cache has the programs afterwards. Default: false. */
  readonly onlyCache?: boolean;
}

export interface BinaryRequest {
  readonly component: Component;
  readonly release: Release;
  readonly destination: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** A way to get a program into the cache. It leaves either the whole program or nothing. */
export interface BinaryMaker {
  readonly source: 'download' | 'build';
  make(request: BinaryRequest): Promise<void>;
}

const MAKERS: readonly BinaryMaker[] = [
  { source: 'download', make: downloadBinary },
  { source: 'build', make: buildBinary },
];

/** Paths of all the programs asked for. Throws `control-plane-missing` with every reason when one cannot be had. */
export async function findBinaries<C extends Component>(
  kubernetes: KubernetesMinor,
  components: readonly C[],
  options: FindOptions = {},
): Promise<Readonly<Record<C, FoundBinary>>> {
  const found: Partial<Record<C, FoundBinary>> = {};
  const missing: C[] = [];
  for (const component of components) {
    const binary = await findInstalled(component, RELEASES[kubernetes], options);
    if (binary) found[component] = binary;
    else missing.push(component);
  }
  if (missing.length > 0) Object.assign(found, await makeBinaries(kubernetes, missing, options));
  return found as Record<C, FoundBinary>;
}

/** What is there already, without the network and without building. */
async function findInstalled(
  component: Component,
  release: Release,
  options: FindOptions,
): Promise<FoundBinary | undefined> {
  const { env = process.env, onlyCache = false } = options;
  const assets = env['KUBEBUILDER_ASSETS'];
  const installed: { readonly source: BinarySource; readonly path: string }[] = [
    ...(assets ? [{ source: 'KUBEBUILDER_ASSETS' as const, path: join(assets, component) }] : []),
    ...(env['PATH'] ?? '')
      .split(delimiter)
      .filter((folder) => folder !== '')
      .map((folder) => ({ source: 'PATH' as const, path: join(folder, component) })),
  ];
  const cache = { source: 'cache' as const, path: cachedPath(component, release, env) };
  const places = onlyCache ? [cache] : [...installed, cache];
  for (const { source, path } of places) {
    // What lies in the cache has its version in its path.
    const fits = source === 'cache' ? isExecutable(path) : hasVersion(component, path, versionOf(component, release));
    if (await fits) return { source, path };
  }
  return undefined;
}

async function makeBinaries<C extends Component>(
  kubernetes: KubernetesMinor,
  components: readonly C[],
  options: FindOptions,
): Promise<Partial<Record<C, FoundBinary>>> {
  const { env = process.env, logger = silentLogger, clock = systemClock, signal, makers = MAKERS } = options;
  const release = RELEASES[kubernetes];
  await mkdir(cacheDirectory(env), { recursive: true });
  await using _lock = await acquireBuildLock(buildLockPath(env), { clock, signal });
  const found: Partial<Record<C, FoundBinary>> = {};
  for (const component of components) {
    const destination = cachedPath(component, release, env);
    // Another process may have made it while this one waited for the lock.
    if (await isExecutable(destination)) found[component] = { path: destination, source: 'cache' };
    else found[component] = await makeBinary({ component, release, destination, clock, signal }, makers, logger);
  }
  return found;
}

async function makeBinary(
  request: BinaryRequest,
  makers: readonly BinaryMaker[],
  logger: Logger,
): Promise<FoundBinary> {
  const { component, destination } = request;
  const name = `${component} ${versionOf(component, request.release)}`;
  const reasons: string[] = [];
  for (const maker of makers) {
    const started = request.clock.monotonic();
    logger.info(`${name}: ${maker.source} …`);
    try {
      await maker.make(request);
      const seconds = Math.round((request.clock.monotonic() - started) / 1_000);
      logger.info(`${name}: ${maker.source} took ${seconds} s`, { path: destination });
      return { path: destination, source: maker.source };
    } catch (error) {
      request.signal?.throwIfAborted();
      reasons.push(`${maker.source}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new ControlPlaneError(
    'control-plane-missing',
    `no ${name}: not in KUBEBUILDER_ASSETS, not on PATH, not in the cache; ${reasons.join('; ')}`,
  );
}

function cachedPath(component: Component, release: Release, env: NodeJS.ProcessEnv): string {
  const folder = component === 'etcd' ? `etcd-${release.etcd}` : release.kubernetes;
  return join(cacheDirectory(env), 'control-plane', folder, component);
}

async function hasVersion(component: Component, path: string, version: string): Promise<boolean> {
  if (!(await isExecutable(path))) return false;
  const args = component === 'kubectl' ? ['version', '--client'] : ['--version'];
  const output = await runCommand(path, args).catch(() => '');
  // `etcd Version: 3.6.16`, `Kubernetes v1.36.3`, `Client Version: v1.36.3`
  const said = /(?:etcd Version: |Kubernetes v|Client Version: v)(?<version>[\w.+-]+)/.exec(output)?.groups?.[
    'version'
  ];
  return `v${said}` === version;
}
