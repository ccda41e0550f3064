import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createWebhookPages, startSecureServer } from '@outrigger/controller-manager';
import { noMetrics, silentLogger, systemClock, type Pod, type Service, type Transport } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { TestAuthority } from '../../controller-manager/src/access/test-authority.suite.ts';
import type { ServedCertificate } from './cluster-facts.ts';
import type { ReadCluster } from './read-cluster.ts';
import { readCertificates } from './read-certificates.ts';
import type { LeaderAccess } from './read-leader.ts';

const NAME = 'ccm.kube-system.svc';
const DIRECT: LeaderAccess = { configOf: (server) => ({ server }) };

const service: Service = {
  metadata: { namespace: 'kube-system', name: 'ccm' },
  spec: { selector: { app: 'ccm' }, ports: [{ port: 443, targetPort: 10_260 }] },
};

interface PodOf {
  readonly app?: string;
  readonly namespace?: string;
  readonly phase?: 'Failed' | 'Running';
}

function pod(name: string, { app = 'ccm', namespace = 'kube-system', phase = 'Running' }: PodOf = {}): Pod {
  return { metadata: { namespace, name, labels: { app, tier: 'x' } }, status: { phase, podIP: '127.0.0.1' } };
}

function cluster(facts: Partial<ReadCluster> = {}, clientConfig: object = { service: service.metadata }): ReadCluster {
  return {
    lease: { value: undefined },
    workloads: { value: [] },
    nodes: { value: [] },
    services: { value: [] },
    events: { value: [] },
    webhooks: {
      value: [
        {
          webhooks: [
            { name: 'a', clientConfig },
            { name: 'b', clientConfig },
          ],
        },
      ],
    },
    webhookServices: { value: [service] },
    pods: { value: [pod('a')] },
    ...facts,
  };
}

