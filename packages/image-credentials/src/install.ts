/** `install`: the executable puts itself, and what it is configured with, onto the node that it runs on. */
import { copyFile, chmod, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { asError } from '@outrigger/cloud-provider';
import { parse } from 'yaml';
import { Failure } from './failure.ts';

export const PROGRAM = 'outrigger-image-credentials';
/** As the kubelet calls them: it takes a name once, so that each provider has one of its own. */
export const INSTALLED_NAMES: readonly string[] = ['acr', 'ecr', 'gcr', 'generic'].map((one) => `${PROGRAM}-${one}`);
const CONFIG_NAME = 'image-credentials.yaml';

export interface InstallOptions {
  /** The executable. */
  readonly self: string;
  /** For `--image-credential-provider-bin-dir`. */
  readonly binDir: string;
  /** Where `image-credentials.yaml` goes, and into `credential-providers` below it what is for `--image-credential-provider-config`. */
  readonly configDir: string;
  /** Folder with these files. Default: only the executable is installed. */
  readonly from: string | undefined;
}

/** Resolves with a line for each file that was written or removed. What a kubelet runs or reads meanwhile is the old file or the new one, never half of one. */
export async function install({ binDir, configDir, from, self }: InstallOptions): Promise<readonly string[]> {
  try {
    await mkdir(binDir, { recursive: true });
    const program = path.join(binDir, PROGRAM);
    await replace(program, async (beside) => {
      await copyFile(self, beside);
      await chmod(beside, 0o755);
    });
    for (const name of INSTALLED_NAMES) {
      await replace(path.join(binDir, name), (beside) => symlink(PROGRAM, beside));
    }
    return [program, ...(from === undefined ? [] : await installConfigs(from, configDir))];
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { message } = asError(error);
    throw new Failure('configuration', `cannot be installed: ${message}`, { cause: error });
  }
}

async function installConfigs(from: string, configDir: string): Promise<readonly string[]> {
  const providers = path.join(configDir, 'credential-providers');
  await mkdir(providers, { recursive: true });
  const names = await configsIn(from);
  const outdated = await findOutdated(from, names, providers);
  const done: string[] = [];
  for (const name of names) {
    const target = path.join(name === CONFIG_NAME ? configDir : providers, name);
    await replace(target, async (beside) => {
      await copyFile(path.join(from, name), beside);
      await chmod(beside, 0o600);
    });
    done.push(target);
  }
  for (const { file, provider } of outdated) {
    await rm(file);
    done.push(`${file}: removed, as the kubelet takes ${provider} from one file alone`);
  }
  return done;
}

/** A volume of a ConfigMap also has folders, whose names begin with dots. */
async function configsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((one) => /^[^.].*\.(?:json|ya?ml)$/u.test(one)).toSorted();
}

/**
 * Files on the node that name a provider which a file of `from` names too: the kubelet would not start with both. They go where they have
 * nothing but this program's providers, as with `ecr.yml` when `ecr-service-accounts.yml` comes in its place. Throws `configuration`
 * where they have more, or where two files of `from` name one, before anything is written.
 */
async function findOutdated(
  from: string,
  names: readonly string[],
  folder: string,
): Promise<readonly { readonly file: string; readonly provider: string }[]> {
  const fileOf = new Map<string, string>();
  for (const name of names) {
    for (const provider of await providersIn(path.join(from, name))) {
      const other = fileOf.get(provider);
      if (other !== undefined) throw twice(provider, other, name);
      fileOf.set(provider, name);
    }
  }
  const outdated: { readonly file: string; readonly provider: string }[] = [];
  for (const name of (await configsIn(folder)).filter((one) => !names.includes(one))) {
    const file = path.join(folder, name);
    const found = await providersIn(file);
    const provider = found.find((one) => fileOf.has(one));
    if (provider === undefined) continue;
    if (found.some((one) => !INSTALLED_NAMES.includes(one))) throw twice(provider, fileOf.get(provider) ?? '', file);
    outdated.push({ file, provider });
  }
  return outdated;
}

function twice(provider: string, one: string, other: string): Failure {
  return new Failure(
    'configuration',
    `${one} and ${other} both name the provider ${provider}, and the kubelet would not start: remove one; nothing was installed of either`,
  );
}

/** Names of the providers in a `CredentialProviderConfig`. None in what is none. */
async function providersIn(file: string): Promise<readonly string[]> {
  let found: unknown;
  try {
    found = parse(await readFile(file, 'utf8'));
  } catch {
    return [];
  }
  const listed = (found as { readonly providers?: unknown } | null)?.providers;
  return (Array.isArray(listed) ? (listed as unknown[]) : []).flatMap((one) => {
    const name = (one as { readonly name?: unknown } | null)?.name;
    return typeof name === 'string' ? [name] : [];
  });
}

/** A name without the ending that the kubelet looks for, so that it never reads it. */
async function replace(target: string, write: (beside: string) => Promise<void>): Promise<void> {
  const beside = path.join(path.dirname(target), `.${path.basename(target)}.new`);
  await rm(beside, { force: true });
  await write(beside);
  await rename(beside, target);
}
