/** Clients that others wrote, against the embedded server: `kubectl` and `@kubernetes/client-node`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import {
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  V1MicroTime,
  type V1Lease,
  type V1Node,
} from '@kubernetes/client-node';
import { ControlPlaneError } from '../control-plane/control-plane-error.ts';
import { findBinaries } from '../control-plane/find-binaries.ts';
import { DEFAULT_KUBERNETES } from '../control-plane/releases.ts';
import { startEmbeddedApiServer, type EmbeddedApiServer } from './embedded-api-server.ts';

const run = promisify(execFile);

interface Kubectl {
  readonly server: EmbeddedApiServer;
  /** What it printed. Rejects when it failed. */
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
}

/** Skips the test where there is no kubectl, with one line. */
async function withKubectl(t: TestContext, body: (tools: Kubectl) => Promise<void>): Promise<void> {
  let path: string;
  try {
    path = (await findBinaries(DEFAULT_KUBERNETES, ['kubectl'], { makers: [] })).kubectl.path;
  } catch (error) {
    if (!(error instanceof ControlPlaneError)) throw error;
    t.skip('no kubectl: not in KUBEBUILDER_ASSETS, not on PATH, not in the cache');
    return;
  }
  await using server = await startEmbeddedApiServer();
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
  try {
    const config = join(folder, 'kubeconfig');
    await writeFile(config, server.kubeconfig().yaml, { mode: 0o600 });
    const env = { ...process.env, HOME: folder, KUBECONFIG: config };
    await body({
      server,
      kubectl: async (...args) => (await run(path, args, { env, timeout: 120_000 })).stdout,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'node-role.kubernetes.io/worker': '' } },
  spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
  status: {
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }],
    nodeInfo: { kubeletVersion: 'v1.37.1' },
  },
};

test('kubectl: get, describe, label, taint, patch, delete', async (t) => {
  await withKubectl(t, async ({ server, kubectl }) => {
    server.store.put(NODE);
    assert.match(await kubectl('get', 'nodes', '-o', 'wide'), /^n1 +Ready +worker +\S+ +v1\.37\.1 +10\.0\.0\.1 /m);
    assert.match(await kubectl('describe', 'node', 'n1'), /Taints: +a:NoSchedule/);
    await kubectl('label', 'node', 'n1', 'zone=z1');
    await kubectl('taint', 'node', 'n1', 'k=v:NoExecute', 'a-');
    await kubectl('patch', 'node', 'n1', '--subresource=status', '-p', '{"status":{"phase":"Running"}}');
    await kubectl('cordon', 'n1');
    const node = server.store.get({ plural: 'nodes' }, 'n1') as Record<string, unknown>;
    assert.deepEqual(node['spec'], { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }], unschedulable: true });
    assert.match(await kubectl('get', 'node', 'n1', '-L', 'zone'), /SchedulingDisabled.* z1$/m);
    await kubectl('delete', 'node', 'n1', '--wait=true', '--timeout=60s');
    assert.equal(server.store.get({ plural: 'nodes' }, 'n1'), undefined);
  });
});

