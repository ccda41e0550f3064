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

/** Of what a subject that ended by itself said last. Its log goes with the control plane's directory. */
const LAST_WORDS_CHARACTERS = 1_000;

/** After which a subject that was asked to end is killed: cloud-provider-vsphere v1.28.0 takes the signal and goes on. */
const END_WITHIN_MS = 15_000;

/** A subject that did not come to the end of what was asked of it: why, and on the lines below what it said last. */
export class Unfinished extends Error {}

export async function runSubject<T>(
  subject: Subject,
  surroundings: Surroundings,
  limitSeconds: number,
  body: (running: RunningSubject) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new Unfinished(`${subject.name}: not done within ${limitSeconds} s`));
  }, limitSeconds * 1000);
  const [program, ...args] = subject.command(surroundings);
  const file = join(surroundings.controlPlane.directory, `${subject.name.replaceAll(' ', '-')}.log`);
  const log = createWriteStream(file, { flags: 'a' });
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let lastWords = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log.write(text);
      lastWords = (lastWords + text).slice(-LAST_WORDS_CHARACTERS);
    });
  }
  const exited = new Promise<void>((resolve) => {
    child.once('error', (error) => stop.abort(error));
    child.once('close', (code) => {
      stop.abort(new Unfinished(`${subject.name} ended with code ${code}\n${lastWords}`));
      resolve();
    });
  });
  try {
    return await body({ pid: child.pid ?? 0, startedAt, signal: stop.signal });
  } finally {
    clearTimeout(timer);
    child.kill('SIGTERM');
    const patience = setTimeout(() => {
      console.log(`  ${subject.name}: did not end within ${END_WITHIN_MS / 1_000} s of SIGTERM, and was killed`);
      child.kill('SIGKILL');
    }, END_WITHIN_MS);
    await exited;
    clearTimeout(patience);
    log.end();
  }
}
