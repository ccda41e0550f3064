/** `clouds.yaml`, the file of the OpenStack clients, with `clouds-public.yaml` and `secure.yaml`. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CloudError } from '@outrigger/cloud-provider';
import { parse, YAMLParseError } from 'yaml';
import type { GlobalConfig } from './cloud-config.ts';
import { BadValue, endpointType } from './value-kinds.ts';

export interface CloudsYamlOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** `[Global] clouds-file`. */
  readonly cloudsFile: string | undefined;
  /** `[Global] cloud`. Default: `OS_CLOUD`, else the only one that there is. */
  readonly cloud: string | undefined;
  /** The file that asks for `clouds.yaml`, for messages. */
  readonly namedBy: string;
  readonly warn: (message: string) => void;
  /** Told of each file that is read. */
  readonly onFile?: ((fileName: string) => void) | undefined;
}

type Mapping = Readonly<Record<string, unknown>>;

/** One cloud of one file. */
interface Found {
  readonly fileName: string;
  readonly clouds: Readonly<Record<string, Mapping>>;
}

/**
 * What it says for `[Global]`; no member for what it does not say. By the rules of `clientconfig.GetCloudFromYAML` and
 * cloud-provider-openstack's `ReadClouds`, which takes over neither `verify` nor the per-region values. Throws `configuration`.
 */
export async function readCloudsYaml(options: CloudsYamlOptions): Promise<Partial<GlobalConfig>> {
  const [clouds, secure] = await Promise.all([
    find(options, 'clouds', 'clouds', options.cloudsFile ?? options.env['OS_CLIENT_CONFIG_FILE']),
    find(options, 'secure', 'clouds'),
  ]);
  if (!clouds) {
    const where = directories(options).join(', ');
    throw new CloudError(
      'configuration',
      `${options.namedBy}: [Global] use-clouds is set, and there is no clouds.yaml in ${where}: name it with clouds-file`,
    );
  }
  const name = nameOf(options, clouds, secure);
  const own = clouds.clouds[name];
  const profile = textOf(own?.['profile']) ?? textOf(own?.['cloud']);
  const underneath = profile === undefined ? {} : await readProfile(options, clouds, name, profile);
  const cloud = merge(secure?.clouds[name] ?? {}, merge(own ?? {}, underneath));
  if (textOf(cloud['verify'])?.toLowerCase() === 'false') {
    options.warn(`${clouds.fileName}: clouds.${name}.verify is ignored; set tls-insecure in ${options.namedBy}`);
  }
  return globalOf(cloud, `${clouds.fileName}: clouds.${name}`);
}

/** Which of the keys of `auth` is which member. */
const AUTH: Readonly<Record<string, keyof GlobalConfig>> = {
  auth_url: 'authUrl',
  token: 'token',
  username: 'username',
  user_id: 'userId',
  password: 'password',
  application_credential_id: 'applicationCredentialId',
  application_credential_name: 'applicationCredentialName',
  application_credential_secret: 'applicationCredentialSecret',
  project_name: 'tenantName',
  project_id: 'tenantId',
  user_domain_name: 'userDomainName',
  user_domain_id: 'userDomainId',
  project_domain_name: 'tenantDomainName',
  project_domain_id: 'tenantDomainId',
  domain_name: 'domainName',
  domain_id: 'domainId',
};

/** Which of the keys beside `auth` is which member. */
const BESIDE: Readonly<Record<string, keyof GlobalConfig>> = {
  region_name: 'region',
  cacert: 'caFile',
  cert: 'certFile',
  key: 'keyFile',
};

function globalOf(cloud: Mapping, where: string): Partial<GlobalConfig> {
  const from = (mapping: Mapping, members: Readonly<Record<string, keyof GlobalConfig>>): [string, string][] =>
    Object.entries(members).flatMap(([key, member]) => {
      const value = textOf(mapping[key]);
      return value === undefined ? [] : [[member, value] satisfies [string, string]];
    });
  const endpoints = textOf(cloud['endpoint_type']) ?? textOf(cloud['interface']);
  try {
    return {
      ...Object.fromEntries([...from(mappingOf(cloud['auth']), AUTH), ...from(cloud, BESIDE)]),
      ...(endpoints !== undefined && { osEndpointType: endpointType.read(endpoints, 'public', () => {}) }),
    };
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new CloudError('configuration', `${where}.interface ${error.message}`, { cause: error });
  }
}

