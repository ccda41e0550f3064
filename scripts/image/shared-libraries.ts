/** The libraries of the machine that a program is loaded with, and the packages of the distribution that they come from. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

export interface SharedLibrary {
  /** As the loader looks for it. */
  readonly path: string;
  /** Of the file, in hex. */
  readonly sha256: string;
  /** Undefined where no package manager knows it. */
  readonly source: SystemPackage | undefined;
}

export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** `debian`, and `debian-12`. */
  readonly vendor: string;
  readonly distribution: string;
  /** The file that says who has written it, and under what terms it is handed on. Undefined where the machine is without it. */
  readonly terms: { readonly path: string; readonly sha256: string } | undefined;
}

/** Also the loader itself. Throws where there is no `ldd`, and for a library that is not found. */
export function sharedLibraries(program: string): readonly SharedLibrary[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return librariesIn(listed).map((path) => ({
    path,
    sha256: sha256Of(path),
    source: packageOf(path),
  }));
}

/** The paths in what `ldd` prints. Throws for a library that it has not found. */
export function librariesIn(listed: string): readonly string[] {
  const missing = /^\s*(\S+) => not found/mu.exec(listed);
  if (missing) throw new Error(`the library ${missing[1]} is not on this machine`);
  const paths = [...listed.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gmu)].map(([, path = '']) => path);
  if (paths.length === 0) throw new Error(`ldd names no library: ${listed.trim()}`);
  return [...new Set(paths)].sort();
}

function packageOf(path: string): SystemPackage | undefined {
  // Since /lib is a link to /usr/lib, the database has some files by one name and some by the other.
  for (const name of [path, `/usr${path}`]) {
    try {
      const owner = ask('-S', name).split(': ')[0] ?? '';
      const [found = '', version = '', architecture = ''] = ask(
        '-W',
        '-f=${Package} ${Version} ${Architecture}',
        owner,
      ).split(' ');
      return { name: found, version, architecture, ...distribution(), terms: termsOf(found) };
    } catch {
      // Not in the database, or there is none.
    }
  }
  return undefined;
}

function termsOf(name: string): SystemPackage['terms'] {
  const path = `/usr/share/doc/${name}/copyright`;
  return existsSync(path) ? { path, sha256: sha256Of(path) } : undefined;
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function ask(...args: readonly string[]): string {
  return execFileSync('dpkg-query', [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

function distribution(): Pick<SystemPackage, 'vendor' | 'distribution'> {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  const value = (key: string): string => new RegExp(`^${key}="?([^"\\n]*)`, 'mu').exec(text)?.[1] ?? '';
  return { vendor: value('ID') || 'debian', distribution: `${value('ID')}-${value('VERSION_ID')}` };
}
