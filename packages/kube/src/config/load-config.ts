/** From flags, environment and files to the `ClusterConfig` of one cluster. Entry point: `loadConfig`. */
import { environmentProxy } from './environment-proxy.ts';
import { readFile as readFileFromDisk } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../clock.ts';
import { silentLogger, type Logger } from '../logger.ts';
import type { ClusterConfig, PemSource, ReadFile, TlsConfig } from './cluster-config.ts';
import { ConfigError } from './config-error.ts';
import { spawnExecPlugin, type RunExecPlugin } from './exec-plugin.ts';
import type { ExecCluster } from './exec-credentials.ts';
import { isInCluster, loadInClusterConfig } from './in-cluster.ts';
import type { Entry, KubeconfigFile } from './kubeconfig-file.ts';
import type { KubeconfigCluster } from './kubeconfig-schema.ts';
import { mergeKubeconfigs, splitKubeconfigVariable, type MergedKubeconfig } from './merge-kubeconfigs.ts';
import { unreadable } from './reread-file.ts';
import type { LoadConfigContext } from './load-config-context.ts';
import { parseServer } from './server-url.ts';
import { registerSecrets, type OnSecret } from './register-secrets.ts';
import { pemSource, userCertificate, userCredentials } from './user-credentials.ts';

export interface LoadConfigOptions {
  /** `--kubeconfig`: this file alone, which must exist. */
  readonly kubeconfig?: string | undefined;
  /** The flag that `kubeconfig` was given by, for messages. Default: `--kubeconfig`. */
  readonly kubeconfigFlag?: string | undefined;
  /** Files to merge, first wins; missing ones are left out. Default: those in `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfigPaths?: readonly string[] | undefined;
  /** Default: `current-context`. */
  readonly context?: string | undefined;
  /** `--master`: takes the place of the cluster's server. */
  readonly master?: string | undefined;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: from disk. */
  readonly readFile?: ReadFile;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
  /** Default: silent. */
  readonly logger?: Logger;
  /** Told of each secret before it is used, and of renewed ones: tokens, passwords, private keys. Default: nobody is. */
  readonly onSecret?: OnSecret;
  /** Default: as a child process. */
  readonly runExecPlugin?: RunExecPlugin;
  /** Whether an exec plugin may ask at the terminal. Default: whether stdin is one. */
  readonly hasTerminal?: () => boolean;
}

/** The extension of a cluster that is handed to exec plugins as `spec.cluster.config`. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * Finds the cluster, in client-go's order: the explicit kubeconfig; else `$KUBECONFIG` or `~/.kube/config`; else, in a
 * pod, the service account; else `master` alone, without credentials.
 * @throws ConfigError that names file, line and key.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ClusterConfig> {
  const context: LoadConfigContext = {
    env: options.env ?? process.env,
    readFile: options.readFile ?? ((path) => readFileFromDisk(path, 'utf8')),
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    onSecret: options.onSecret ?? (() => {}),
    runExecPlugin: options.runExecPlugin ?? spawnExecPlugin,
    hasTerminal: options.hasTerminal ?? (() => process.stdin.isTTY),
  };
  const config = await findConfig(options, context);
  const proxyUrl = config.proxyUrl ?? environmentProxy(config.server, context.env);
  return registerSecrets(proxyUrl === undefined ? config : { ...config, proxyUrl }, context.onSecret);
}

async function findConfig(options: LoadConfigOptions, context: LoadConfigContext): Promise<ClusterConfig> {
  const { paths, mustExist } = kubeconfigPaths(options, context.env);
  const files = await readKubeconfigs(
    paths,
    mustExist ? (options.kubeconfigFlag ?? '--kubeconfig') : undefined,
    context.readFile,
  );
  if (files.length > 0) return fromKubeconfig(mergeKubeconfigs(files), options, context);
  if (isInCluster(context.env)) {
    const config = await loadInClusterConfig(context);
    return options.master ? { ...config, server: parseServer('--master', options.master, true) } : config;
  }
  if (options.master) return { server: parseServer('--master', options.master, false), source: '--master' };
  throw new ConfigError(
    'config-not-found',
    'kubeconfig',
    `no configuration: ${paths.length === 0 ? 'no path is given' : `none of ${paths.join(', ')} exists`}, and this is not a pod; ` +
      'set --kubeconfig or $KUBECONFIG',
  );
}

function kubeconfigPaths(
  options: LoadConfigOptions,
  env: LoadConfigContext['env'],
): { readonly paths: readonly string[]; readonly mustExist: boolean } {
  if (options.kubeconfig) return { paths: [options.kubeconfig], mustExist: true };
  if (options.kubeconfigPaths) return { paths: options.kubeconfigPaths, mustExist: false };
  if (env['KUBECONFIG']) return { paths: splitKubeconfigVariable(env['KUBECONFIG']), mustExist: false };
  return { paths: [join(env['HOME'] ?? homedir(), '.kube', 'config')], mustExist: false };
}

async function readKubeconfigs(
  paths: readonly string[],
  /** Set: each must exist. */
  flag: string | undefined,
  readFile: ReadFile,
): Promise<readonly KubeconfigFile[]> {
  const files: KubeconfigFile[] = [];
  for (const path of paths) {
    let text: string;
    try {
      text = await readFile(path);
    } catch (error) {
      if (flag === undefined && (error as { code?: unknown }).code === 'ENOENT') continue;
      throw unreadable(flag === undefined ? path : `${flag}=${path}`, path, error);
    }
    // YAML and its checks are loaded only here: in a pod there is no kubeconfig.
    const { parseKubeconfigFile } = await import('./kubeconfig-file.ts');
    const file = parseKubeconfigFile(path, text);
    // An empty file is no configuration: client-go looks further then, in a pod for the service account.
    if (flag !== undefined || !isEmpty(file)) files.push(file);
  }
  return files;
}