function nameOf(
  { cloud, env, namedBy }: CloudsYamlOptions,
  { fileName, clouds }: Found,
  secure: Found | undefined,
): string {
  const names = Object.keys(clouds);
  const all = names.length > 0 ? names : Object.keys(secure?.clouds ?? {});
  const wanted = cloud ?? (env['OS_CLOUD'] || undefined);
  if (wanted === undefined) {
    const [only] = all;
    if (only !== undefined && all.length === 1) return only;
    const many = all.length === 0 ? 'has no cloud' : `has the clouds ${all.join(', ')}`;
    throw new CloudError('configuration', `${fileName} ${many}: name one with cloud in ${namedBy}`);
  }
  if (wanted in clouds) return wanted;
  throw new CloudError(
    'configuration',
    `${fileName} has no cloud ${JSON.stringify(wanted)}, which ${cloud === undefined ? 'OS_CLOUD' : namedBy} names; it has ${names.join(', ') || 'none'}`,
  );
}

async function readProfile(options: CloudsYamlOptions, of: Found, cloud: string, profile: string): Promise<Mapping> {
  const found = await find(options, 'clouds-public', 'public-clouds');
  const mapping = found?.clouds[profile];
  if (mapping) return mapping;
  throw new CloudError(
    'configuration',
    `${of.fileName}: clouds.${cloud} names the profile ${JSON.stringify(profile)}, which ${found?.fileName ?? 'no clouds-public.yaml'} has`,
  );
}

function directories({ workingDirectory, homeDirectory }: CloudsYamlOptions): readonly string[] {
  return [workingDirectory, path.join(homeDirectory, '.config/openstack'), '/etc/openstack'];
}

/** `at`, where there is such a file, goes before the places in which one looks. */
async function find(options: CloudsYamlOptions, base: string, key: string, at?: string): Promise<Found | undefined> {
  const places = ['yaml', 'yml'].flatMap((ending) =>
    directories(options).map((one) => path.join(one, `${base}.${ending}`)),
  );
  for (const fileName of at === undefined || at === '' ? places : [at, ...places]) {
    const text = await readIfThere(fileName);
    if (text !== undefined) {
      options.onFile?.(fileName);
      return { fileName, clouds: cloudsOf(fileName, key, text) };
    }
    if (fileName === options.cloudsFile) {
      throw new CloudError('configuration', `${options.namedBy}: clouds-file ${fileName} does not exist`);
    }
  }
  return undefined;
}

async function readIfThere(fileName: string): Promise<string | undefined> {
  try {
    return await readFile(fileName, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CloudError('configuration', `${fileName} cannot be read: ${code ?? 'unknown error'}`, { cause: error });
  }
}

function cloudsOf(fileName: string, key: string, text: string): Readonly<Record<string, Mapping>> {
  let document: unknown;
  try {
    // Every scalar as it is written: a password of digits keeps its zeros. `<<` is what people share settings with.
    document = parse(text, { prettyErrors: false, schema: 'failsafe', merge: true });
  } catch (error) {
    // The library's own message quotes the line, which may hold a password.
    const line = error instanceof YAMLParseError ? text.slice(0, error.pos[0]).split('\n').length : 0;
    const what = error instanceof YAMLParseError ? error.code : 'unreadable';
    throw new CloudError('configuration', `${fileName}:${line}: this is not valid YAML (${what})`);
  }
  const clouds = mappingOf(mappingOf(document)[key]);
  return Object.fromEntries(Object.entries(clouds).map(([name, cloud]) => [name, mappingOf(cloud)]));
}

function mappingOf(value: unknown): Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What is nothing in `over` is taken from `under`, also further down. */
function merge(over: Mapping, under: Mapping): Mapping {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === '') continue;
    const below = under[key];
    const bothMappings = typeof value === 'object' && typeof below === 'object' && below !== null;
    merged[key] = bothMappings && !Array.isArray(value) ? merge(value as Mapping, below as Mapping) : value;
  }
  return merged;
}
