/**
 * The program that owns the processes of a control plane. It leads a process group of its own and reads commands, one
 * JSON line each, from a pipe that only the test process holds. When that pipe closes, by a clean stop or because the
 * test process was killed with -9, it removes the data directory and ends the whole group, itself last.
 *
 *     node supervisor.ts <directory to remove> …
 *
 * Plain Node only: it starts in every control plane, so it loads nothing else.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** What the test process asks for. */
export type SupervisorCommand =
  | {
      readonly type: 'start';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly log: string;
    }
  | { readonly type: 'signal'; readonly name: string; readonly signal: NodeJS.Signals };

/** What it is told. */
export type SupervisorEvent =
  | { readonly type: 'started'; readonly name: string; readonly pid: number }
  | {
      readonly type: 'exited';
      readonly name: string;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  | { readonly type: 'failed'; readonly name: string; readonly message: string };

function supervise(directories: readonly string[]): void {
  const children = new Map<string, ChildProcess>();

  const tell = (event: SupervisorEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

  const start = (command: SupervisorCommand & { type: 'start' }): void => {
    const log = openSync(command.log, 'a');
    const child = spawn(command.command, command.args, { stdio: ['ignore', log, log] });
    closeSync(log);
    children.set(command.name, child);
    child.on('error', (error) => tell({ type: 'failed', name: command.name, message: error.message }));
    child.on('spawn', () => tell({ type: 'started', name: command.name, pid: child.pid! }));
    child.on('exit', (code, signal) => tell({ type: 'exited', name: command.name, code, signal }));
  };

  const endEverything = (): never => {
    for (const child of children.values()) child.kill('SIGKILL');
    for (const directory of directories) {
      // A dying etcd may still write: rmSync tries again on ENOTEMPTY.
      rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
    // Children of children too: all of the group, this process with it.
    process.kill(-process.pid, 'SIGKILL');
    process.exit(0);
  };

  // A SIGTERM or SIGHUP from outside must not leave the programs alone either.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, endEverything);
  // The test process is gone: nobody reads any more.
  process.stdout.on('error', () => {});
  const lines = createInterface({ input: process.stdin });
  lines.on('close', endEverything);
  lines.on('line', (line) => {
    const command = JSON.parse(line) as SupervisorCommand;
    if (command.type === 'start') start(command);
    else children.get(command.name)?.kill(command.signal);
  });
}

if (import.meta.main) supervise(process.argv.slice(2));
