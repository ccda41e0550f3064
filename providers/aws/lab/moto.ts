/** moto, with which Python's developers test against AWS: EC2 and both ELB APIs on 127.0.0.1, by people who know nothing of this provider. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
/** moto tells it to nobody which port it got. */
const LISTENING = /Running on http:\/\/127\.0\.0\.1:(?<port>\d+)/u;
/** So that nothing is left behind however this process ends: its end closes moto's stdin. */
const SERVER = `
import os, sys, threading
def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)
threading.Thread(target=end_with_parent, daemon=True).start()
from moto.server import main
sys.argv = ['moto_server', '-H', '127.0.0.1', '-p', '0']
main()
`;

/** A Python that has moto as `requirements.txt` pins it, each package by its hash: installed once, by pip, in 15 s. Rejects where there is no Python. */
async function buildMoto(): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex')
    .slice(0, 12);
  const cache = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'outrigger/aws-moto');
  const python = path.join(cache, digest, 'bin/python');
  if (existsSync(python)) return python;
  process.stderr.write(`moto is being installed in ${cache}\n`);
  const partial = path.join(cache, `${digest}.${process.pid}.partial`);
  const run = promisify(execFile);
  await mkdir(cache, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', partial]);
    const pinned = ['--require-hashes', '--only-binary=:all:', '-r', REQUIREMENTS];
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await run(path.join(partial, 'bin/python'), ['-m', 'pip', 'install', ...quiet, ...pinned]);
    // Only its Python is run, which finds its packages beside itself wherever it is.
    await rename(partial, path.join(cache, digest));
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(python)) throw error;
  }
  return python;
}

/** Why there can be no moto here; `undefined`: there can be. */
export async function whyNoMoto(): Promise<string | undefined> {
  try {
    await buildMoto();
    return undefined;
  } catch (error) {
    const { code, message, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT') return 'there is no python3 to install moto with';
    return `moto could not be installed: ${stderr.trim().split('\n').at(-1) || message}`;
  }
}

export class Moto implements AsyncDisposable {
  /** Of every API. */
  readonly url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.url = url;
    this.#end = end;
  }

  /** An empty account. It ends with this process, however that ends. */
  static async start(): Promise<Moto> {
    const python = await buildMoto();
    // It is never to find anything of a real account.
    const env = { PATH: process.env['PATH'], AWS_EC2_METADATA_DISABLED: 'true', PYTHONUNBUFFERED: '1' };
    const child = spawn(python, ['-c', SERVER], { stdio: ['pipe', 'ignore', 'pipe'], env });
    const ended = once(child, 'exit');
    let told = '';
    const port = await Promise.race([
      (async () => {
        for await (const line of createInterface({ input: child.stderr })) {
          told = `${told}${line}\n`.slice(-2_000);
          const found = LISTENING.exec(line)?.groups?.['port'];
          if (found !== undefined) return found;
        }
        return undefined;
      })(),
      ended.then(() => undefined),
    ]);
    if (port === undefined) throw new Error(`moto ended before it listened: ${told}`);
    child.stderr.resume();
    return new Moto(`http://127.0.0.1:${port}`, async () => {
      child.stdin.end();
      await ended;
    });
  }

  /** To an empty account. */
  async reset(): Promise<void> {
    const { ok, status } = await fetch(`${this.url}/moto-api/reset`, { method: 'POST' });
    if (!ok) throw new Error(`moto answered ${status} when it was to forget everything`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
