import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
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
    const options = { env: { ...process.env, CONTROL_PLANE: '', ...env }, timeout: 600_000 };
    execFile(process.execPath, [script], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 255), output: stdout + stderr });
    });
  });
}

/** Each act of the story, and what has to be told in it about whom. */
const ACTS: readonly (readonly [title: string, steps: readonly (readonly [about: string, text: string])[]])[] = [
  [
    'Three nodes join',
    ['node-1', 'node-2', 'node-3'].flatMap((name) =>
      [
        'registered by its kubelet',
        'instance found in the cloud',
        'addresses InternalIP',
        'provider ID memory://',
        'Ready, says its kubelet',
        'route 10\\.244\\.\\d\\.0/24 made in the cloud',
        'NetworkUnavailable False \\(RouteCreated\\)',
      ].map((text) => [name, text] as const),
    ),
  ],
  [
    'A Service asks for a load balancer',
    [
      ['web', 'Service of type LoadBalancer created'],
      ['web', 'address [\\d.]+ made'],
      // Made with fewer where the program heard of the Service before it heard that all nodes are ready.
      ['web', 'load balancer 80/TCP to i-0001, i-0002, i-0003 (?:made|changed)'],
      ['web', 'firewall for 80/TCP made'],
      ['web', 'DNS record \\S+ made'],
      ['web', 'status: address [\\d.]+'],
    ],
  ],
  [
    'A machine goes: node-3 is deleted in the cloud',
    [
      ['node-3', 'instance i-0003 deleted'],
      ['node-3', 'Ready Unknown'],
      ['node-3', 'read by its own ID, the cloud says: there is no i-0003'],
      ['node-3', 'Node deleted'],
      ['node-3', 'route 10\\.244\\.2\\.0/24 deleted in the cloud'],
      ['web', 'load balancer 80/TCP to i-0001, i-0002 changed'],
    ],
  ],
];

/** Holds for what was printed now, and for what the README shows. */
function assertStory(output: string): void {
  let from = 0;
  for (const [index, [title, steps]] of ACTS.entries()) {
    const begins = output.indexOf(`\n  ${title}`, from);
    assert.notEqual(begins, -1, `the act "${title}" follows the one before in:\n${output}`);
    const next = ACTS[index + 1]?.[0] ?? 'NODE ';
    const ends = output.indexOf(`\n  ${next}`, begins);
    for (const [about, text] of steps) {
      const told = new RegExp(`\\+\\d+\\.\\d{3} s +${about} .*(?:\\n {21})?.*${text}`, 'u');
      assert.match(output.slice(begins, ends), told);
    }
    from = begins;
  }
  const deleted = output.indexOf('Node deleted');
  assert.ok(output.slice(0, deleted).split('there is no i-0003').length > 2, 'proved twice before it is deleted');
  assert.match(output, /All is as it should be; the cloud was asked \d+ times/u);
  assert.match(output, /ended with exit code 0/u);
  assert.deepEqual(
    output.split('\n').filter((line) => line.length > 100),
    [],
    'fits into 100 columns',
  );
}

test('ONCE=1: nodes join, a Service gets its address, a node goes, each step is told, and all ends with 0', async () => {
  const { code, output } = await run({ ONCE: '1' });
  assert.equal(code, 0, output);
  assertStory(output);
  // The kubeconfig stays, readable by its owner only.
  assert.match(readFileSync(`${directory}/kubeconfig`, 'utf8'), /^apiVersion: v1/u);
  assert.equal(statSync(`${directory}/kubeconfig`).mode & 0o777, 0o600);
  const pid = Number(/pid (\d+)/u.exec(output)?.[1]);
  assert.throws(() => process.kill(pid, 0), /ESRCH/u, 'the program has ended');
});

test('the README shows what the command prints', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const shown = /^\$ make run ONCE=1\n(?<output>.*?)^```/msu.exec(readme)?.groups?.['output'];
  assertStory(`\n${shown ?? ''}`);
});

test('Ctrl-C, after which it ends with 0, leaves nothing running', async () => {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, CONTROL_PLANE: '', ONCE: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    const was = output.includes('Running until Ctrl-C');
    output += chunk;
    if (!was && output.includes('Running until Ctrl-C')) child.kill('SIGINT');
  }
  assert.equal(await ended, 0, output);
  const pid = Number(/pid (\d+)/u.exec(output)?.[1]);
  assert.throws(() => process.kill(pid, 0), /ESRCH/u, 'the program has ended');
});

test('a control plane that there is not is one clear line and 1', async () => {
  const { code, output } = await run({ ONCE: '1', CONTROL_PLANE: 'imaginary' });
  assert.equal(code, 1);
  assert.match(output, /CONTROL_PLANE=imaginary: write real, or nothing/u);
});
