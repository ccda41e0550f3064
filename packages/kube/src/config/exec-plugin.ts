/** Runs a credential plugin, and nothing more: no cache, no policy. */
import { spawn } from 'node:child_process';
import type { Clock } from '../clock.ts';

export interface ExecPluginRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the plugin may ask the person at the terminal. */
  readonly interactive: boolean;
  /** Aborting kills the plugin. */
  readonly signal: AbortSignal;
}

export interface ExecPluginResult {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
}

/** Rejects when the command cannot be started (`code` `ENOENT`) or was aborted. */
export type RunExecPlugin = (run: ExecPluginRun) => Promise<ExecPluginResult>;

/** How long a plugin may take, in milliseconds. It may be waiting for a person with a second factor. */
export const EXEC_PLUGIN_TIMEOUT_MS = 60_000;

/** More than any credential: a plugin that prints for ever must not take all memory. */
const MAX_OUTPUT_BYTES = 1 << 20;

/** Runs the plugin as a child process. Its stderr goes to ours, as with client-go: it may hold secrets, so it is in no error. */
export const spawnExecPlugin: RunExecPlugin = (run) =>
  new Promise((resolve, reject) => {
    const child = spawn(run.command, [...run.args], {
      env: run.env,
      stdio: [run.interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      signal: run.signal,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
      else child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, stdout: Buffer.concat(chunks).toString('utf8') }));
  });

/** `run`, killed after `EXEC_PLUGIN_TIMEOUT_MS`. */
export async function runWithTimeout(
  run: RunExecPlugin,
  plugin: Omit<ExecPluginRun, 'signal'>,
  clock: Clock,
): Promise<ExecPluginResult> {
  const abort = new AbortController();
  const timer = clock.setTimer(
    EXEC_PLUGIN_TIMEOUT_MS,
    () => abort.abort(new DOMException(`no answer within ${EXEC_PLUGIN_TIMEOUT_MS / 1000} s`, 'TimeoutError')),
    { unref: true },
  );
  try {
    return await run({ ...plugin, signal: abort.signal });
  } catch (error) {
    throw abort.signal.aborted ? (abort.signal.reason as Error) : error;
  } finally {
    timer.cancel();
  }
}
