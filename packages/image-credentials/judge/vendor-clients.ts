/** Google's and Azure's own clients, in Python: what they ask a cloud for, ours has to ask for. pip puts them into the cache. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = [
  'azure-containerregistry==1.2.0',
  'azure-identity==1.27.0',
  'google-auth==2.62.2',
  'requests==2.34.2',
] as const;
const SCRIPT = fileURLToPath(new URL('vendor-clients.py', import.meta.url));

/** The path of a Python that has them. Throws where there is none with venv. */
export function vendorClients(): string {
  const cache = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'outrigger/vendor-clients');
  const venv = path.join(cache, PACKAGES.map((one) => one.replace(/^.*==/u, '')).join('-'));
  const [python, isDone] = [path.join(venv, 'bin/python'), path.join(venv, 'bin/installed')];
  if (existsSync(isDone)) return python;
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  execFileSync('python3', ['-m', 'venv', '--clear', venv], { stdio: [...stdio] });
  execFileSync(path.join(venv, 'bin/pip'), ['install', '-q', ...PACKAGES], { stdio: [...stdio] });
  execFileSync('touch', [isDone]);
  return python;
}

export type VendorStep = 'gcr-node' | 'gcr-pod' | 'acr-node' | 'acr-exchange';

/** Does one step of `vendor-clients.py`; resolves with the token that it was given, rejects with what it printed. */
export function askVendorClient(
  step: VendorStep,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const surroundings = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env };
  return new Promise((resolve, reject) => {
    execFile(vendorClients(), [SCRIPT, step, ...args], { env: surroundings }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${step}: ${stderr}`));
      else resolve(JSON.parse(stdout) as string);
    });
  });
}
