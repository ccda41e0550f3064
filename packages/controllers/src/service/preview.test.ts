import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancers } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { createMemoryCloud } from '@outrigger/provider-memory';
import { FakeClock } from '@outrigger/testing';
import { callContext, CLUSTER, openLoadBalancers } from '../load-balancer/memory-provider.suite.ts';
import { previewServices, type PreviewedService } from './preview.ts';
import { nodeOf, webSpec } from './rig.suite.ts';

const serviceOf = (name: string, spec: Partial<NonNullable<Service['spec']>> = {}): Service => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { ...webSpec, ...spec },
});

async function previewed(
  services: readonly Service[],
  change: (loadBalancers: LoadBalancers) => Partial<LoadBalancers> = () => ({}),
  { signal }: AbortController = new AbortController(),
): Promise<readonly PreviewedService[]> {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0.5 });
  const inner = await openLoadBalancers(cloud, clock);
  const loadBalancers: LoadBalancers = {
    features: inner.features,
    classes: inner.classes,
    annotations: inner.annotations,
    batchSize: 1,
    observe: inner.observe.bind(inner),
    plan: inner.plan.bind(inner),
    apply: () => assert.fail('nothing is applied'),
    listOwned: () => assert.fail('nothing is listed'),
    ...change(inner),
  };
  const found = await previewServices({
    loadBalancers,
    services,
    nodes: [nodeOf('n1')],
    options: { providerName: 'memory', clusterId: CLUSTER, isDefault: true },
    call: callContext(signal, 'normal'),
  });
  assert.equal(cloud.parts().length, 0, 'nothing was made');
  return found;
}

test('each Service of this provider is planned, and nothing is done', async () => {
  const other = serviceOf('other', { loadBalancerClass: 'example.com/other' });
  const internal = serviceOf('internal', { type: 'ClusterIP' });
  const found = await previewed([serviceOf('a'), other, internal, serviceOf('b')]);
  assert.deepEqual(
    found.map(({ name, outcome }) => [name, outcome]),
    [
      ['default/a', 'changes'],
      ['default/b', 'changes'],
    ],
  );
  assert.ok(found.every(({ actions }) => actions.length > 0 && actions.every(({ kind }) => kind === 'create')));
});

test('what a change may cut is told with it', async () => {
  const action = { kind: 'create', part: 'load-balancer', input: {} } as const;
  const [one] = await previewed([serviceOf('a')], () => ({
    plan: () => ({ actions: [action, { ...action, mayCutTraffic: true }], ingress: [] }),
  }));
  assert.deepEqual(
    one?.actions.map(({ mayCutTraffic }) => mayCutTraffic),
    [undefined, true],
  );
});

test('what the cloud does not serve is refused, with the reason', async () => {
  const spec = { ports: [{ port: 80, protocol: 'SCTP' as const, nodePort: 30_080 }] };
  const [one] = await previewed([serviceOf('a', spec)], ({ features }) => ({
    features: { ...features, protocols: ['TCP'] },
  }));
  assert.equal(one?.outcome, 'refused');
  assert.match(one?.why ?? '', /SCTP/);
});

test('a cloud that does not answer for one Service leaves that one unknown', async () => {
  const found = await previewed([serviceOf('a'), serviceOf('b')], (inner) => ({
    observe: (services, call) =>
      services.some(({ name }) => name === 'a')
        ? Promise.reject(new Error('no answer'))
        : inner.observe(services, call),
  }));
  assert.deepEqual(
    found.map(({ outcome, why }) => [outcome, why]),
    [
      ['unknown', 'no answer'],
      ['changes', undefined],
    ],
  );
});

test('namespaces take turns, and those that the time did not suffice for are unknown: whoever has thousands hides no other', async () => {
  const time = new AbortController();
  const many = Array.from({ length: 50 }, (_, i) => serviceOf(`m${i}`));
  const { metadata, ...rest } = serviceOf('few');
  const few = { metadata: { ...metadata, namespace: 'other' }, ...rest };
  let asked = 0;
  const found = await previewed(
    [...many, few],
    (inner) => ({
      observe: (services, call) => {
        // Nor does it look at its signal.
        if (++asked < 10) return inner.observe(services, call);
        setImmediate(() => time.abort(new Error('no answer in time')));
        return new Promise<never>(() => {});
      },
    }),
    time,
  );
  assert.equal(asked, 10, 'nothing is asked when the time is over');
  const planned = found.filter(({ outcome }) => outcome === 'changes').map(({ name }) => name);
  assert.deepEqual([planned.length, planned.includes('other/few')], [9, true]);
  const others = found.filter(({ outcome }) => outcome === 'unknown');
  assert.deepEqual([others.length, new Set(others.map(({ why }) => why))], [42, new Set(['no answer in time'])]);
});

test('a Service whose nodes cannot be seen is not foretold', async () => {
  const served = { ...serviceOf('a'), status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } };
  const [one] = await previewed([served], () => ({ selectBackEnds: () => [] }));
  assert.deepEqual([one?.outcome, one?.isServed], ['unknown', true]);
});
