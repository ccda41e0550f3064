import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@outrigger/kube';
import type { RunningFakeCloud } from '@outrigger/provider-kit/fake';
import {
  addServer,
  configOf,
  startFake,
} from '../packages/create-provider/template/cloud-controller-manager/fake/fake-cloud.ts';

const script = fileURLToPath(new URL('run-own-cloud.ts', import.meta.url));
const provider = fileURLToPath(
  new URL('../packages/create-provider/template/cloud-controller-manager/src/provider.ts', import.meta.url),
);
const directory = mkdtempSync(path.join(tmpdir(), 'outrigger-own-cloud-'));
const config = path.join(directory, 'cloud.yaml');
after(() => rmSync(directory, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** `onOutput` is told all that was printed so far. */
async function run(
  nodes: string,
  onOutput: (output: string, interrupt: () => void, closeTerminal: () => void) => void = () => {},
): Promise<Outcome> {
  const env = { ...process.env, CONTROL_PLANE: '', CLOUD_PROVIDER: provider, CLOUD_CONFIG: config, NODES: nodes };
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  try {
    for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      output += chunk;
      onOutput(
        output,
        () => void child.kill('SIGINT'),
        () => void child.stdout.destroy(),
      );
      if (child.stdout.destroyed) break;
    }
  } catch (error) {
    if (!child.stdout.destroyed) throw error;
  }
  return { code: await ended, output };
}

async function cloudWith(...names: readonly string[]): Promise<RunningFakeCloud> {
  const cloud = await startFake(systemClock);
  for (const name of names) addServer(cloud, name);
  writeFileSync(config, configOf(cloud.endpoint).text);
  return cloud;
}

function countsOf(cloud: RunningFakeCloud): readonly number[] {
  return ['servers', 'routes', 'addresses', 'load-balancers', 'firewalls'].map((name) => cloud.resource(name).size);
}

test("with the author's cloud, nodes join, a Service gets its address, and all is taken back", async () => {
  await using cloud = await cloudWith('node-1', 'node-2');
  let seen: readonly number[] = [];
  const { code, output } = await run('node-1,node-2', (text) => {
    if (seen.length === 0 && text.includes('All of it is taken back')) seen = countsOf(cloud);
  });
  assert.equal(code, 0, output);
  assert.deepEqual(seen, [2, 2, 1, 1, 1], output);
  assert.match(output, /node-2 .*provider ID my-cloud:\/\/srv-node-2/u);
  assert.match(output, /web .*status: address 203\.0\.113\.\d+/u);
  assert.match(output, /All came, and all is gone again/u);
  assert.deepEqual(countsOf(cloud), [2, 0, 0, 0, 0]);
});

test('Ctrl-C amid it takes back what was made', async () => {
  await using cloud = await cloudWith('node-1');
  let isInterrupted = false;
  const { code, output } = await run('node-1', (text, interrupt) => {
    if (isInterrupted || !text.includes('Service of type LoadBalancer created')) return;
    isInterrupted = true;
    interrupt();
  });
  assert.equal(code, 1, output);
  assert.deepEqual(countsOf(cloud), [1, 0, 0, 0, 0], output);
});

test('when nobody reads its output any more, it takes back what was made', async () => {
  await using cloud = await cloudWith('node-1');
  let close: (() => void) | undefined;
  let isMade = false;
  // While the cloud has still to answer: all that comes after it is still to be printed.
  const when = ({ method, path: asked }: { readonly method: string; readonly path: string }): boolean => {
    if (method === 'POST' && asked.includes('load-balancers')) {
      isMade = true;
      close?.();
    }
    return false;
  };
  cloud.faults.set({ when });
  const { code, output } = await run('node-1', (_text, _interrupt, closeTerminal) => {
    close = closeTerminal;
    if (isMade) closeTerminal();
  });
  assert.ok(isMade);
  assert.equal(code, 1, output);
  assert.deepEqual(countsOf(cloud), [1, 0, 0, 0, 0], output);
});

test('no names of machines, and a machine that the cloud does not know, are one line and 1', async () => {
  await using _cloud = await cloudWith('node-1');
  const unset = await run('');
  assert.equal(unset.code, 1);
  assert.match(unset.output, /^NODES is not set: name machines of your cloud/mu);
  const unknown = await run('node-1, node-9,node-1');
  assert.equal(unknown.code, 1);
  assert.match(unknown.output, /^my-cloud knows no machine of the name node-9: name others in NODES$/mu);
});
