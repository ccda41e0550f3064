import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, systemClock, type KubeObject, type Resource } from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, hollowNode } from '@outrigger/testing';
import type { Environment } from '../program/environment.ts';
import { migrateCommand } from './migrate.ts';

const LIMITED = 'limited';

interface Answer {
  readonly state: string;
  readonly steps: readonly {
    readonly step: string;
    readonly state: string;
    readonly checks: readonly { readonly text: string }[];
  }[];
}

async function check(kubeconfig: string): Promise<{ readonly code: number; readonly answer: Answer }> {
  let [out, err] = ['', ''];
  const environment = {
    env: {},
    stdout: { write: (text: string) => void (out += text) },
    stderr: { write: (text: string) => void (err += text) },
  } as unknown as Environment;
  const code = await migrateCommand.run(['check', `--kubeconfig=${kubeconfig}`, '--output=json'], environment);
  assert.equal(err, '');
  return { code, answer: JSON.parse(out) as Answer };
}

function statesOf({ steps }: Answer): Readonly<Record<string, string>> {
  return Object.fromEntries(steps.map(({ state, step }) => [step, state]));
}

function rbac(kind: string): Resource {
  return {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: false,
  };
}

test('real API server: what one may not see is unknown, and nothing is written', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const { metadata } = hollowNode({ name: 'a', images: 0 });
  await client.of(resources.nodes).create({ metadata: { ...metadata, name: 'a' }, spec: { providerID: 'acme://a' } });
  const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
  await client
    .of(resources.nodes)
    .patch({ name: 'a' }, { type: 'merge', body: { status: { addresses } } }, { subresource: 'status' });
  const renewTime = new Date(systemClock.now()).toISOString().replace('Z', '000Z');
  await client.of(resources.leases).create({
    metadata: { namespace: 'kube-system', name: 'cloud-controller-manager' },
    spec: { holderIdentity: 'acme-ccm_1', leaseDurationSeconds: 3600, renewTime },
  });
  const command = ['acme-cloud-controller-manager'];
  await client.of(resources.pods).create({
    metadata: { namespace: 'kube-system', name: 'acme-ccm' },
    spec: { nodeName: 'a', containers: [{ name: 'main', image: 'x', command }] },
  });

  const admin = await check(controlPlane.kubeconfig.path);
  assert.equal(admin.code, 1);
  const expected = {
    'kube-controller-manager': 'unknown',
    // It says its flags itself from 1.36 on.
    'kube-apiserver': ['1.34', '1.35'].includes(controlPlane.kubernetes) ? 'unknown' : 'ok',
    volumes: 'ok',
    // There is no kubelet, and a loopback address is none that the API server goes to.
    kubelets: 'unknown',
    nodes: 'ok',
    services: 'ok',
    leader: 'ok',
    beside: 'ok',
    'hand-over': 'missing',
    'one-first': 'ok',
    'node-ipam': 'unknown',
  };
  assert.deepEqual(statesOf(admin.answer), expected, JSON.stringify(admin.answer, undefined, 1));

  // May list nodes and Services, and nothing else.
  const rules = [{ apiGroups: [''], resources: ['nodes', 'services'], verbs: ['list'] }];
  await client.of(rbac('ClusterRole')).create({ metadata: { name: LIMITED }, rules } as KubeObject);
  await client.of(rbac('ClusterRoleBinding')).create({
    metadata: { name: LIMITED },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: LIMITED },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: LIMITED }],
  } as KubeObject);
  const kubeconfig = await controlPlane.kubeconfigFor({ user: LIMITED });
  const deadline = systemClock.monotonic() + 180_000;
  let limited = await check(kubeconfig.path);
  // Until the API server has taken in the binding.
  while (statesOf(limited.answer)['services'] === 'unknown' && systemClock.monotonic() < deadline) {
    await systemClock.sleep(100);
    limited = await check(kubeconfig.path);
  }
  assert.equal(limited.code, 2);
  for (const { checks, state, step } of limited.answer.steps) {
    assert.equal(
      state,
      step === 'nodes' || step === 'services' ? 'ok' : 'unknown',
      `${step}: ${JSON.stringify(checks)}`,
    );
    if (state === 'unknown') assert.match(JSON.stringify(checks), /Forbidden \(403\)/u, step);
  }
  const asked = await controlPlane.auditLog.requests(({ user }) => user.username === LIMITED);
  assert.deepEqual([...new Set(asked.map(({ verb }) => verb))].toSorted(), ['get', 'list']);
});
