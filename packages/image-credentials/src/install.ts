/** `install`: the executable puts itself, and what it is configured with, onto the node that it runs on. */
import { copyFile, chmod, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { asError } from '@outrigger/cloud-provider';
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

/** Resolves with the files that were written. What a kubelet runs or reads meanwhile is the old file or the new one, never half of one. */
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
    const { message } = asError(error);
    throw new Failure('configuration', `cannot be installed: ${message}`, { cause: error });
  }
}

async function installConfigs(from: string, configDir: string): Promise<readonly string[]> {
  const providers = path.join(configDir, 'credential-providers');
  await mkdir(providers, { recursive: true });
  const written: string[] = [];
  // A volume of a ConfigMap also has folders, whose names begin with dots.
  const names = (await readdir(from)).filter((one) => /^[^.].*\.(?:json|ya?ml)$/u.test(one)).toSorted();
  for (const name of names) {
    const target = path.join(name === CONFIG_NAME ? configDir : providers, name);
    await replace(target, async (beside) => {
      await copyFile(path.join(from, name), beside);
      await chmod(beside, 0o600);
    });
    written.push(target);
  }
  return written;
}

/** A name without the ending that the kubelet looks for, so that it never reads it. */
async function replace(target: string, write: (beside: string) => Promise<void>): Promise<void> {
  const beside = path.join(path.dirname(target), `.${path.basename(target)}.new`);
  await rm(beside, { force: true });
  await write(beside);
  await rename(beside, target);
}