function isEmpty(file: KubeconfigFile): boolean {
  return file.currentContext === undefined && file.clusters.size + file.users.size + file.contexts.size === 0;
}

function fromKubeconfig(
  merged: MergedKubeconfig,
  options: LoadConfigOptions,
  context: LoadConfigContext,
): ClusterConfig {
  const files = merged.paths.join(', ');
  const name = options.context ?? merged.currentContext;
  if (name === undefined) {
    throw new ConfigError(
      'config-reference',
      files,
      'current-context is not set, and no context was asked for: is this a kubeconfig?',
    );
  }
  const chosen = merged.contexts.get(name);
  if (!chosen)
    throw new ConfigError('config-reference', files, `there is no context "${name}"${known(merged.contexts)}`);

  const cluster = lookUp(merged.clusters, chosen.value.cluster, chosen.at('cluster'), 'cluster');
  // A context without a user is anonymous; one with a user that does not exist is a mistake.
  const user =
    chosen.value.user === undefined ? undefined : lookUp(merged.users, chosen.value.user, chosen.at('user'), 'user');

  const tls: TlsConfig = { ...clusterTls(cluster), ...(user && userCertificate(user)) };
  const server = options.master
    ? parseServer('--master', options.master, usesTls(tls))
    : serverOf(cluster, usesTls(tls));
  const proxyUrl = proxyOf(cluster);
  const execCluster = (): Promise<ExecCluster> => describeCluster(cluster, server, tls, context.readFile);
  return {
    server,
    tls,
    ...(user && { credentials: userCredentials(user, execCluster, context) }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    namespace: chosen.value.namespace ?? 'default',
    source: `context "${name}" of ${files}`,
  };
}

function lookUp<T>(
  entries: ReadonlyMap<string, Entry<T>>,
  name: string | undefined,
  where: string,
  what: string,
): Entry<T> {
  if (name === undefined) throw new ConfigError('config-reference', where, 'is not set');
  const entry = entries.get(name);
  if (!entry) throw new ConfigError('config-reference', where, `there is no ${what} "${name}"${known(entries)}`);
  return entry;
}

function known(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? '' : `; there is ${[...entries.keys()].map((name) => `"${name}"`).join(', ')}`;
}

function usesTls(tls: TlsConfig): boolean {
  return Boolean(tls.ca || tls.certificate || tls.insecureSkipVerify);
}

function clusterTls(cluster: Entry<KubeconfigCluster>): TlsConfig {
  const ca = pemSource(cluster, 'certificate-authority', 'certificate-authority-data');
  const insecure = cluster.value['insecure-skip-tls-verify'];
  if (ca && insecure) {
    throw new ConfigError(
      'config-invalid',
      cluster.at('insecure-skip-tls-verify'),
      'is true beside a certificate-authority; remove one of them',
    );
  }
  const serverName = cluster.value['tls-server-name'];
  return {
    ...(ca && { ca }),
    ...(serverName !== undefined && { serverName }),
    ...(insecure && { insecureSkipVerify: true }),
  };
}

function serverOf(cluster: Entry<KubeconfigCluster>, tls: boolean): string {
  const { server } = cluster.value;
  if (server === undefined) throw new ConfigError('config-invalid', cluster.at('server'), 'is missing');
  return parseServer(cluster.at('server'), server, tls);
}

function proxyOf(cluster: Entry<KubeconfigCluster>): string | undefined {
  const proxy = cluster.value['proxy-url'];
  if (proxy === undefined) return undefined;
  const url = URL.parse(proxy);
  // The URL may hold a password, so it is not quoted.
  if (!url) throw new ConfigError('config-invalid', cluster.at('proxy-url'), 'is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConfigError(
      'config-unsupported',
      cluster.at('proxy-url'),
      `has scheme ${url.protocol.slice(0, -1)}; only http and https proxies are supported`,
    );
  }
  return url.href;
}

/** `spec.cluster` for exec plugins. */
async function describeCluster(
  cluster: Entry<KubeconfigCluster>,
  server: string,
  tls: TlsConfig,
  readFile: ReadFile,
): Promise<ExecCluster> {
  const ca = await pemText(tls.ca, readFile);
  const extension = cluster.value.extensions.find(({ name }) => name === EXEC_EXTENSION)?.extension;
  return {
    server,
    ...(tls.serverName !== undefined && { 'tls-server-name': tls.serverName }),
    ...(tls.insecureSkipVerify && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(cluster.value['proxy-url'] !== undefined && { 'proxy-url': cluster.value['proxy-url'] }),
    ...(cluster.value['disable-compression'] && { 'disable-compression': true }),
    ...(extension !== undefined && { config: extension }),
  };
}

async function pemText(source: PemSource | undefined, readFile: ReadFile): Promise<string | undefined> {
  if (!source) return undefined;
  return 'data' in source ? source.data : readFile(source.file);
}
