/** Starts a subject, hands its process to the measurement, and stops it, whatever happens. */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Subject, Surroundings } from './subjects.ts';

export interface RunningSubject {
  readonly pid: number;
  /** `performance.now()` of the start. */
  readonly startedAt: number;
  /** Aborts when the process ends by itself, or when `limitSeconds` are over. */
  readonly signal: AbortSignal;
}

export async function runSubject<T>(
  subject: Subject,
  surroundings: Surroundings,
  limitSeconds: number,
  body: (running: RunningSubject) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new Error(`${subject.name}: not done within ${limitSeconds} s`));
  }, limitSeconds * 1000);
  const [program, ...args] = subject.command(surroundings);
  const file = join(surroundings.controlPlane.directory, `${subject.name.replaceAll(' ', '-')}.log`);
  const log = createWriteStream(file, { flags: 'a' });
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => stop.abort(error));
    child.once('exit', (code) => {
      stop.abort(new Error(`${subject.name} ended with code ${code}; see ${file}`));
      resolve();
    });
  });
  try {
    return await body({ pid: child.pid ?? 0, startedAt, signal: stop.signal });
  } finally {
    clearTimeout(timer);
    child.kill('SIGTERM');
    await exited;
    log.end();
  }
}
