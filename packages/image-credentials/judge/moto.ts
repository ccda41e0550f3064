/** moto: AWS as Python's developers test against it. That of the machine, or one that pip puts into the cache. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { freePort } from '@outrigger/testing';

const VERSION = '5.2.5';

/** The path of `moto_server`. Throws where there is neither it nor Python with pip. */
export function motoServer(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).map((folder) => path.join(folder, 'moto_server'));
  const venv = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'outrigger/moto', VERSION);
  const own = path.join(venv, 'bin/moto_server');
  const found = [own, ...folders].find((file) => existsSync(file));
  if (found !== undefined) return found;
  execFileSync('python3', ['-m', 'venv', venv], { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(path.join(venv, 'bin/pip'), ['install', '-q', `moto[server]==${VERSION}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return own;
}

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/** Resolves when the program listens on the port, which is told to it by `args`. Its output goes nowhere. */
export async function startServer(
  command: string,
  args: (port: number) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const port = await freePort();
  const child = spawn(command, [...args(port)], { stdio: 'ignore', env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  const state = { isUp: false };
  for (let attempt = 0; attempt < 1_500 && !state.isUp && child.exitCode === null; attempt++) {
    state.isUp = await listens(port);
    if (!state.isUp) await new Promise((resolve) => void setTimeout(resolve, 200));
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  if (!state.isUp) {
    if (child.exitCode === null) await stop();
    throw new Error(`${command} does not listen on 127.0.0.1:${port}`);
  }
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const end = (isUp: boolean): void => {
      socket.destroy();
      resolve(isUp);
    };
    socket.on('connect', () => end(true)).on('error', () => end(false));
  });
}
