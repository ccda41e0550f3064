/** From the `user` of a kubeconfig to credentials, and to the client certificate for TLS. */
import { dirname, isAbsolute, join } from 'node:path';
import type { ClusterConfig, PemSource, TlsConfig } from './cluster-config.ts';
import { ConfigError } from './config-error.ts';
import {
  anonymous,
  bearerToken,
  isHeaderText,
  staticCredentials,
  withHeaders,
  type Credentials,
} from './credentials.ts';
import { EXEC_API_VERSIONS, type ExecApiVersion } from './exec-credential.ts';
import { execCredentials, type ExecCluster } from './exec-credentials.ts';
import type { Entry } from './kubeconfig-file.ts';
import type { KubeconfigUser } from './kubeconfig-schema.ts';
import type { LoadConfigContext } from './load-config-context.ts';
import { tokenFile } from './token-file.ts';

/** A path in a kubeconfig is relative to that file. */
function resolveIn(entry: Entry<unknown>, path: string): string {
  return isAbsolute(path) ? path : join(dirname(entry.file), path);
}

/** `<key>-data` or `<key>` of an entry, checked, as a source of PEM. */
export function pemSource<T extends object>(
  entry: Entry<T>,
  key: string & keyof T,
  dataKey: string & keyof T,
): PemSource | undefined {
  const file = entry.value[key] as string | undefined;
  const data = entry.value[dataKey] as string | undefined;
  if (file !== undefined && data !== undefined) {
    throw new ConfigError('config-invalid', entry.at(dataKey), `is set beside ${key}; keep one of them`);
  }
  if (file !== undefined) return { file: resolveIn(entry, file), where: entry.at(key) };
  if (data === undefined) return undefined;
  const compact = data.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact))
    throw new ConfigError('config-invalid', entry.at(dataKey), 'is not base64');
  const pem = Buffer.from(compact, 'base64').toString('utf8');
  if (!pem.includes('-----BEGIN ')) {
    throw new ConfigError('config-invalid', entry.at(dataKey), 'is base64, but not of PEM text');
  }
  return { data: pem };
}

/** The client certificate of a user. @throws ConfigError when one half is missing. */
export function userCertificate(user: Entry<KubeconfigUser>): Pick<TlsConfig, 'certificate' | 'key'> {
  const certificate = pemSource(user, 'client-certificate', 'client-certificate-data');
  const key = pemSource(user, 'client-key', 'client-key-data');
  if (certificate && !key) {
    throw new ConfigError('config-invalid', user.at(), 'has a client certificate but no client-key or client-key-data');
  }
  if (key && !certificate) {
    throw new ConfigError(
      'config-invalid',
      user.at(),
      'has a client key but no client-certificate or client-certificate-data',
    );
  }
  return certificate && key ? { certificate, key } : {};
}

/** The credentials of a user. `cluster` is told to an exec plugin that asks for it. */
export function userCredentials(
  user: Entry<KubeconfigUser>,
  cluster: () => Promise<ExecCluster>,
  context: LoadConfigContext,
): NonNullable<ClusterConfig['credentials']> {
  const { value } = user;
  if (value['auth-provider'] != null) {
    throw new ConfigError('config-unsupported', user.at('auth-provider'), 'was removed in Kubernetes 1.26: use exec');
  }
  const hasToken = value.token !== undefined || value.tokenFile !== undefined;
  const hasPassword = value.username !== undefined || value.password !== undefined;
  const methods = [hasToken && 'token', hasPassword && 'username/password', value.exec && 'exec'].filter(Boolean);
  if (methods.length > 1) {
    throw new ConfigError('config-invalid', user.at(), `has ${methods.join(' and ')}; only one of them can be used`);
  }
  return impersonating(user, methodOf(user, cluster, context));
}

