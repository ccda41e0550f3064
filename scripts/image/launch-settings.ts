/** How the program is started in an image, where no shell is: the launcher is asked for it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Takes Node's place beside the launcher: prints what it is given. */
const ECHO = '#!/bin/sh\nprintf "%s\\n" "$MALLOC_ARENA_MAX" "$MALLOC_MMAP_THRESHOLD_" "$@"\n';
const OLD_SPACE = '--max-old-space-size=';

export interface LaunchSettings {
  /** Between Node and the program. */
  readonly flags: readonly string[];
  /** What an operator may change: `NODE_OPTIONS` holds the size of the heap. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs `launcher` with something else in Node's place. Throws when the launcher does not say what is expected of it. */
export function askLauncher(launcher: string): LaunchSettings {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-launcher-'));
  try {
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    copyFileSync(launcher, join(bin, 'cloud-controller-manager'));
    writeFileSync(join(bin, 'node'), ECHO, { mode: 0o755 });
    const answer = execFileSync('/bin/sh', [join(bin, 'cloud-controller-manager')], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    return settingsOf(answer.trimEnd().split('\n'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function settingsOf([arenas = '', threshold = '', ...argv]: readonly string[]): LaunchSettings {
  const given = argv.slice(0, -1);
  const heap = given.find((flag) => flag.startsWith(OLD_SPACE));
  if (heap === undefined || ![arenas, threshold].every((one) => /^\d+$/u.test(one)) || !argv.at(-1)?.endsWith('.js')) {
    const settings = `MALLOC_ARENA_MAX=${arenas}, MALLOC_MMAP_THRESHOLD_=${threshold}`;
    throw new Error(`the launcher starts Node with "${argv.join(' ')}", ${settings}: not what an image needs`);
  }
  return {
    flags: given.filter((flag) => flag !== heap),
    env: { MALLOC_ARENA_MAX: arenas, MALLOC_MMAP_THRESHOLD_: threshold, NODE_OPTIONS: heap },
  };
}