test('kubectl: create and apply with server-side validation, edit, wait', async (t) => {
  await withKubectl(t, async ({ server, kubectl }) => {
    const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
    try {
      const file = join(folder, 'node.json');
      await writeFile(file, JSON.stringify(NODE));
      assert.match(await kubectl('create', '-f', file), /node\/n1 created/);
      assert.match(await kubectl('apply', '-f', file, '--warnings-as-errors=false'), /node\/n1 (configured|unchanged)/);
      assert.match(await kubectl('apply', '-f', file), /node\/n1 unchanged/);
      assert.match(await kubectl('wait', '--for=condition=Ready', 'node/n1', '--timeout=60s'), /condition met/);
      assert.equal(server.store.list({ plural: 'nodes' }).length, 1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test('kubectl: what it sends as protobuf is created as it says', async (t) => {
  await withKubectl(t, async ({ server, kubectl }) => {
    const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
    try {
      const file = join(folder, 'binary');
      await writeFile(file, Buffer.from([0, 255, 128]));
      assert.match(await kubectl('create', 'namespace', 'team-a'), /namespace\/team-a created/);
      const from = ['--from-literal=k=v', '--from-literal=empty=', `--from-file=binary=${file}`];
      assert.match(await kubectl('create', 'configmap', 'settings', '-n', 'team-a', ...from), /settings created/);
      await assert.rejects(kubectl('create', 'namespace', 'team-a'), /AlreadyExists/);
    } finally {
      await rm(folder, { recursive: true });
    }
    const namespace = server.store.get({ plural: 'namespaces' }, 'team-a');
    assert.equal(namespace?.kind, 'Namespace');
    const made = server.store.get({ plural: 'configmaps' }, 'settings', 'team-a') as Record<string, unknown>;
    assert.deepEqual([made['data'], made['binaryData']], [{ k: 'v', empty: '' }, { binary: 'AP+A' }]);
  });
});

test('kubectl: version, api-resources, raw', async (t) => {
  await withKubectl(t, async ({ kubectl }) => {
    assert.match(await kubectl('version'), /Server Version: v1\.37\.1/);
    assert.match(await kubectl('api-resources'), /^leases +coordination\.k8s\.io\/v1 +true +Lease$/m);
    assert.equal(await kubectl('get', '--raw', '/readyz'), 'ok');
  });
});

async function withClient(body: (config: KubeConfig, server: EmbeddedApiServer) => Promise<void>): Promise<void> {
  await using server = await startEmbeddedApiServer();
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig().yaml);
  await body(config, server);
}

test('client-node: create, list, patch, replace, delete', async () => {
  await withClient(async (config) => {
    const core = config.makeApiClient(CoreV1Api);
    const made = await core.createNode({ body: NODE as unknown as V1Node });
    assert.ok(made.metadata?.creationTimestamp instanceof Date);
    assert.deepEqual(
      (await core.listNode()).items.map((node) => node.metadata?.name),
      ['n1'],
    );
    const patched = await core.patchNode(
      { name: 'n1', body: [{ op: 'add', path: '/spec/providerID', value: 'cloud://1' }] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    );
    assert.equal(patched.spec?.providerID, 'cloud://1');
    await assert.rejects(core.replaceNode({ name: 'n1', body: made }), { code: 409 });
    await core.deleteNode({ name: 'n1' });
    await assert.rejects(core.readNode({ name: 'n1' }), { code: 404 });
  });
});

test('client-node: an informer sees what is there and what changes', async () => {
  await withClient(async (config, server) => {
    server.store.put(NODE);
    const core = config.makeApiClient(CoreV1Api);
    const seen: string[] = [];
    const done = Promise.withResolvers<void>();
    const informer = makeInformer(config, '/api/v1/nodes', () => core.listNode());
    informer.on('error', done.reject);
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, (node: V1Node) => {
        seen.push(`${verb} ${node.metadata?.name} ${node.metadata?.labels?.['n'] ?? ''}`.trimEnd());
        if (verb === 'add') server.store.put({ ...NODE, metadata: { name: 'n1', labels: { n: '1' } } });
        if (verb === 'update') server.store.delete({ plural: 'nodes' }, 'n1');
        if (verb === 'delete') done.resolve();
      });
    }
    await informer.start();
    await done.promise;
    await informer.stop();
    assert.deepEqual(seen, ['add n1', 'update n1 1', 'delete n1 1']);
  });
});

test('client-node: a lease is taken, renewed, and not taken over with an old version', async () => {
  await withClient(async (config) => {
    const leases = config.makeApiClient(CoordinationV1Api);
    const namespace = 'kube-system';
    const renewTime = new V1MicroTime('2026-01-01T00:00:00.000Z');
    const body = { metadata: { name: 'ccm' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime } };
    const taken = await leases.createNamespacedLease({ namespace, body });
    const { resourceVersion } = taken.metadata ?? {};
    assert.ok(resourceVersion);
    const at = (holderIdentity: string, time: string): V1Lease => ({
      metadata: { name: 'ccm', namespace, resourceVersion },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new V1MicroTime(time) },
    });
    const renewed = await leases.replaceNamespacedLease({
      name: 'ccm',
      namespace,
      body: at('a', '2026-01-01T00:00:02.000Z'),
    });
    assert.equal(renewed.spec?.holderIdentity, 'a');
    const late = at('b', '2026-01-01T00:00:03.000Z');
    await assert.rejects(leases.replaceNamespacedLease({ name: 'ccm', namespace, body: late }), { code: 409 });
  });
});
