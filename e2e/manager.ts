/** The shipped program as a process that can be killed, frozen and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { askLauncher, type LaunchSettings } from '../scripts/image/launch-settings.ts';

const PROGRAM = fileURLToPath(new URL('../distribution/src/cloud-controller-manager.ts', import.meta.url));
const HASTY_PROGRAM = fileURLToPath(new URL('hasty-program.ts', import.meta.url));

/**
 * Loaded before the program: its stdin is a pipe from this process, which closes however this process ends. So nothing is
 * left behind after a kill -9 either.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume().unref();",
)}`;

const LAUNCHER = fileURLToPath(new URL('../distribution/launcher.sh', import.meta.url));
const AS_IT_IS: LaunchSettings = { flags: [], env: {} };

/** One place in a deployment: at most one process runs in it at a time. */
export class Manager implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #log: string;
  readonly #haste: number;
  readonly #program: string;
  readonly #launch: LaunchSettings;
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> = Promise.resolve(null);

  /**
   * `log`: the file to which the output of every process in this place is appended. `haste`: how many times faster time
   * passes for the program; default: 1, and the program exactly as it is shipped. `bundle`: the file that `buildProgram` has
   * written, which runs as the launcher starts it; default: the sources.
   */
  constructor(args: readonly string[], log: string, haste = 1, bundle?: string) {
    this.#args = args;
    this.#log = log;
    this.#haste = haste;
    this.#program = bundle ?? (haste === 1 ? PROGRAM : HASTY_PROGRAM);
    this.#launch = bundle === undefined ? AS_IT_IS : askLauncher(LAUNCHER);
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Of the process that runs now. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Of the process that was started last: resolves with its exit code when it is gone, `null` after a signal. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  start(): void {
    if (this.#child) throw new Error('the manager runs already');
    const fd = openSync(this.#log, 'a');
    const { env, flags } = this.#launch;
    const child = spawn(process.execPath, [...flags, `--import=${END_WITH_PARENT}`, this.#program, ...this.#args], {
      stdio: ['pipe', fd, fd],
      env: { ...process.env, ...env, HASTE: String(this.#haste) },
    });
    closeSync(fd);
    child.stdin?.on('error', () => {});
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code) => {
        this.#child = undefined;
        resolve(code);
      });
    });
  }

  /** Resolves with the exit code when the process is gone, `null` after a signal. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    this.#child?.kill(signal);
    return this.#ended;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}
