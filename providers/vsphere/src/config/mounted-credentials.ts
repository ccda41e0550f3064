/** Credentials in a folder of files, as a Secret is mounted. Source: `parseConfig` (pkg/common/credentialmanager/credentialmanager.go). */
import path from 'node:path';
import { readMountedFiles } from '@outrigger/provider-kit';

/** What the files say of one server. */
export interface MountedCredentials {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly sessionManagerUrl?: string | undefined;
  readonly sessionManagerToken?: string | undefined;
}

const SUFFIXES = {
  user: '.username',
  password: '.password',
  sessionManagerUrl: '.vc-session-manager-url',
  sessionManagerToken: '.vc-session-manager-token',
} as const;

/** One folder, read once. */
export class SecretsDirectory {
  readonly path: string;
  readonly #files: ReadonlyMap<string, string>;

  private constructor(directory: string, files: ReadonlyMap<string, string>) {
    this.path = directory;
    this.#files = files;
  }

  /** `undefined` where there is no such folder. Throws a `CloudError` `configuration` for one that cannot be read. */
  static async open(directory: string): Promise<SecretsDirectory | undefined> {
    const files = await readMountedFiles(directory, 'secrets-directory', isOurs);
    return files && new SecretsDirectory(directory, files);
  }

  of(server: string): MountedCredentials {
    const entries = Object.entries(SUFFIXES).map(([member, suffix]) => [member, this.#files.get(`${server}${suffix}`)]);
    const found: MountedCredentials = Object.fromEntries(entries);
    const id = this.#numberOf(server);
    if (id === undefined) return found;
    return { ...found, user: this.#files.get(`username_${id}`), password: this.#files.get(`password_${id}`) };
  }

  /** Those that may be there of a server, whether they are or not. */
  filesOf(server: string): readonly string[] {
    const id = this.#numberOf(server);
    const names =
      id === undefined
        ? Object.values(SUFFIXES).map((suffix) => `${server}${suffix}`)
        : [`server_${id}`, `username_${id}`, `password_${id}`];
    return names.map((name) => path.join(this.path, name));
  }

  /** For names of files that cannot have the colons of an IPv6 address. */
  #numberOf(server: string): string | undefined {
    for (const [name, value] of this.#files) {
      if (name.startsWith('server_') && value.trim() === server) return name.slice('server_'.length);
    }
    return undefined;
  }
}

function isOurs(name: string): boolean {
  return (
    /^(?:server|username|password)_/u.test(name) || Object.values(SUFFIXES).some((suffix) => name.endsWith(suffix))
  );
}
