/** The files that people share between AWS' tools: `~/.aws/config` and `~/.aws/credentials`. */
import { parseKnownFiles } from '@smithy/shared-ini-file-loader';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** By name of the profile, of both files; those of `credentials` count. */
export type Profiles = Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Read anew each time. A file that is not there has no profiles. */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const folder = join(env['HOME'] || homedir(), '.aws');
  return parseKnownFiles({
    filepath: env['AWS_SHARED_CREDENTIALS_FILE'] || join(folder, 'credentials'),
    configFilepath: env['AWS_CONFIG_FILE'] || join(folder, 'config'),
    ignoreCache: true,
  });
}

/** Of which the keys count. */
export function profileName(env: Environment): string {
  return env['AWS_PROFILE'] || 'default';
}
