/** The test process's side of the supervisor: starts programs that never outlive this process. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Socket } from 'node:net';
import { extname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SupervisorCommand, SupervisorEvent } from './supervisor.ts';

export interface ProgramOptions {
  /** Unique within the group. The same name may be started again once it has exited. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** File that standard output and standard error are appended to. */
  readonly log: string;
}

/** How a program ended. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that has been started. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Set once it has ended. */
  readonly exit: ProgramExit | undefined;
  signal(signal: NodeJS.Signals): void;
  exited(): Promise<ProgramExit>;
}

/** Programs that end together: on disposal, and whenever this process ends, however it ends. */
export class ProcessGroup implements AsyncDisposable {
  readonly #supervisor: ChildProcessByStdio<Writable, Readable, null>;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #gone = false;

  /** `removeOnEnd`: directories that go when the group goes. */
  constructor(options: { readonly removeOnEnd?: readonly string[] } = {}) {
    // Beside this file, which is TypeScript in the repository and JavaScript where the package is installed.
    const program = fileURLToPath(new URL(`./supervisor${extname(import.meta.url)}`, import.meta.url));
    // Detached: a group of its own, which Ctrl-C in this terminal does not reach and which can be ended as one.
    this.#supervisor = spawn(process.execPath, [program, ...(options.removeOnEnd ?? [])], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      // Coverage and other instrumentation of the test process are not for the supervisor.
      env: { PATH: process.env['PATH'] },
    });
    createInterface({ input: this.#supervisor.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as SupervisorEvent;
      this.#events.emit(event.name, event);
    });
    this.#supervisor.stdin.on('error', () => {});
    this.#supervisor.on('error', () => {});
    this.#supervisor.on('exit', () => {
      this.#gone = true;
      // Should the supervisor itself be killed, its programs go now rather than with this process.
      this.#killGroup();
      this.#events.emit('gone');
    });
    // Who forgets to dispose must not hang: this process may end, and the supervisor notices.
    this.#hold(false);
  }

  /** The supervisor's process id, which is also the id of the process group. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  /** Resolves when the program runs; throws when it cannot be executed. */
  async start(options: ProgramOptions): Promise<Program> {
    if (this.#gone) throw new Error(`${options.name} cannot start: the process group has ended`);
    const { promise: started, resolve, reject } = Promise.withResolvers<Program>();
    const { promise: exited, resolve: setExit } = Promise.withResolvers<ProgramExit>();
    let exit: ProgramExit | undefined;
    const end = (result: ProgramExit): void => {
      exit = result;
      this.#events.off(options.name, listen);
      this.#events.off('gone', onGone);
      setExit(result);
    };
    const listen = (event: SupervisorEvent): void => {
      if (event.type === 'failed') {
        reject(new Error(`${options.name}: cannot run ${options.command}: ${event.message}`));
        end({ code: null, signal: null });
      } else if (event.type === 'exited') end({ code: event.code, signal: event.signal });
      else {
        resolve({
          name: options.name,
          pid: event.pid,
          log: options.log,
          get exit(): ProgramExit | undefined {
            return exit;
          },
          signal: (signal) => {
            if (!exit) this.#send({ type: 'signal', name: options.name, signal });
          },
          exited: () => this.#while(exited),
        });
      }
    };
    const onGone = (): void => {
      reject(new Error(`${options.name}: the process group has ended`));
      end({ code: null, signal: 'SIGKILL' });
    };
    this.#events.on(options.name, listen);
    this.#events.once('gone', onGone);
    const { name, command, args, log } = options;
    this.#send({ type: 'start', name, command, args, log });
    return this.#while(started);
  }

  /** Ends everything with SIGKILL: nothing in a test's data directory is worth a graceful stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#gone) return;
    this.#hold(true);
    const exit = once(this.#supervisor, 'exit');
    this.#supervisor.stdin.end();
    await exit;
  }

  #send(command: SupervisorCommand): void {
    this.#supervisor.stdin.write(`${JSON.stringify(command)}\n`);
  }

  async #while<T>(promise: Promise<T>): Promise<T> {
    this.#waiting++;
    this.#hold(true);
    try {
      return await promise;
    } finally {
      if (--this.#waiting === 0) this.#hold(false);
    }
  }

  #waiting = 0;

  #hold(alive: boolean): void {
    const handles = [this.#supervisor, this.#supervisor.stdin as Socket, this.#supervisor.stdout as Socket];
    for (const handle of handles) {
      if (alive) handle.ref();
      else handle.unref();
    }
  }

  #killGroup(): void {
    const { pid } = this.#supervisor;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // ESRCH: the group is empty, as it should be.
    }
  }
}

/** The last lines of a log, for an error that has to say why a program ended. */
export async function tailOf(log: string, lines = 15): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '(no log)');
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}
