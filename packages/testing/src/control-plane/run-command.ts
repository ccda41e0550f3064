import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/** Lines of output that an error carries. */
const TAIL_LINES = 20;

/** Runs a program to its end and gives its standard output. Throws with the tail of its output when it fails. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.signal && { signal: options.signal }),
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    const errors: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => errors.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output.join(''));
      else {
        const end = code === null ? `was ended by ${signal}` : `exited with ${code}`;
        const tail = [...output, ...errors].join('').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
        reject(new Error(`${command} ${args.join(' ')} ${end}\n${tail}`));
      }
    });
  });
}
