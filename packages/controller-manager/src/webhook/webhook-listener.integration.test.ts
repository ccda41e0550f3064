import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { noMetrics, silentLogger, systemClock } from '@outrigger/kube';
import { readClientAuthorities } from '../access/authorities-file.ts';
import { TestAuthority } from '../access/test-authority.suite.ts';
import { startSecureServer, type ClientAuthorities, type SecureServer } from '../serving/secure-server.ts';
import { createWebhookPages } from './webhook-pages.ts';

const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', object: {} },
});
const PATH = '/validate/test';
const HEAD = `POST ${PATH} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
const base = { clock: systemClock, logger: silentLogger, metrics: noMetrics } as const;

function listen(clientAuthorities?: ClientAuthorities): Promise<SecureServer> {
  const app = createWebhookPages({
    ...base,
    webhooks: [{ name: 'test', path: PATH, answer: () => Promise.resolve({}) }],
    subsystem: 'test_webhook',
    redact: (text) => text,
    requireCertificate: clientAuthorities !== undefined,
  });
  return startSecureServer({
    ...base,
    app,
    bindAddress: '127.0.0.1',
    port: 0,
    mostConnections: 256,
    // A third of it is for a handshake: on a busy machine 200 at once take their time.
    requestTimeoutMs: 180_000,
    clientAuthorities,
    forApiServers: true,
  });
}

function ask({ url }: SecureServer, body: string, options: RequestOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const about = { method: 'POST', agent: false, rejectUnauthorized: false, headers, ...options } as const;
    request(`${url}${options.path ?? PATH}`, about, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
      .once('error', reject)
      .end(body);
  });
}

async function slow({ url }: SecureServer, said: string | Buffer): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write(said);
  return socket.resume();
}

for (const [what, said] of [
  ['that have sent no byte of their body', `${HEAD}content-length: 100\r\n\r\n`],
  ['that have sent half of a large body', `${HEAD}content-length: 400000\r\n\r\n${'x'.repeat(200_000)}`],
  ['in chunks that never end', `${HEAD}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(1_000)}`],
] as const) {
  test(`amid 200 reviews ${what}, others are answered`, async () => {
    await using server = await listen();
    const sockets = await Promise.all(Array.from({ length: 200 }, () => slow(server, said)));
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(server, REVIEW)));
      assert.deepEqual([...new Set(answers)], [200]);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
}

test('a review that is refused before it is read is answered, and its connection ended', async () => {
  await using server = await listen();
  const socket = await slow(server, `${HEAD}content-length: 9000000\r\n\r\n${'x'.repeat(100_000)}`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/iu);
  await once(socket, 'close');
});

test('with authorities, only a caller that one of them has signed, and no kubelet, is answered; health is for all', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-webhook-'));
  const stop = new AbortController();
  try {
    const [ours, other] = [await TestAuthority.create('CN=ours'), await TestAuthority.create('CN=other')];
    const path = join(directory, 'ca.crt');
    await writeFile(path, ours.pem);
    const file = { ...base, flag: '--webhook-client-ca-file', path, signal: stop.signal } as const;
    await using server = await listen(await readClientAuthorities(file));
    const shows = async (authority: TestAuthority, subject = 'CN=kube-apiserver'): Promise<RequestOptions> => {
      const { key, pem } = await authority.issue(subject);
      return { cert: pem, key };
    };
    assert.equal(await ask(server, REVIEW, await shows(ours)), 200);
    const kubelet = await shows(ours, 'O=system:nodes,CN=system:node:a');
    assert.equal(await ask(server, REVIEW, kubelet), 401);
    assert.equal(await ask(server, '', { method: 'GET', path: '/healthz', ...kubelet }), 200);
    assert.equal(await ask(server, REVIEW, await shows(other)), 401);
    assert.equal(await ask(server, REVIEW), 401);
    assert.equal(await ask(server, '', { method: 'GET', path: '/healthz' }), 200);
  } finally {
    stop.abort();
    await rm(directory, { recursive: true });
  }
});
