import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, Transport } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { ReadCluster } from './read-cluster.ts';
import { readLeader } from './read-leader.ts';

type Answer = readonly [status: number, text: string];

/** Answers by path; what has no answer is 404. */
function apiServer(answers: Readonly<Record<string, Answer>>, asked: string[]): Transport {
  return {
    send: ({ path }) => {
      asked.push(path);
      const [status, text] = answers[path] ?? [404, 'no such thing'];
      const body = (async function* () {
        yield await Promise.resolve(Buffer.from(text));
      })();
      return Promise.resolve({ status, headers: {}, body });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const pod: Pod = {
  metadata: {
    namespace: 'outrigger',
    name: 'ccm-x7k2p',
    labels: { 'app.kubernetes.io/component': 'cloud-controller-manager' },
  },
  spec: { nodeName: 'control-1', containers: [] },
  status: { phase: 'Running', podIP: '127.0.0.1' },
};

function mirrorNamed(name: string): Pod {
  return { ...pod, metadata: { ...pod.metadata, name, annotations: { 'kubernetes.io/config.mirror': 'of-its-file' } } };
}

function cluster(holderIdentity: string, pods: readonly Pod[] = [pod]): ReadCluster {
  return {
    lease: { value: { spec: { holderIdentity } } },
    nodes: { value: [] },
    pods: { value: pods },
    services: { value: [] },
    events: { value: [] },
    webhooks: { value: [] },
    webhookServices: { value: [] },
    workloads: { value: [] },
  };
}

const NOT_FOUND = (host: string): string =>
  `no Pod of the manager runs in the namespace outrigger under the name ${host} or on the node ${host}: name the manager with --server`;
const PROXY = '/api/v1/namespaces/outrigger/pods/https:ccm-x7k2p:10258/proxy';
const call = { timeoutMs: 1_000 };
const clock = new FakeClock();

test('through the proxy of the API server health is read, and why the rest is not', async () => {
  for (const holder of ['control-1_0b6f', 'ccm-x7k2p_0b6f']) {
    const asked: string[] = [];
    const transport = apiServer(
      {
        [`${PROXY}/readyz?verbose`]: [500, '[+]ping ok\n[-]informers failed: reason withheld\n'],
        [`${PROXY}/metrics`]: [401, '{"kind":"Status","message":"Unauthorized"}'],
      },
      asked,
    );
    const { metrics, readyz } = await readLeader({
      access: {},
      call,
      clock,
      cluster: cluster(holder),
      namespace: 'outrigger',
      transport,
    });
    assert.ok('value' in readyz, holder);
    assert.equal(readyz.value.status, 500);
    assert.deepEqual(metrics, {
      unknown:
        'the proxy of the API server to Pod outrigger/ccm-x7k2p: status 401 (Unauthorized); that proxy does not say who asks: ask the manager itself, with --server=https://127.0.0.1:10258 through kubectl -n outrigger port-forward pod/ccm-x7k2p 10258',
    });
    assert.deepEqual(asked.toSorted(), [`${PROXY}/metrics`, `${PROXY}/readyz?verbose`]);
  }
});

test('where its address is not reached either, both reasons are told; of a manager without /readyz it is /healthz', async () => {
  const { metrics, readyz } = await readLeader({
    access: { port: 1, configOf: (server) => ({ server }) },
    call,
    clock,
    cluster: cluster('control-1_0b6f'),
    namespace: 'outrigger',
    transport: apiServer(
      {
        [`${PROXY.replace('10258', '1')}/healthz?verbose`]: [200, '[+]ping ok\n'],
        [`${PROXY.replace('10258', '1')}/metrics`]: [403, 'no'],
      },
      [],
    ),
  });
  assert.ok('value' in readyz && 'unknown' in metrics);
  assert.equal(readyz.value.text, '[+]ping ok\n');
  assert.match(
    metrics.unknown,
    /^https:\/\/127\.0\.0\.1:1: .*; run this where its address can be reached, or name another one with --server; the proxy of the API server to Pod outrigger\/ccm-x7k2p: status 403 \(no\); that proxy does not say who asks: ask the manager itself, .* port-forward pod\/ccm-x7k2p 1$/u,
  );
});

test('who may not use the proxy is told which permission is lacking', async () => {
  const message =
    'pods "https:ccm-x7k2p:10258" is forbidden: User "jane" cannot get resource "pods/proxy" in API group ""';
  const refused: Answer = [403, JSON.stringify({ kind: 'Status', message })];
  const { metrics, readyz } = await readLeader({
    access: {},
    call,
    clock,
    cluster: cluster('control-1_0b6f'),
    namespace: 'outrigger',
    transport: apiServer({ [`${PROXY}/metrics`]: refused, [`${PROXY}/readyz?verbose`]: refused }, []),
  });
  for (const fact of [metrics, readyz]) {
    assert.ok('unknown' in fact);
    assert.ok(
      fact.unknown.endsWith(`(${message}); grant the user get on pods/proxy in the namespace outrigger`),
      fact.unknown,
    );
  }
});

test('without a leader, and without any way to it, it says so and asks nobody', async () => {
  for (const [known, why] of [
    [cluster(''), 'there is no leader'],
    [{ ...cluster('a_b'), lease: { unknown: 'forbidden' } }, 'forbidden'],
    [{ ...cluster('control-1_0b6f'), pods: { unknown: 'may not list pods' } }, 'may not list pods'],
    [cluster('elsewhere_0b6f'), NOT_FOUND('elsewhere')],
    // The name of its host may lead anywhere, and the address of a Pod that has ended may be another's by now.
    [cluster('evil.example_0b6f', []), NOT_FOUND('evil.example')],
    [cluster('control-1_0b6f', [{ ...pod, status: { ...pod.status, phase: 'Failed' } }]), NOT_FOUND('control-1')],
    [cluster('control-1_0b6f', [{ ...pod, metadata: { name: 'kube-proxy' } }]), NOT_FOUND('control-1')],
    // Of the kubelet of control-1, for a node that is called so.
    [cluster('control-2_0b6f', [mirrorNamed('control-2')]), NOT_FOUND('control-2')],
  ] as const) {
    const asked: string[] = [];
    const { metrics, plans, readyz } = await readLeader({
      access: { configOf: (server) => assert.fail(`${server} is asked`) },
      call,
      clock,
      cluster: known,
      namespace: 'outrigger',
      transport: apiServer({}, asked),
    });
    assert.deepEqual([readyz, metrics, plans.size, asked], [{ unknown: why }, { unknown: why }, 0, []]);
  }
});

test('a manager that is named is asked, and not the leader through the proxy', async () => {
  const asked: string[] = [];
  const { readyz } = await readLeader({
    access: { url: 'https://127.0.0.1:1', configOf: (server) => ({ server }) },
    call,
    clock,
    cluster: cluster('control-1_0b6f'),
    namespace: 'outrigger',
    transport: apiServer({}, asked),
  });
  assert.ok('unknown' in readyz);
  assert.match(readyz.unknown, /^https:\/\/127\.0\.0\.1:1: connection refused/u);
  assert.deepEqual(asked, []);
});