/** An API server that proxies, and what it was asked. */
function proxy(answer: (path: string) => readonly [status: number, text: string], asked: string[] = []): Transport {
  return {
    send: ({ path }) => {
      asked.push(path);
      const [status, text] = answer(path);
      const body = (async function* () {
        yield await Promise.resolve(Buffer.from(text));
      })();
      return Promise.resolve({ status, headers: {}, body });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const refuses = proxy(() => [403, JSON.stringify({ message: 'cannot get resource "pods/proxy"' })]);

async function read(
  facts: ReadCluster,
  transport: Transport,
  access: LeaderAccess = {},
): Promise<readonly ServedCertificate[] | undefined> {
  const options = { access, call: { timeoutMs: 60_000 }, clock: systemClock, cluster: facts, transport };
  return (await readCertificates(options)).get(NAME);
}

test('each running Pod behind the Service is asked once, on the port that is called', async () => {
  const asked: string[] = [];
  const pods = [pod('a'), pod('b'), pod('old', { phase: 'Failed' }), pod('c', { app: 'other' })];
  const away = pod('d', { namespace: 'default' });
  const served = await read(
    cluster({ pods: { value: [...pods, away] } }),
    proxy(
      (path) => (path.includes(':b:') ? [503, 'error trying to reach service: connection refused'] : [200, 'PEM']),
      asked,
    ),
  );
  const path = (name: string): string =>
    `/api/v1/namespaces/kube-system/pods/https:${name}:10260/proxy/serving-certificate/${NAME}`;
  assert.deepEqual(asked.toSorted(), [path('a'), path('b')]);
  assert.deepEqual(served, [
    { replica: 'Pod kube-system/a', pem: { value: 'PEM' } },
    {
      replica: 'Pod kube-system/b',
      pem: {
        unknown:
          'the proxy of the API server to Pod kube-system/b: status 503 (error trying to reach service: connection refused)',
      },
    },
  ]);
});

test("a port of the Service that leads to a container's port by its name is asked on that one, in each Pod", async () => {
  const asked: string[] = [];
  const named: Service = { ...service, spec: { ...service.spec, ports: [{ port: 443, targetPort: 'webhook' }] } };
  const pods = ([9_443, 10_260] as const).map((containerPort): Pod => ({
    ...pod(`on-${containerPort}`),
    spec: {
      containers: [
        { name: 'other', ports: [{ name: 'metrics', containerPort: 1 }] },
        { name: 'ccm', ports: [{ name: 'webhook', containerPort }] },
      ],
    },
  }));
  await read(
    cluster({ webhookServices: { value: [named] }, pods: { value: pods } }),
    proxy(() => [200, 'PEM'], asked),
  );
  const ports = asked.map((path) => /https:(.*)\/proxy/.exec(path)?.[1]);
  assert.deepEqual(new Set(ports), new Set(['on-9443:9443', 'on-10260:10260']));
});

test('where no replica is known, or it does not tell, the reason is', async () => {
  const unknown = async (facts: Partial<ReadCluster>, transport = refuses): Promise<string> => {
    const [one, ...others] = (await read(cluster(facts), transport)) ?? [];
    assert.ok(one && others.length === 0 && 'unknown' in one.pem);
    return `${one.replica}: ${one.pem.unknown}`;
  };
  assert.equal(await unknown({ webhookServices: { value: [] } }), ': there is no Service kube-system/ccm');
  // Whichever manager is meant: the API server calls the Service.
  for (const access of [{}, { ...DIRECT, url: 'https://127.0.0.1:10258' }]) {
    const missing = await read(cluster({ webhookServices: { value: [] } }), refuses, access);
    assert.deepEqual(
      missing?.map(({ isMissing }) => isMissing),
      [true],
    );
  }
  assert.equal(await unknown({ webhookServices: { unknown: 'forbidden' } }), ': forbidden');
  assert.equal(await unknown({ pods: { unknown: 'forbidden' } }), ': forbidden');
  assert.equal(
    await unknown({ pods: { value: [] } }),
    ': the Service kube-system/ccm selects no Pod of the manager that runs',
  );
  assert.match(
    await unknown({}),
    /^Pod kube-system\/a: .*; grant the user get on pods\/proxy in the namespace kube-system$/u,
  );
  assert.equal(
    await unknown(
      {},
      proxy(() => [404, 'no such page']),
    ),
    'Pod kube-system/a: Pod kube-system/a does not tell which certificate it serves: status 404',
  );
});

test('what is served is read from the port itself, after a rotation too: by Pod, by --server and by URL', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-status-'));
  const tls = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  const clock = new FakeClock();
  const base = { clock, logger: silentLogger, metrics: noMetrics };
  try {
    const authority = await TestAuthority.create('CN=ca');
    const [first, second] = [await authority.issue('CN=first'), await authority.issue('CN=second')];
    const put = async ({ key, pem }: TestAuthority): Promise<void> => {
      await writeFile(tls.certFile, pem + authority.pem);
      await writeFile(tls.keyFile, key);
    };
    await put(first);
    const certificateFor = (name: string): string => server.certificateFor(name);
    const app = createWebhookPages({ ...base, webhooks: [], subsystem: 'x', redact: (text) => text, certificateFor });
    await using server = await startSecureServer({ ...base, app, bindAddress: '127.0.0.1', port: 0, tls });
    const port = Number(new URL(server.url).port);
    const webhookServices = {
      value: [{ ...service, spec: { ...service.spec, ports: [{ port: 443, targetPort: port }] } }],
    };
    const facts = cluster({ webhookServices });
    const ways: readonly (readonly [string, LeaderAccess])[] = [
      ['Pod kube-system/a', DIRECT],
      [server.url, { ...DIRECT, url: 'https://127.0.0.1:10258' }],
    ];
    for (const [replica, access] of ways) {
      assert.deepEqual(await read(facts, refuses, access), [{ replica, pem: { value: first.pem + authority.pem } }]);
    }
    await put(second);
    // The files are read on the thread pool, which no clock moves.
    while (!certificateFor(NAME).startsWith(second.pem)) await clock.advance(60_000);
    for (const [replica, access] of ways) {
      assert.deepEqual(await read(facts, refuses, access), [{ replica, pem: { value: second.pem + authority.pem } }]);
    }
    const options = { access: {}, call: { timeoutMs: 60_000 }, clock: systemClock, transport: refuses };
    const byUrl = await readCertificates({ ...options, cluster: cluster({}, { url: `${server.url}/validate` }) });
    assert.deepEqual(
      [...byUrl],
      [['127.0.0.1', [{ replica: server.url, pem: { value: second.pem + authority.pem } }]]],
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});
