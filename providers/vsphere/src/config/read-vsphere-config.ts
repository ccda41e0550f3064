/** From the text of the configuration, the environment and mounted Secrets to the config. Entry point of this folder. */
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { CloudError, parseCidr, type Cidr, type ConfigText, type ProviderHost } from '@outrigger/cloud-provider';
import { readConfig, type ConfigOf } from '@outrigger/provider-kit';
import type { VcenterCredentials } from '../client/sign-in.ts';
import { iniKeys, yamlKeys, type VcenterKeys } from './config-keys.ts';
import { SecretsDirectory } from './mounted-credentials.ts';
import type { VcenterSettings, VsphereConfig } from './vsphere-config.ts';

export interface ReadVsphereConfigOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From which relative paths count. */
  readonly workingDirectory: string;
  /** Takes a line for what has no effect. */
  readonly warn: (message: string) => void;
  /** Told of each secret. Default: nobody is, as in `checkConfig`. */
  readonly host?: Pick<ProviderHost, 'redact'> | undefined;
}

type Keys = ConfigOf<typeof yamlKeys>;
type Section = ConfigOf<VcenterKeys>;

const DEFAULT_SECRETS_DIRECTORY = '/etc/cloud/secrets';

/** Upstream: `FromEnv` and `FromCPIEnv`, as far as they have an effect there; each after `VSPHERE_`. */
const READ_ENV: ReadonlySet<string> = new Set([
  'SECRETS_DIRECTORY',
  'LABEL_ZONE',
  'LABEL_REGION',
  'NODES_INTERNAL_NETWORK_SUBNET_CIDR',
  'NODES_EXTERNAL_NETWORK_SUBNET_CIDR',
  'NODES_INTERNAL_VM_NETWORK_NAME',
  'NODES_EXTERNAL_VM_NETWORK_NAME',
]);

/** Throws `configuration` with one line for what a person has to correct. No secret is in it. */
export async function readVsphereConfig(
  config: ConfigText | undefined,
  options: ReadVsphereConfigOptions,
): Promise<VsphereConfig> {
  const { env, warn } = options;
  const { file, keys } = parse(config, options);
  for (const name of unreadEnv(env)) warn(`the environment variable ${name} is not read: set it in ${file}`);
  const directory = await secretsDirectory(keys.global.secretsDirectory, file, options);
  const sections = new Map(keys.vcenter);
  const { server } = keys.global;
  if (server !== undefined && !sections.has(server)) sections.set(server, { server } as Section);
  if (sections.size === 0) {
    throw new CloudError(
      'configuration',
      `${file}: no vCenter is named: add a section vcenter, or [VirtualCenter "<server>"]`,
    );
  }
  const read = new VcenterReader(file, keys.global, directory, options);
  const vcenters = [...sections].map(([name, section]) => read.settings(name, section));
  return {
    vcenters,
    zones: zonesOf(keys, file, options),
    addresses: addressesOf(keys, env),
    files: [...new Set(read.files)],
  };
}

/** Kubernetes names the Services beside a pod in its environment: `VSPHERE_CPI_SERVICE_HOST`, `VSPHERE_CPI_PORT`. */
function unreadEnv(env: ReadVsphereConfigOptions['env']): readonly string[] {
  const names = Object.keys(env);
  const services = names.flatMap((name) => /^(VSPHERE_.+_)SERVICE_HOST$/u.exec(name)?.[1] ?? []);
  return names.filter(
    (name) =>
      name === 'SKIP_NODE_DELETION' ||
      (name.startsWith('VSPHERE_') &&
        !READ_ENV.has(name.slice(8)) &&
        !services.some((service) => name.startsWith(service))),
  );
}

/** A token that goes over a network without TLS is anybody's; on the machine itself it does not. */
function isConfidential(url: string): boolean {
  const { hostname, protocol } = URL.parse(url) ?? {};
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/u.test(hostname ?? ''));
}

function isHost(server: string): boolean {
  return /^[\p{L}\p{N}._-]+$/u.test(server) || isIPv6(server.replace(/^\[(.*)\]$/u, '$1'));
}

function parse(
  config: ConfigText | undefined,
  { host, warn }: ReadVsphereConfigOptions,
): { readonly file: string; readonly keys: Keys } {
  const common = { provider: 'vsphere', warn, ...(host && { host }) };
  const file = config?.fileName ?? '';
  if (config === undefined || !isIni(config.text)) {
    const keys = readConfig(yamlKeys, config, common);
    for (const [name, { server }] of keys.vcenter) {
      if (server === undefined) throw new CloudError('configuration', `${file}: vcenter.${name}.server is needed`);
    }
    return { file, keys };
  }
  const ini = readConfig(iniKeys, config, { ...common, format: 'gcfg' });
  const { datacenter, datacenters = datacenter } = ini.global;
  const vcenter = new Map(
    [...ini.virtualCenter].map(([name, section]) => [name, { ...section, server: section.server ?? name }]),
  );
  return { file, keys: { ...ini, global: { ...ini.global, datacenters }, vcenter } };
}