function methodOf(
  user: Entry<KubeconfigUser>,
  cluster: () => Promise<ExecCluster>,
  context: LoadConfigContext,
): Credentials {
  const { value } = user;
  // Before anything else is said about this user.
  for (const secret of [value.token, value.password]) if (secret !== undefined) context.onSecret(secret);
  if (value.exec) return execOf(user, value.exec, cluster, context);
  if (value.tokenFile !== undefined) {
    return tokenFile({
      path: resolveIn(user, value.tokenFile),
      where: user.at('tokenFile'),
      fallback: value.token,
      ...context,
    });
  }
  if (value.token !== undefined) {
    if (!isHeaderText(value.token)) {
      throw new ConfigError(
        'config-invalid',
        user.at('token'),
        'holds white space or other characters that no token has',
      );
    }
    return bearerToken(value.token);
  }
  if (value.username !== undefined || value.password !== undefined) {
    const pair = Buffer.from(`${value.username ?? ''}:${value.password ?? ''}`).toString('base64');
    return staticCredentials({ authorization: `Basic ${pair}` });
  }
  return anonymous;
}

function execOf(
  user: Entry<KubeconfigUser>,
  exec: NonNullable<KubeconfigUser['exec']>,
  cluster: () => Promise<ExecCluster>,
  context: LoadConfigContext,
): Credentials {
  const invalid = (key: string, message: string): ConfigError =>
    new ConfigError('config-invalid', user.at(`exec.${key}`), message);
  if (exec.command === undefined) throw invalid('command', 'is missing');
  if (exec.apiVersion === undefined) throw invalid('apiVersion', `is missing; use ${EXEC_API_VERSIONS[0]}`);
  if (!isExecApiVersion(exec.apiVersion)) {
    throw invalid('apiVersion', `"${exec.apiVersion}" is not supported; use ${EXEC_API_VERSIONS[0]}`);
  }
  const mode = exec.interactiveMode;
  if (mode === undefined && exec.apiVersion === EXEC_API_VERSIONS[0]) {
    throw invalid('interactiveMode', 'is missing; v1 asks for Never, IfAvailable or Always');
  }
  if (mode !== undefined && mode !== 'Never' && mode !== 'IfAvailable' && mode !== 'Always') {
    throw invalid('interactiveMode', `"${mode}" is not one of Never, IfAvailable, Always`);
  }
  const env: Record<string, string> = {};
  for (const [i, { name, value }] of exec.env.entries()) {
    if (name === undefined) throw invalid('env', `[${i}].name is missing`);
    env[name] = value ?? '';
  }
  return execCredentials({
    where: user.at('exec'),
    apiVersion: exec.apiVersion,
    // A bare name is looked up on PATH; anything with a slash is a path, relative to the kubeconfig.
    command: exec.command.includes('/') ? resolveIn(user, exec.command) : exec.command,
    args: exec.args.map((arg) => arg ?? ''),
    env,
    interactiveMode: mode ?? 'IfAvailable',
    installHint: exec.installHint,
    cluster: exec.provideClusterInfo ? cluster : undefined,
    inheritedEnv: context.env,
    run: context.runExecPlugin,
    hasTerminal: context.hasTerminal,
    clock: context.clock,
  });
}

function isExecApiVersion(value: string): value is ExecApiVersion {
  return EXEC_API_VERSIONS.some((version) => version === value);
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonating(user: Entry<KubeconfigUser>, credentials: Credentials): Credentials {
  const { value } = user;
  const groups = value['as-groups'].filter((group) => group !== undefined);
  const extra = Object.entries(value['as-user-extra'] ?? {});
  if (value.as === undefined) {
    if (groups.length > 0 || extra.length > 0 || value['as-uid'] !== undefined) {
      throw new ConfigError('config-invalid', user.at(), 'has as-uid, as-groups or as-user-extra, but no as');
    }
    return credentials;
  }
  // The server reads several values from repeated headers only.
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': value.as };
  if (value['as-uid'] !== undefined) headers['impersonate-uid'] = value['as-uid'];
  if (groups.length > 0) headers['impersonate-group'] = groups;
  for (const [key, values] of extra) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  }
  return withHeaders(credentials, headers);
}
