/** The real program, as a child process with a log of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@outrigger/testing';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** A clean stop takes milliseconds; one that takes longer than this has failed. */
const STOP_LIMIT_MS = 15_000;

/**
 * Loaded before the program: its stdin is a pipe from this command, which closes however this command ends. So nothing is
 * left behind after a kill -9 either.
 */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume().unref();",
)}`;

export interface ProgramOptions {
  readonly kubeconfig: string;
  /** Default: `memory`. */
  readonly cloudProvider?: string;
  /** Empty for none. */
  readonly cloudConfig: string;
  readonly log: string;
  /** Beside those that lead to the cluster and to the cloud. */
  readonly flags: readonly string[];
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Where it serves health and metrics. */
  readonly url: string;
  /** Resolves when it has ended, with the exit code (255 after a signal). */
  readonly ended: Promise<number>;
  /** SIGTERM, and after a while SIGKILL. Resolves with the exit code. */
  stop(): Promise<number>;
  /** The last lines of its log. */
  lastLines(count: number): readonly string[];
}

/** Starts the program from its sources. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { cloudConfig, cloudProvider = 'memory', flags, kubeconfig, log } = options;
  const port = await freePort();
  const fd = openSync(log, 'w');
  const child = spawn(
    process.execPath,
    [
      `--import=${END_WITH_PARENT}`,
      join(root, 'distribution/src/cloud-controller-manager.ts'),
      `--cloud-provider=${cloudProvider}`,
      ...(cloudConfig === '' ? [] : [`--cloud-config=${cloudConfig}`]),
      `--kubeconfig=${kubeconfig}`,
      '--cluster-name=make-run',
      '--bind-address=127.0.0.1',
      // So that outrigger explain can be tried out.
      '--insecure-loopback',
      `--secure-port=${port}`,
      '--v=2',
      ...flags,
    ],
    // A group of its own: Ctrl-C is for this command, which then stops the program in order.
    { cwd: root, detached: true, stdio: ['pipe', fd, fd] },
  );
  closeSync(fd);
  const ended = endOf(child);
  if (child.pid === undefined) throw new Error('the program could not be started');
  // Whatever ends this command must not leave the program behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<number> => {
    child.kill('SIGTERM');
    const timer = setTimeout(kill, STOP_LIMIT_MS);
    const code = await ended;
    clearTimeout(timer);
    process.off('exit', kill);
    return code;
  };
  return {
    pid: child.pid,
    url: `https://127.0.0.1:${port}`,
    ended,
    stop,
    lastLines: (count) => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-count),
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(255));
    child.once('exit', (code) => resolve(code ?? 255));
  });
}
