/** The Go program of `upstream/`. Built each time: Go itself knows when nothing has changed. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where it is built to. */
export const UPSTREAM: string = fileURLToPath(new URL('../.outrigger/bench/upstream-ccm', import.meta.url));

/** Gives back where it is. Throws when the Go toolchain is missing (`ENOENT`) or the build fails. */
export function buildUpstream(): string {
  mkdirSync(path.dirname(UPSTREAM), { recursive: true });
  // Beside it, from what is there: tests build it at the same time, and Go may write into a program that one of them is about to start.
  const beside = `${UPSTREAM}.${process.pid}.partial`;
  try {
    if (existsSync(UPSTREAM)) copyFileSync(UPSTREAM, beside);
    execFileSync('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', beside, '.'], {
      cwd: fileURLToPath(new URL('upstream', import.meta.url)),
      env: { ...process.env, CGO_ENABLED: '0' },
      stdio: 'inherit',
    });
    renameSync(beside, UPSTREAM);
    return UPSTREAM;
  } finally {
    rmSync(beside, { force: true });
  }
}
