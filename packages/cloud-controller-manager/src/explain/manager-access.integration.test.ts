/** To whom the credentials of the person who asks go: to managers, and to no machine that only the Lease names. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig, systemClock } from '@outrigger/kube';
import { startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { TestAuthority } from '../../../controller-manager/src/access/test-authority.suite.ts';
import { testEnvironment } from '../program/test-environment.suite.ts';
import { askManager } from './ask-manager.ts';
import { managerOf, type ManagerOptions } from './manager-access.ts';

const TOKEN = 'of-an-administrator';
const LABELS = { 'app.kubernetes.io/component': 'cloud-controller-manager' };

interface PodOf {
  readonly namespace?: string;
  readonly name?: string;
  readonly nodeName?: string;
  readonly phase?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Its kubelet has made it, of a static Pod. */
  readonly isMirror?: boolean;
}

function putPod(api: EmbeddedApiServer, given: PodOf): void {
  const { labels = LABELS, name = 'ccm-x7k2p', namespace = 'kube-system', nodeName = 'worker-9', phase } = given;
  api.store.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      uid: `uid-${namespace}-${name}`,
      labels,
      ...(given.isMirror && { annotations: { 'kubernetes.io/config.mirror': 'of-its-file' } }),
    },
    spec: { nodeName, containers: [] },
    status: { phase: phase ?? 'Running', podIP: '127.0.0.1' },
  });
}

interface Rig extends AsyncDisposable {
  readonly api: EmbeddedApiServer;
  readonly authority: TestAuthority;
  /** Asks as the administrator; what the manager answers. */
  ask(options: Partial<ManagerOptions>): Promise<unknown>;
}

async function setUp(holderIdentity: string): Promise<Rig> {
  await using starting = new AsyncDisposableStack();
  const admin = { username: 'admin', groups: ['system:masters'] };
  const api = starting.use(await startEmbeddedApiServer({ tokens: { [TOKEN]: admin } }));
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-access-'));
  starting.defer(() => rm(directory, { recursive: true }));
  const authority = await TestAuthority.create('CN=cluster-ca');
  await writeFile(join(directory, 'ca.crt'), authority.pem);
  const yaml = api.kubeconfig('token').yaml;
  const cluster = await loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(yaml) });
  api.store.put({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-system', name: 'cloud-controller-manager', uid: 'uid-lease' },
    spec: { holderIdentity },
  });
  const owned = starting.move();
  return {
    api,
    authority,
    ask: async (options) => {
      const all: ManagerOptions = {
        server: '',
        kubeconfig: '',
        context: '',
        tokenFile: '',
        certificateAuthority: 'ca.crt',
        insecureSkipTlsVerify: false,
        leaderElectResourceNamespace: 'kube-system',
        leaderElectResourceName: 'cloud-controller-manager',
        managerPort: 1,
        tlsServerName: '',
        requestTimeout: 30_000,
        ...options,
      };
      const { signal } = new AbortController();
      const environment = { ...testEnvironment(directory, () => {}), builtInProviders: {} };
      const manager = await managerOf(all, cluster, environment, signal);
      return await askManager(manager, '/explain/node/a', { clock: systemClock, signal });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Asked {
  readonly headers: { readonly authorization?: string | undefined };
}

/** A server with this certificate; the tokens that it was given. */
async function serve(
  { key, pem: cert }: TestAuthority,
  protocol: 'h1' | 'h2' = 'h1',
): Promise<AsyncDisposable & { readonly port: number; readonly tokens: readonly (string | undefined)[] }> {
  const tokens: (string | undefined)[] = [];
  const answer = ({ headers }: Asked, response: { end(text: string): unknown }): void => {
    tokens.push(headers.authorization);
    response.end('{}');
  };
  const server = protocol === 'h1' ? createServer({ cert, key }, answer) : createSecureServer({ cert, key }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    tokens,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

for (const protocol of ['h1', 'h2'] as const) {
  test(`over ${protocol} a kubelet gets no credentials, though the authority of the cluster signed its certificate`, async () => {
    await using rig = await setUp('worker-9_somebody');
    const certificate = await rig.authority.issue('CN=system:node:worker-9,O=system:nodes', { usage: 'server' });
    await using kubelet = await serve(certificate, protocol);
    const { port } = kubelet;
    // A kubelet may make a Pod of any name on its own node, as the mirror of a static one.
    putPod(rig.api, { name: 'cloud-controller-manager-worker-9' });
    for (const options of [{ managerPort: port }, { server: `https://127.0.0.1:${port}` }]) {
      await assert.rejects(
        rig.ask(options),
        new RegExp(`^\\w*Error: https://127.0.0.1:${port}: .*organization system:nodes.*nothing was sent`, 'u'),
      );
    }
    assert.deepEqual(kubelet.tokens, []);
  });
}

test('the leader is the Pod of its name, or the one on its node, in the namespace of its Lease', async () => {
  for (const [holder, pod] of [
    ['worker-9_0b6f', {}],
    ['ccm-x7k2p_0b6f', { nodeName: 'elsewhere' }],
    ['worker-9_0b6f', { name: 'acme-cloud-controller-manager-worker-9', labels: {} }],
    ['worker-9_0b6f', { name: 'acme-cloud-controller-manager-worker-9', isMirror: true }],
  ] as const) {
    await using rig = await setUp(holder);
    await using manager = await serve(await rig.authority.issue('CN=ccm', { usage: 'server' }));
    putPod(rig.api, pod);
    assert.deepEqual(await rig.ask({ managerPort: manager.port }), {});
    assert.deepEqual(manager.tokens, [`Bearer ${TOKEN}`]);
  }
});

test('whom the Lease alone names is not asked, unless --server does', async () => {
  for (const [holder, pods] of [
    ['worker-9_0b6f', []],
    ['127.0.0.1_0b6f', []],
    ['worker-9_0b6f', [{ namespace: 'a-tenant' }]],
    ['ccm-x7k2p_0b6f', [{ namespace: 'a-tenant' }]],
    ['worker-9_0b6f', [{ phase: 'Succeeded' }]],
    ['worker-9_0b6f', [{ name: 'kube-proxy', labels: {} }]],
    ['worker-9,spec.nodeName!=x_0b6f', [{}]],
    // A kubelet gives the mirror of a static Pod on its own node any name and label, such as the name of the leader's node.
    ['cp-1_0b6f', [{ name: 'cp-1', isMirror: true }]],
    ['ccm-x7k2p_0b6f', [{ isMirror: true }]],
  ] as const) {
    await using rig = await setUp(holder);
    await using machine = await serve(await rig.authority.issue('CN=worker-9', { usage: 'server' }));
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    rig.api.store.put({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'worker-9', uid: 'uid-node' },
      status: { addresses },
    });
    for (const pod of pods) putPod(rig.api, pod);
    await assert.rejects(
      rig.ask({ managerPort: machine.port }),
      /^Error: no Pod of the manager runs in the namespace kube-system .*: name the manager with --server$/u,
    );
    assert.deepEqual(machine.tokens, [], holder);
    await rig.ask({ server: `https://127.0.0.1:${machine.port}` });
    assert.equal(machine.tokens.length, 1);
  }
});
