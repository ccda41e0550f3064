import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, createTransport, loadConfig, systemClock } from '@outrigger/kube';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { readCluster } from './read-cluster.ts';

test('of the Pods of the namespace of the Lease those that may be the leader are read, and no others', async () => {
  await using server = await startEmbeddedApiServer();
  const yaml = server.kubeconfig().yaml;
  const cluster = await loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(yaml) });
  await using transport = createTransport(cluster, { clock: systemClock, retry: false });
  const pod = (
    namespace: string,
    name: string,
    nodeName: string,
    labels: Readonly<Record<string, string>> = {},
  ): void =>
    void server.store.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, uid: `uid-${name}`, labels },
      spec: { nodeName, containers: [{ name: 'one', image: 'one' }] },
      status: { phase: 'Running' },
    });
  pod('kube-system', 'cloud-controller-manager-control-1', 'control-1');
  pod('kube-system', 'cloud-controller-manager-control-2', 'control-2');
  pod('kube-system', 'kube-proxy-a', 'control-1');
  pod('kube-system', 'kube-proxy-b', 'worker-1');
  const label = { 'app.kubernetes.io/component': 'cloud-controller-manager' };
  pod('kube-system', 'ccm-x7k2p', 'worker-1', label);
  // Whoever may make Pods in another namespace gives them any label and any name.
  for (const name of ['control-1', 'cloud-controller-manager-control-2']) pod('a-tenant', name, 'control-1', label);
  for (const [holderIdentity, expected] of [
    ['control-1_0b6f', ['ccm-x7k2p', 'cloud-controller-manager-control-1']],
    ['cloud-controller-manager-control-2_0b6f', ['ccm-x7k2p', 'cloud-controller-manager-control-2']],
    ['kube-proxy-b_0b6f', ['ccm-x7k2p', 'kube-proxy-b']],
    ['control-1,metadata.name!=x_0b6f', ['ccm-x7k2p']],
    ['', ['ccm-x7k2p']],
  ] as const) {
    server.store.put({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'cloud-controller-manager', uid: 'uid-lease' },
      spec: { holderIdentity },
    });
    const { pods } = await readCluster({
      client: createClient(transport),
      namespace: 'kube-system',
      leaseName: 'cloud-controller-manager',
      call: { timeoutMs: 10_000 },
    });
    assert.ok('value' in pods, holderIdentity);
    assert.deepEqual(pods.value.map(({ metadata: { name = '' } = {} }) => name).toSorted(), expected);
    assert.ok(pods.value.every(({ metadata }) => metadata?.namespace === 'kube-system'));
  }
  const ofProgram = server.requests.filter(({ path }) => /\/(?:pods|deployments|daemonsets)$/u.test(path));
  for (const { path } of ofProgram) assert.match(path, /\/namespaces\/kube-system\//u);
  const asked = server.requests.filter(({ path }) => path.endsWith('/pods'));
  assert.ok(asked.length > 0);
  for (const { query } of asked) assert.match(query, /Selector=/u, 'there may be thousands');
});

test('what a watch has is not listed again; before it has all of it, it is', async () => {
  await using server = await startEmbeddedApiServer();
  const yaml = server.kubeconfig().yaml;
  const cluster = await loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(yaml) });
  await using transport = createTransport(cluster, { clock: systemClock, retry: false });
  const service = { metadata: { name: 'web' }, spec: { type: 'LoadBalancer' } } as const;
  const read = await readCluster({
    client: createClient(transport),
    namespace: 'kube-system',
    leaseName: 'cloud-controller-manager',
    call: { timeoutMs: 10_000 },
    known: { nodes: () => undefined, services: () => [service, { ...service, spec: { type: 'ClusterIP' } }] },
  });
  assert.deepEqual([read.nodes, read.services], [{ value: [] }, { value: [service] }]);
  const lists = server.requests.map(({ path }) => path);
  assert.deepEqual([lists.includes('/api/v1/nodes'), lists.includes('/api/v1/services')], [true, false]);
});
