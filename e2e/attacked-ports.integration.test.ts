/** The bundled program, whose ports somebody without credentials attacks: what its memory comes to, and who else is served. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { systemClock } from '@outrigger/kube';
import { freePort, startEmbeddedApiServer } from '@outrigger/testing';
import { clientHello } from '../packages/controller-manager/src/serving/client-hello.suite.ts';
import { buildProgram } from '../scripts/build-program.ts';
import { PeakMemory } from './peak-memory.ts';

/** Resident, at any moment. Without an attack it is half of that. */
const MOST_MIB = 200;
const PATH = '/validate/services';
const HEAD = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
};
const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', object: SERVICE },
});
const LONG = 6.5 * 1024 * 1024 - 1_000;
/** What is as long as a review may be, and takes many times as much once it is parsed. */
const LARGE: Readonly<Record<string, string>> = {
  'empty arrays': `${REVIEW.slice(0, -1)},"x":[${'[],'.repeat(LONG / 3 - 200)}0]}`,
  'arrays in arrays': `{"a":`.repeat(LONG / 5),
  'objects of many shapes': `[${Array.from({ length: LONG / 16 }, (_, i) => `{"${i}":1}`).join()}]`,
  'one string': `${REVIEW.slice(0, -1)},"x":"${'é'.repeat(LONG / 2 - 200)}"}`,
};

interface Attacked {
  /** What it has said last, and how it ended if it has: some seconds after who asks it is answered no more, where a Lease was lost. */
  readonly lastWords: () => Promise<string>;
  readonly memory: PeakMemory;
  readonly port: number;
  readonly webhookPort: number;
}

const owned = new AsyncDisposableStack();
let program: Attacked;

before(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-attack-'));
  owned.defer(() => rm(directory, { recursive: true }));
  const server = owned.use(await startEmbeddedApiServer());
  const { launcher } = await buildProgram(directory, false);
  await symlink(process.execPath, join(directory, 'bin/node'));
  await writeFile(join(directory, 'kubeconfig'), server.kubeconfig().yaml);
  const [port, webhookPort] = [await freePort(), await freePort()];
  const flags = [
    '--cloud-provider=memory',
    '--kubeconfig=kubeconfig',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--feature-gates=CloudControllerManagerWebhook=true',
    '--webhooks=service',
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${webhookPort}`,
    // Memory is what is judged. With a thirtieth of a processor, turns of the event loop take seconds, and three of them the Lease: then it ends, and rightly.
    '--leader-elect-lease-duration=600s',
    '--leader-elect-renew-deadline=500s',
  ];
  // To measure the coverage of this test, V8 keeps more in memory: that is not the program's.
  const { NODE_V8_COVERAGE: _, ...env } = process.env;
  const child = spawn(launcher, flags, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.once('exit', (code, signal) => (log += `it ended with ${code ?? signal}\n`));
  owned.defer(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const closed = once(child, 'close');
  const lastWords = async (): Promise<string> => {
    await Promise.race([closed, systemClock.sleep(10_000)]);
    return log.split('\n').slice(-10).join('\n');
  };
  program = { lastWords, memory: new PeakMemory(child.pid ?? 0), port, webhookPort };
  while ((await ask(webhookPort, PATH, REVIEW).catch(() => 0)) !== 200) {
    assert.equal(child.exitCode ?? child.signalCode, null, log);
    await systemClock.sleep(50);
  }
});

after(() => owned.disposeAsync());

/** The status. */
function ask(port: number, path: string, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      headers,
      agent: false,
      rejectUnauthorized: false,
    } as const;
    request(options, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
      .once('error', reject)
      .end(body);
  });
}

/** Resolves when all of it is sent, or nobody takes it any more. */
async function say(port: number, said: Buffer): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.once('secureConnect', () => socket.resume().write(said, () => resolve()));
  });
  return socket;
}

/** Opens so many connections and keeps them; others are served meanwhile, and memory stays in its bound. */
async function attack(count: number, begin: () => Promise<Socket>): Promise<void> {
  const sockets: Socket[] = [];
  try {
    program.memory.take();
    // Some at a time: it is the sum that matters, and not how fast this machine makes them.
    for (let i = 0; i < count; i += 20) {
      const more = Array.from({ length: Math.min(20, count - i) }, begin);
      sockets.push(...(await Promise.all(more)));
    }
    assert.equal(await ask(program.port, '/livez'), 200);
    assert.equal(await ask(program.webhookPort, PATH, REVIEW), 200);
  } catch (cause) {
    throw new Error(`nobody else is served: ${await program.lastWords()}`, { cause });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const peak = program.memory.take();
  assert.ok(peak <= MOST_MIB, `${Math.round(peak)} MiB`);
}

const options = {
  skip: process.platform === 'linux' ? false : 'reads the memory of a process from Linux',
  // 400 connections took 70 s beside eight programs that took all they could.
  timeout: 900_000,
};
const half = Buffer.from(`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(15_000)}`);

test('400 half requests to the secure port', options, () => attack(400, () => say(program.port, half)));

/** Resolves when a handshake is begun, with which nobody goes on. */
async function beginHandshake(port: number, hello: Buffer): Promise<Socket> {
  const socket = connectPlain({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  await once(socket, 'connect').catch(() => {});
  socket.write(hello);
  return socket;
}

for (const port of ['port', 'webhookPort'] as const) {
  test(
    `1,000 handshakes with the ${port === 'port' ? 'secure' : 'webhook'} port that nobody goes on with`,
    options,
    async () => {
      const hello = await clientHello();
      await attack(1_000, () => beginHandshake(program[port], hello));
    },
  );
}

test('200 requests to the secure port that have sent a body of chunks of one byte', options, () => {
  const head = 'PUT /debug/flags/v HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
  const said = Buffer.from(head + '1\r\nx\r\n'.repeat(2_000));
  return attack(200, () => say(program.port, said));
});

test('30 large reviews that never end', options, () => {
  const chunk = `${LONG.toString(16)}\r\n${'x'.repeat(LONG)}`;
  const said = Buffer.from(`${HEAD}transfer-encoding: chunked\r\n\r\n${chunk}`);
  return attack(30, () => say(program.webhookPort, said));
});

test('400 reviews that have sent a body of chunks of one byte', options, () => {
  const said = Buffer.from(`${HEAD}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(2_000)}`);
  return attack(400, () => say(program.webhookPort, said));
});

for (const [what, body] of Object.entries(LARGE)) {
  test(`12 large reviews of ${what}`, options, () => {
    const bytes = Buffer.from(body);
    const head = Buffer.from(`${HEAD}content-length: ${bytes.length}\r\n\r\n`);
    const said = Buffer.concat([head, bytes]);
    return attack(12, () => say(program.webhookPort, said));
  });
}
