/**
 * How a command is run with a directory as its root, read-only, as a user without rights: in a mount namespace of its own,
 * which takes no rights of the machine where user namespaces are allowed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_PATH, USER } from './image-settings.ts';

/** A directory of the machine that is seen at a path of the root. */
export interface Mount {
  readonly from: string;
  readonly to: string;
}

/** Mounts, then makes the root read-only, then enters it as another user, which leaves it without capabilities. */
const ENTER = [
  'root=$1; shift',
  'mount --bind "$root" "$root"',
  'while [ "$1" != -- ]; do mount --rbind "$1" "$root$2"; shift 2; done; shift',
  'mount -o remount,bind,ro "$root"',
  `exec unshare --user --map-user=${USER} --map-group=${USER} --root="$root" --wd=/ -- "$@"`,
].join('; ');

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  /** Whose the process is, where it is not changed on the way. */
  readonly uid?: number;
}

/** How `command` is run in `root`. Its paths are those in the root. */
export function inRoot(root: string, mounts: readonly Mount[], command: readonly string[]): Run {
  const all = [{ from: '/proc', to: '/proc' }, { from: '/dev', to: '/dev' }, ...mounts];
  const pairs = all.flatMap(({ from, to }) => [from, to]);
  const namespaces = ['--user', '--map-root-user', '--mount'];
  return {
    program: 'unshare',
    args: [...namespaces, '--', 'sh', '-euc', ENTER, 'sh', root, ...pairs, '--', ...command],
  };
}

/**
 * The same where a machine allows no namespaces: the root's own loader, libraries and Node by their paths on the machine. It
 * shows that the files fit together, and not that nothing else is needed; root is kept from writing by being another user.
 */
export function besideRoot(root: string, mounts: readonly Mount[], command: readonly string[]): Run {
  const here = (path: string): string => {
    const mount = mounts.find(({ to }) => path.startsWith(`${to}/`));
    return mount ? path.replace(mount.to, mount.from) : join(root, path);
  };
  const [program = '', ...args] = command.map((word) => word.replace(/(?<=^|=)\/.*$/u, here));
  const libraries = ['/lib64', '/lib', ...readdirSync(join(root, 'lib')).map((name) => `/lib/${name}`)]
    .map((path) => join(root, path))
    .filter((path) => existsSync(path));
  const loader = libraries
    .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)))
    .find((path) => /\/ld-linux[^/]*$/u.test(path));
  if (loader === undefined) throw new Error(`no loader of programs in ${root}`);
  return {
    program: loader,
    args: ['--library-path', libraries.join(':'), program, ...args],
    ...(process.getuid?.() === 0 ? { uid: USER } : {}),
  };
}

/** Whether the machine lets it be done: in some containers, namespaces cannot be made. */
export function canRunInRoot(root: string): boolean {
  const { args, program } = inRoot(root, [], [NODE_PATH, '--version']);
  return spawnSync(program, args, { stdio: 'ignore', timeout: 60_000 }).status === 0;
}