/** By the first line that says anything: no YAML of ours begins with a bracket. */
function isIni(text: string): boolean {
  const lines = text.replace('\uFEFF', '').split('\n');
  return /^\s*\[/u.test(lines.find((line) => !/^\s*(?:[#;].*)?$/u.test(line)) ?? '');
}

async function secretsDirectory(
  configured: string | undefined,
  file: string,
  { env, workingDirectory }: ReadVsphereConfigOptions,
): Promise<SecretsDirectory | undefined> {
  const named = env['VSPHERE_SECRETS_DIRECTORY'] || configured;
  const directory = path.resolve(workingDirectory, named ?? DEFAULT_SECRETS_DIRECTORY);
  const found = await SecretsDirectory.open(directory);
  if (found || named === undefined) return found;
  throw new CloudError('configuration', `${file}: secrets-directory ${directory} does not exist`);
}

class VcenterReader {
  readonly files: string[] = [];
  readonly #file: string;
  readonly #global: Keys['global'];
  readonly #directory: SecretsDirectory | undefined;
  readonly #options: ReadVsphereConfigOptions;

  constructor(
    file: string,
    global: Keys['global'],
    directory: SecretsDirectory | undefined,
    options: ReadVsphereConfigOptions,
  ) {
    this.#file = file;
    this.#global = global;
    this.#directory = directory;
    this.#options = options;
  }

  settings(name: string, section: Section): VcenterSettings {
    const global = this.#global;
    const server = section.server ?? name;
    if (!isHost(server))
      throw this.#refusal(
        `the server ${server} of the vCenter ${name} is no host name or IP address: without https://, and its port as port`,
      );
    const caFile = section.caFile ?? global.caFile;
    const resolved = caFile === undefined ? undefined : path.resolve(this.#options.workingDirectory, caFile);
    if (resolved !== undefined) this.files.push(resolved);
    const insecure = section.insecureFlag === true || global.insecureFlag === true;
    if (insecure) {
      this.#options.warn(
        `${this.#file}: insecure-flag is set: the certificate of the vCenter ${name} (${server}) is not verified`,
      );
    }
    return {
      name,
      server,
      port: section.port ?? global.port ?? 443,
      credentials: this.#credentials(server, section),
      insecure,
      caFile: resolved,
      thumbprint: section.thumbprint ?? global.thumbprint,
      datacenters: section.datacenters ?? global.datacenters ?? [],
      families: [...new Set(section.ipFamily ?? global.ipFamily ?? (['ipv4'] as const))],
    };
  }

  /** Those of files first: they are the ones that are rotated. */
  #credentials(server: string, section: Section): VcenterCredentials {
    const mounted = this.#directory?.of(server) ?? {};
    this.files.push(...(this.#directory?.filesOf(server) ?? []));
    const { sessionManagerToken: token, sessionManagerUrl: url } = mounted;
    if (url !== undefined) {
      if (token === undefined)
        throw this.#refusal(`${server}.vc-session-manager-url has no ${server}.vc-session-manager-token beside it`);
      this.#options.host?.redact(token);
      // Not quoted: it may have a password in it.
      if (!isConfidential(url)) throw this.#refusal(`${server}.vc-session-manager-url is no URL of the form https://…`);
      return { kind: 'session-manager', url, token };
    }
    const user = mounted.user ?? section.user ?? this.#global.user;
    const password = mounted.password ?? section.password ?? this.#global.password;
    if (!user || !password) throw this.#refusal(this.#missing(server, section));
    this.#options.host?.redact(password);
    if (!user.includes('-----BEGIN CERTIFICATE-----')) return { kind: 'user', user, password };
    return { kind: 'certificate', certificate: user, privateKey: password };
  }

  #missing(server: string, { secretName = this.#global.secretName }: Section): string {
    const files = `${server}.username and ${server}.password`;
    const where = this.#directory?.path ?? DEFAULT_SECRETS_DIRECTORY;
    if (secretName === undefined)
      return `the vCenter ${server} has no credentials: set user and password, or mount a Secret with ${files} at ${where}, or where secrets-directory says`;
    return `secret-name is not read through the API of Kubernetes: mount the Secret ${secretName}, which has to have ${files}, as a volume at ${where}, or where secrets-directory says`;
  }

  #refusal(why: string): CloudError {
    return new CloudError('configuration', `${this.#file}: ${why}`);
  }
}

function zonesOf({ labels }: Keys, file: string, { env, warn }: ReadVsphereConfigOptions): VsphereConfig['zones'] {
  const zone = env['VSPHERE_LABEL_ZONE'] || labels.zone;
  const region = env['VSPHERE_LABEL_REGION'] || labels.region;
  if (zone !== undefined && region !== undefined) return { zone, region };
  if (zone !== undefined || region !== undefined)
    warn(`${file}: labels has to name both zone and region: nodes get neither`);
  return undefined;
}

function addressesOf({ nodes }: Keys, env: ReadVsphereConfigOptions['env']): VsphereConfig['addresses'] {
  const subnets = (name: string, configured: readonly Cidr[]): readonly Cidr[] => {
    const text = env[name];
    if (!text) return configured;
    return text.split(',').map((one) => {
      const read = parseCidr(one.trim());
      if (!read) throw new CloudError('configuration', `the environment variable ${name} is no list of CIDRs`);
      return read;
    });
  };
  return {
    internalSubnets: subnets('VSPHERE_NODES_INTERNAL_NETWORK_SUBNET_CIDR', nodes.internalNetworkSubnetCidr),
    externalSubnets: subnets('VSPHERE_NODES_EXTERNAL_NETWORK_SUBNET_CIDR', nodes.externalNetworkSubnetCidr),
    excludedInternalSubnets: nodes.excludeInternalNetworkSubnetCidr,
    excludedExternalSubnets: nodes.excludeExternalNetworkSubnetCidr,
    internalNetwork: env['VSPHERE_NODES_INTERNAL_VM_NETWORK_NAME'] || nodes.internalVmNetworkName,
    externalNetwork: env['VSPHERE_NODES_EXTERNAL_VM_NETWORK_NAME'] || nodes.externalVmNetworkName,
  };
}
