import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('run.ts', import.meta.url));
const directory = fileURLToPath(new URL('../.outrigger', import.meta.url));

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(env: Readonly<Record<string, string>>): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, CONTROL_PLANE: '', ...env }, timeout: 120_000 };
    execFile(process.execPath, [script], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 255), output: stdout + stderr });
    });
  });
}

test('ONCE=1: three nodes are initialised by the real program, each step is told, and all ends with 0', async () => {
  const { code, output } = await run({ ONCE: '1' });
  assert.equal(code, 0, output);
  for (const name of ['node-1', 'node-2', 'node-3']) {
    for (const step of ['registered by its kubelet', 'instance found', 'addresses InternalIP', 'taint gone', 'Ready']) {
      assert.match(output, new RegExp(`\\+\\d+\\.\\d{3} s +${name} .*${step}`, 'u'));
    }
  }
  assert.match(output, /All 3 nodes are initialised and Ready/u);
  assert.match(output, /ended with exit code 0/u);
  // The kubeconfig stays, readable by its owner only.
  assert.match(readFileSync(`${directory}/kubeconfig`, 'utf8'), /^apiVersion: v1/u);
  assert.equal(statSync(`${directory}/kubeconfig`).mode & 0o777, 0o600);
  const pid = Number(/pid (\d+)/u.exec(output)?.[1]);
  assert.throws(() => process.kill(pid, 0), /ESRCH/u, 'the program has ended');
});

test('a control plane that there is not is one clear line and 1', async () => {
  const { code, output } = await run({ ONCE: '1', CONTROL_PLANE: 'imaginary' });
  assert.equal(code, 1);
  assert.match(output, /CONTROL_PLANE=imaginary: write real, or nothing/u);
});
