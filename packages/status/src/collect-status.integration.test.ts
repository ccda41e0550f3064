import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newCloudControllerManager } from '@outrigger/cloud-controller-manager';
import {
  createTransport,
  isStatusError,
  isTransportError,
  loadConfig,
  systemClock,
  type Transport,
} from '@outrigger/kube';
import { freePort, hollowNode, startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { TestAuthority } from '../../controller-manager/src/access/test-authority.suite.ts';
import { collectStatus } from './collect-status.ts';
import type { ClusterStatus } from './cluster-status.ts';

/** `isOpen`: whoever is on this machine may read all pages. */
async function withManager(
  isOpen: boolean,
  work: (rig: { readonly server: EmbeddedApiServer; readonly ask: Ask }) => Promise<void>,
  { flags = [], webhooks = [] }: { readonly flags?: readonly string[]; readonly webhooks?: readonly object[] } = {},
): Promise<void> {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-status-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('token').yaml);
  await writeFile(join(directory, 'cloud.json'), JSON.stringify({ instances: [{ name: 'node-1' }] }));
  const cluster = await loadConfig({ kubeconfig });
  const signals = new EventEmitter();
  const port = await freePort();
  let log = '';
  const manager = newCloudControllerManager({ providers: { memory: () => import('@outrigger/provider-memory') } });
  const ended = manager.main(
    [
      '--cloud-provider=memory',
      `--cloud-config=${join(directory, 'cloud.json')}`,
      `--kubeconfig=${kubeconfig}`,
      ...(isOpen
        ? ['--insecure-loopback']
        : [
            '--authentication-skip-lookup',
            `--authentication-kubeconfig=${kubeconfig}`,
            `--authorization-kubeconfig=${kubeconfig}`,
          ]),
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      ...flags,
    ],
    {
      env: {},
      stdout: { write: () => {} },
      stderr: { write: (text) => void (log += text) },
      signals,
      exit: () => assert.fail('must not exit by itself'),
      workingDirectory: directory,
      hostname: 'test',
    },
  );
  const ask: Ask = async () => {
    await using direct = createTransport(cluster, { clock: systemClock, retry: false });
    return await collectStatus({
      transport: withWebhooks(direct, webhooks),
      server: cluster.server,
      leader: {
        url: `https://127.0.0.1:${port}`,
        configOf: (url) => ({ ...cluster, server: url, tls: { insecureSkipVerify: true } }),
      },
      clock: systemClock,
    });
  };
  try {
    await work({ server, ask });
  } catch (error) {
    throw new Error(log, { cause: error });
  } finally {
    signals.emit('SIGTERM', 'SIGTERM');
    await ended;
    await rm(directory, { recursive: true });
  }
}

/** The embedded API server has no webhook configurations. */
function withWebhooks(transport: Transport, items: readonly object[]): Transport {
  const list = JSON.stringify({ kind: 'ValidatingWebhookConfigurationList', metadata: {}, items });
  return {
    send: async (request) => {
      if (!request.path.includes('/validatingwebhookconfigurations')) return await transport.send(request);
      const body = (async function* () {
        yield await Promise.resolve(Buffer.from(list));
      })();
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

type Ask = () => Promise<ClusterStatus>;

async function settled(ask: Ask, holds: (status: ClusterStatus) => boolean): Promise<ClusterStatus> {
  const deadline = systemClock.monotonic() + 120_000;
  for (;;) {
    const status = await ask();
    if (holds(status) || systemClock.monotonic() > deadline) return status;
    await systemClock.sleep(50);
  }
}

test('of a running manager all is known: who leads, what runs, its cloud, nodes and Services', async () => {
  await withManager(true, async ({ ask, server }) => {
    const node = hollowNode({ name: 'node-1' });
    server.store.put({ ...node, metadata: { ...node.metadata, name: 'node-1', uid: 'uid-1' } });
    const status = await settled(
      ask,
      ({ clouds, leader, nodes, process, state }) =>
        state === 'healthy' &&
        'value' in leader &&
        'value' in clouds &&
        clouds.value.some(({ answers }) => answers) &&
        'value' in process &&
        process.value.controllers.length > 3 &&
        'value' in nodes &&
        nodes.value.initialized === 1,
    );
    assert.deepEqual([status.state, status.problems], ['healthy', []]);
    assert.ok('value' in status.leader && 'value' in status.process && 'value' in status.clouds);
    assert.deepEqual([status.leader.value.host, status.leader.value.holds], ['test', true]);
    assert.equal(status.process.value.program, 'outrigger');
    assert.ok(status.process.value.controllers.includes('cloud-node-controller'));
    assert.ok(status.clouds.value.some(({ answers, provider }) => provider === 'memory' && answers));
    assert.deepEqual(status.nodes, { value: { total: 1, initialized: 1, waiting: [] } });
    assert.deepEqual(status.deletions, { value: { held: 0, unproved: 0 } });
  });
});

test('what a webhook of a running manager serves is judged, and that the API server does not trust it', async () => {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const flags = [
    '--feature-gates=CloudControllerManagerWebhook=true',
    '--webhooks=service',
    '--webhook-bind-address=127.0.0.1',
    `--webhook-secure-port=${port}`,
  ];
  const { pem } = await TestAuthority.create('CN=ca', { valid: [0, systemClock.now() + 100 * 86_400_000] });
  const clientConfig = { url: `${url}/validate/services`, caBundle: Buffer.from(pem).toString('base64') };
  await withManager(
    true,
    async ({ ask }) => {
      const { problems, webhooks } = await settled(ask, (status) =>
        status.problems.some(({ section }) => section === 'webhooks'),
      );
      assert.match(
        problems.find(({ section }) => section === 'webhooks')?.message ?? '',
        new RegExp(`^The certificate that ${url} serves for service.outrigger.dev is not signed by an authority`, 'u'),
      );
      assert.ok('value' in webhooks);
      const [{ certificate, replica } = {}] = webhooks.value[0]?.certificates ?? [];
      assert.ok(certificate && 'value' in certificate);
      assert.deepEqual([replica, certificate.value.trusted, certificate.value.named], [url, false, true]);
    },
    { flags, webhooks: [{ metadata: { name: 'w' }, webhooks: [{ name: 'service.outrigger.dev', clientConfig }] }] },
  );
});

test('whoever the manager does not let read its pages is told so, and the rest is shown', async () => {
  await withManager(false, async ({ ask }) => {
    // Before it serves and leads, all of it is unknown.
    const status = await settled(
      ask,
      ({ health, nodes, state }) => state === 'unknown' && 'value' in health && health.value.ready && 'value' in nodes,
    );
    assert.deepEqual([status.state, status.problems], ['unknown', []]);
    assert.deepEqual(status.health, { value: { ready: true, failing: [] } });
    assert.ok('unknown' in status.process && 'unknown' in status.deletions);
    assert.match(status.process.unknown, /^https:\/\/127\.0\.0\.1:\d+: status 401 .*Unauthorized/u);
    assert.ok('value' in status.nodes);
  });
});

test('without any answer, and with credentials that are not known, nothing is told of the cluster', async () => {
  await using server = await startEmbeddedApiServer();
  for (const [config, isExpected] of [
    [{ server: 'https://127.0.0.1:1' }, isTransportError],
    [{ server: server.url, tls: { insecureSkipVerify: true } }, isStatusError],
  ] as const) {
    await using transport = createTransport(config, { clock: systemClock, retry: false });
    await assert.rejects(collectStatus({ transport, server: config.server, clock: systemClock }), isExpected);
  }
});
