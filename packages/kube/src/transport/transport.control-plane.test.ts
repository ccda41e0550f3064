/** The transport against a real kube-apiserver: what only that does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { loadConfig } from '../config/load-config.ts';
import type { TransportRequest, TransportResponse } from '../transport.ts';
import { createTransport, type CreateTransportOptions } from './create-transport.ts';
import { CONTROLLER_SUFFIX, userAgent } from './user-agent.ts';

const WATCH: TransportRequest = { method: 'GET', path: '/api/v1/namespaces?watch=1', traffic: 'watch', timeoutMs: 0 };

async function textOf(answer: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function open(path: string, options: CreateTransportOptions = {}) {
  return createTransport(await loadConfig({ kubeconfig: path }), options);
}

test('a real API server: certificates, tokens, freeze, restart', { timeout: 300_000 }, async (t) => {
  // Each request may be answered with GOAWAY: what long connections of a highly available control plane get.
  const controlPlane = await controlPlaneOrSkip(t, { flags: { 'kube-apiserver': { 'goaway-chance': '0.02' } } });
  if (!controlPlane) return;
  const agent = userAgent({ suffix: CONTROLLER_SUFFIX });
  await using transport = await open(controlPlane.kubeconfig.path, { userAgent: agent });

  // Client certificate; 500 requests, 8 at a time, none lost to the connections that go away.
  let left = 500;
  const statuses = new Set<number>();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left-- > 0) {
        const answer = await transport.send({
          method: 'POST',
          path: '/api/v1/namespaces/default/configmaps?dryRun=All',
          headers: { 'content-type': 'application/json' },
          body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}}',
        });
        statuses.add(answer.status);
        await textOf(answer);
      }
    }),
  );
  assert.deepEqual([...statuses], [201]);
  const audited = await controlPlane.auditLog.requests((entry) => entry.verb === 'create' && entry.userAgent === agent);
  assert.equal(audited.length, 500, 'each once, under the name of this program');

  // Token.
  const withToken = await controlPlane.kubeconfigFor({
    user: 'admin',
    groups: ['system:masters'],
    credential: 'token',
  });
  await using byToken = await open(withToken.path);
  assert.equal((await byToken.send({ method: 'GET', path: '/api/v1/nodes' })).status, 200);

  // Freeze.
  await using quick = await open(controlPlane.kubeconfig.path, { pingIntervalMs: 300, pingTimeoutMs: 15_000 });
  const watch = await quick.send(WATCH);
  controlPlane.freezeApiServer();
  await assert.rejects(textOf(watch), { code: 'peer-unresponsive' });
  controlPlane.thawApiServer();
  // One that leaves a server its time to wake up, and to end.
  await using patient = await open(controlPlane.kubeconfig.path);
  const again = await patient.send(WATCH);

  // Restart: the watch ends or breaks, never hangs; requests work again afterwards.
  const ended = textOf(again).then(
    () => 'ended',
    (error: { code?: string }) => error.code,
  );
  await controlPlane.restartApiServer();
  assert.match(String(await ended), /^(ended|connection-reset)$/);
  for (let attempt = 0; ; attempt++) {
    const status = await patient.send({ method: 'GET', path: '/readyz' }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) break;
    assert.ok(attempt < 600, 'ready again');
    await sleep(200);
  }
});
