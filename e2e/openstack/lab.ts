/** The OpenStack lab (providers/openstack/lab) as these tests use it. Entry points: `holdLab` for the runner, `openLab` for a test. */
import { spawn } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import { LabCloud } from './lab-cloud.ts';
import { ProcessGroup } from '@outrigger/testing';

const SCRIPT = fileURLToPath(new URL('../../providers/openstack/lab/openstack-lab.sh', import.meta.url));
/** Building it downloads some hundred packages. */
const PATIENCE_MS = 30 * 60_000;

export type LabServiceName = 'keystone' | 'nova-api' | 'neutron' | 'octavia-api' | 'octavia-worker';

/** As openstack-lab.sh finds it. */
export function labDirectory(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return process.env['OUTRIGGER_OPENSTACK_LAB'] || join(cache, 'outrigger', 'openstack');
}

/** Runs one of the script's commands; resolves with what it printed, rejects when its exit code is not 0. */
function labScript(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`openstack-lab.sh ${args.join(' ')} ended with ${code}\n${errors}${output}`));
    });
  });
}

async function isReady(): Promise<boolean> {
  const marked = await access(join(labDirectory(), 'ready')).then(
    () => true,
    () => false,
  );
  return (
    marked &&
    (await labScript('status').then(
      () => true,
      () => false,
    ))
  );
}

/**
 * A lab that ends with what this returns, and with this process, however that ends; one that is up already is left as it is.
 * Resolves when it can be used.
 */
export async function holdLab(tell: (line: string) => void): Promise<AsyncDisposable> {
  if (await isReady()) {
    tell('the lab is up already, and will stay up');
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const directory = labDirectory();
  await mkdir(join(directory, 'logs'), { recursive: true });
  const group = new ProcessGroup();
  const log = join(directory, 'logs', 'run.log');
  const started = systemClock.monotonic();
  const program = await group.start({
    name: 'openstack-lab',
    command: 'env',
    args: [`PATH=${process.env['PATH']}`, `OUTRIGGER_OPENSTACK_LAB=${directory}`, 'bash', SCRIPT, 'run'],
    log,
  });
  try {
    while (!(await isReady())) {
      if (program.exit) throw new Error(`the lab has ended with ${program.exit.code} before it was ready; see ${log}`);
      if (systemClock.monotonic() - started > PATIENCE_MS) throw new Error(`the lab is not ready; see ${log}`);
      await systemClock.sleep(500);
    }
  } catch (error) {
    await group[Symbol.asyncDispose]();
    throw error;
  }
  tell(`the lab is ready after ${Math.round((systemClock.monotonic() - started) / 1_000)} s`);
  return {
    [Symbol.asyncDispose]: async () => {
      await group[Symbol.asyncDispose]();
      await labScript('down');
    },
  };
}

/** What a test asks and does beside the program: as the cluster's user, and as the administrator. */
export interface Lab {
  readonly user: LabCloud;
  readonly admin: LabCloud;
  stop(service: LabServiceName): Promise<void>;
  start(service: LabServiceName): Promise<void>;
}

/** Throws when the lab is not up. */
export async function openLab(): Promise<Lab> {
  if (!(await isReady())) throw new Error('the OpenStack lab is not up: make e2e-openstack, or openstack-lab.sh up');
  return {
    user: new LabCloud('k8s'),
    admin: new LabCloud('admin'),
    stop: async (service) => void (await labScript('stop', service)),
    start: async (service) => void (await labScript('start', service)),
  };
}
