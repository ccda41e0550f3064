// Over 400 lines: the vectors and the properties share the nodes and answers that they are made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  type Instance,
  type InstanceAnswer,
  type InstanceResult,
  type NodeAddress,
} from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import * as fc from 'fast-check';
import type { NodePlan } from './actions.ts';
import { bringNode, type Brought } from './bring-node.suite.ts';
import type { PlanOptions } from './observed.ts';
import { planNode } from './plan.ts';
import { uninitializedTaintKey } from './well-known-names.ts';

const options: PlanOptions = { providerName: 'fake', runsRoutes: false, nodeSyncedEvents: false };
const now = Date.UTC(2026, 0, 1);
const uninitialized = { key: uninitializedTaintKey, value: 'true', effect: 'NoSchedule' } as const;
const other = { key: 'ImproveCoverageTaint', value: 'true', effect: 'NoSchedule' } as const;
const hostname: NodeAddress = { type: 'Hostname', address: 'node0.cloud.internal' };
const cloudAddresses: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'ExternalIP', address: '132.143.154.163' },
];

function newNode(
  more: { readonly metadata?: Node['metadata']; readonly spec?: Node['spec']; readonly status?: Node['status'] } = {},
): Node {
  return {
    metadata: { name: 'node0', uid: 'u0', resourceVersion: '1', labels: { a: 'b' }, ...more.metadata },
    spec: { taints: [other, uninitialized], ...more.spec },
    status: { addresses: [hostname], ...more.status },
  };
}

const found = (instance: Partial<Instance> = {}): InstanceResult => ({
  kind: 'found',
  instance: { providerID: 'fake://1', state: 'running', addresses: cloudAddresses, ...instance },
});
const answer = (result: InstanceResult): InstanceAnswer => ({ asOf: 0, result });

function plan(node: Node, result?: InstanceResult, more: Partial<PlanOptions> = {}): NodePlan {
  return planNode({ node, answer: result && answer(result), now, options: { ...options, ...more } });
}

const bring = (node: Node, result?: InstanceResult, more: Partial<PlanOptions> = {}): Promise<Brought> =>
  bringNode(node, plan(node, result, more));

test('a tainted node asks first; an answer makes it whole with one write of the status and then one of the object', async () => {
  assert.deepEqual(plan(newNode()), { kind: 'look-up' });
  const { node, api } = await bring(
    newNode(),
    found({ type: 't1.micro', zone: 'us-west-1a', region: 'us-west', labels: { 'my.custom.label/foo': 'bar' } }),
  );
  assert.deepEqual(
    api.writes.map(({ subresource }) => subresource),
    ['status', ''],
  );
  assert.equal(node.spec?.providerID, 'fake://1');
  assert.deepEqual(node.spec?.taints, [other]);
  assert.deepEqual(node.status?.addresses, [...cloudAddresses, hostname]);
  assert.deepEqual(node.metadata?.labels, {
    a: 'b',
    'node.kubernetes.io/instance-type': 't1.micro',
    'beta.kubernetes.io/instance-type': 't1.micro',
    'topology.kubernetes.io/zone': 'us-west-1a',
    'failure-domain.beta.kubernetes.io/zone': 'us-west-1a',
    'topology.kubernetes.io/region': 'us-west',
    'failure-domain.beta.kubernetes.io/region': 'us-west',
    'my.custom.label/foo': 'bar',
  });
});

test('the taint is tested and removed by the last operations of the object patch, all of its entries', async () => {
  const twice = { ...uninitialized, effect: 'NoExecute' } as const;
  const { node, api } = await bring(newNode({ spec: { taints: [uninitialized, other, twice] } }), found());
  assert.deepEqual(node.spec?.taints, [other]);
  const patch = api.writes.at(-1)?.patch;
  assert.ok(patch?.type === 'json');
  assert.deepEqual(patch.operations.slice(-4), [
    { op: 'test', path: '/spec/taints/2', value: twice },
    { op: 'remove', path: '/spec/taints/2' },
    { op: 'test', path: '/spec/taints/0', value: uninitialized },
    { op: 'remove', path: '/spec/taints/0' },
  ]);
});

test('a node without labels gets the whole map, guarded by its version', async () => {
  const bare = newNode();
  delete bare.metadata?.labels;
  const { node, api } = await bring(bare, found({ zone: 'z' }));
  assert.equal(node.metadata?.labels?.['topology.kubernetes.io/zone'], 'z');
  const patch = api.writes.at(-1)?.patch;
  assert.ok(
    patch?.type === 'json' &&
      patch.operations.some(({ op, path }) => op === 'test' && path === '/metadata/resourceVersion'),
  );
});

// Upstream: Test_syncNode, "provider ID already set", "[instanceV2] provided node IP address".
test('a provider ID that is set stays, with or without a prefix, also when the cloud gives another or none', async () => {
  for (const providerID of ['fake://mine', 'node0.cp.12345']) {
    for (const given of ['fake://1', '']) {
      const { node } = await bring(
        newNode({ spec: { taints: [uninitialized], providerID } }),
        found({ providerID: given }),
      );
      assert.equal(node.spec?.providerID, providerID);
      assert.deepEqual(node.spec?.taints, []);
    }
  }
});

test('left alone: foreign nodes, nodes being deleted, untainted nodes that are not ours, and what is implemented elsewhere', () => {
  const nothing = (node: Node, reason: string, result?: InstanceResult): void =>
    assert.deepEqual(plan(node, result), { kind: 'nothing', reason });
  nothing(newNode({ spec: { taints: [uninitialized], providerID: 'aws:///a/i-1' } }), 'foreign', found());
  nothing(
    newNode({ metadata: { name: 'node0', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    'being-deleted',
    found(),
  );
  nothing(newNode({ spec: { taints: [other] } }), 'not-ours', found());
  nothing(newNode({ spec: { providerID: 'node0.cp.1', taints: [] } }), 'not-ours', found());
  nothing(newNode({ spec: { providerID: 'fake://1', taints: [] } }), 'up-to-date');
  nothing(newNode(), 'implemented-elsewhere', { kind: 'failed', error: new CloudError('implemented-elsewhere', 'x') });
});

test('every answer that does not do keeps the taint, says why, and writes nothing', () => {
  const provided = newNode({
    metadata: { name: 'node0', annotations: { 'alpha.kubernetes.io/provided-node-ip': '10.9.9.9' } },
  });
  const cases: readonly (readonly [string, Node, InstanceResult])[] = [
    ['missing', newNode(), { kind: 'missing' }],
    ['absent', newNode(), { kind: 'absent', proof: '404' }],
    ['failed', newNode(), { kind: 'failed', error: new CloudError('unavailable', 'the cloud is away') }],
    ['no-provider-id', newNode(), found({ providerID: '' })],
    ['foreign-provider-id', newNode(), found({ providerID: 'aws:///a/i-1' })],
    ['no-addresses', newNode(), found({ addresses: [] })],
    ['provided-ip-refused', provided, found()],
    ['provided-ip-refused', provided, found({ addresses: [] })],
    [
      'provider-id-too-long',
      newNode({ spec: { taints: [uninitialized], providerID: `fake://${'1'.repeat(1_024)}` } }),
      { kind: 'missing' },
    ],
  ];
  for (const [reason, node, result] of cases) {
    const planned = plan(node, result);
    assert.ok(planned.kind === 'wait', reason);
    assert.equal(planned.reason, reason);
    assert.equal(planned.note.type, 'Warning');
    assert.match(planned.note.message, /node0.*The taint stays/);
  }
});

test('a failure tells its code; what else an error says stays out of the Event; its wish when to retry is kept', () => {
  const secret = plan(newNode(), { kind: 'failed', error: new Error('token hunter2 refused') });
  assert.ok(secret.kind === 'wait' && !secret.note.message.includes('hunter2'));
  const throttled = plan(newNode(), {
    kind: 'failed',
    error: new CloudError('throttled', 'slow down', { retryAfterMs: 9_000 }),
  });
  assert.ok(
    throttled.kind === 'wait' && throttled.retryAfterMs === 9_000 && throttled.note.message.includes('throttled'),
  );
  const forDays = plan(newNode(), {
    kind: 'failed',
    error: new CloudError('throttled', 'slow down', { retryAfterMs: 172_800_000 }),
  });
  assert.ok(forDays.kind === 'wait' && forDays.retryAfterMs === 300_000);
  const later = plan(newNode(), {
    kind: 'failed',
    error: new CloudError('retry-after', 'not yet', { retryAfterMs: 5 }),
  });
  assert.ok(later.kind === 'wait' && later.tellAfter === Infinity);
});

test('a cloud without addresses does not hold up a node that has an IP address of its own, and wipes nothing', async () => {
  const addresses = [{ type: 'InternalIP', address: '10.0.0.7' }, hostname];
  const { node, api } = await bring(newNode({ status: { addresses } }), found({ addresses: [] }));
  assert.deepEqual(node.status?.addresses, addresses);
  assert.equal(api.writes.length, 1);
  assert.deepEqual(node.spec?.taints, [other]);
});

test('where routes are ours, the first write says that there is none yet, unless somebody has said something', async () => {
  const ready = { type: 'Ready', status: 'False' };
  const { node, api } = await bring(newNode({ status: { conditions: [ready] } }), found(), { runsRoutes: true });
  assert.equal(api.writes.length, 2);
  assert.deepEqual(
    node.status?.conditions?.map(({ type, status, reason, lastTransitionTime }) => [
      type,
      status,
      reason,
      lastTransitionTime,
    ]),
    [
      ['Ready', 'False', undefined, undefined],
      ['NetworkUnavailable', 'True', 'NoRouteCreated', '2026-01-01T00:00:00Z'],
    ],
  );
  const routed = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' };
  assert.deepEqual(
    (await bring(newNode({ status: { conditions: [routed] } }), found(), { runsRoutes: true })).node.status?.conditions,
    [routed],
  );
  assert.deepEqual((await bring(newNode({ status: { conditions: [ready] } }), found())).node.status?.conditions, [
    ready,
  ]);
});

test('a success is an Event only on request', () => {
  const events = (nodeSyncedEvents: boolean): unknown[] => {
    const planned = plan(newNode(), found(), { nodeSyncedEvents });
    return planned.kind === 'act' ? planned.actions.filter(({ kind }) => kind === 'event') : [];
  };
  assert.deepEqual(events(false), []);
  assert.deepEqual(events(true), [
    { kind: 'event', note: { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' } },
  ]);
});

function initialised(
  more: { readonly labels?: Record<string, string>; readonly addresses?: readonly NodeAddress[] } = {},
): Node {
  return newNode({
    metadata: { name: 'node0', uid: 'u0', labels: more.labels ?? {} },
    spec: { providerID: 'fake://1', taints: [other] },
    status: { addresses: [...(more.addresses ?? [...cloudAddresses, hostname])] },
  });
}

test('a refresh writes changed addresses only, and nothing for a dual-stack node that has not changed', async () => {
  const dual: readonly NodeAddress[] = [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: 'fd00::1' },
  ];
  assert.deepEqual(plan(initialised({ addresses: [...dual, hostname] }), found({ addresses: dual })), {
    kind: 'nothing',
    reason: 'up-to-date',
  });
  const { node, api } = await bring(
    initialised({ addresses: [...dual, hostname] }),
    found({ addresses: cloudAddresses }),
  );
  assert.deepEqual(node.status?.addresses, [...cloudAddresses, hostname]);
  assert.deepEqual(
    api.writes.map(({ subresource }) => subresource),
    ['status'],
  );
});

test('a refresh without an instance, or without addresses, writes nothing', () => {
  const results: readonly InstanceResult[] = [
    { kind: 'missing' },
    { kind: 'absent', proof: '404' },
    { kind: 'failed', error: new Error('x') },
  ];
  for (const result of results)
    assert.deepEqual(plan(initialised(), result), { kind: 'nothing', reason: 'cloud-says-nothing' });
  assert.deepEqual(plan(initialised(), found({ addresses: [] })), { kind: 'nothing', reason: 'up-to-date' });
});

test('a refresh adds missing labels, and tells of those that differ and that are invalid', async () => {
  const {
    node,
    api,
    plan: planned,
  } = await bring(initialised({ labels: { x: 'mine' } }), found({ zone: 'z', labels: { x: 'cloud', y: 'b@d' } }));
  assert.deepEqual(node.metadata?.labels, {
    x: 'mine',
    'topology.kubernetes.io/zone': 'z',
    'failure-domain.beta.kubernetes.io/zone': 'z',
  });
  assert.equal(api.writes.length, 1);
  assert.ok(planned.kind === 'act');
  const reasons = planned.actions.flatMap((action) => (action.kind === 'event' ? [action.note.reason] : []));
  assert.deepEqual(reasons, ['LabelsDiffer', 'InvalidLabels']);
});

test("annotations of the provider are written with the rest, again where they differ, and no one else's is touched", async () => {
  const annotations = {
    'acme.example/machine': 'm-1',
    'kubernetes.io/x': 'y',
    'acme.example/long': 'x'.repeat(256),
    'Bad key': 'z',
  };
  for (const there of [undefined, { keep: 'me' }]) {
    const first = await bring(newNode({ metadata: there ? { annotations: there } : {} }), found({ annotations }));
    assert.equal(first.api.writes.length, 2);
    assert.deepEqual(first.node.metadata?.annotations, { ...there, 'acme.example/machine': 'm-1' });
    const again = await bring(first.node, found({ annotations }));
    assert.deepEqual(again.api.writes, []);
    const moved = await bring(first.node, found({ annotations: { 'acme.example/machine': 'm-2' } }));
    assert.equal(moved.api.writes.length, 1);
    assert.deepEqual(moved.node.metadata?.annotations, { ...there, 'acme.example/machine': 'm-2' });
  }
});

test('a provided IP that the cloud no longer lists is told at a refresh, and changes nothing', () => {
  const node = initialised();
  node.metadata!.annotations = { 'alpha.kubernetes.io/provided-node-ip': '10.9.9.9' };
  const planned = plan(node, found());
  assert.ok(planned.kind === 'act');
  assert.deepEqual(
    planned.actions.map((action) => action.kind === 'event' && action.note.reason),
    ['ProvidedNodeIPNotFound'],
  );
  assert.equal(plan(node, found({ addresses: [] })).kind, 'nothing');
});

test('beta labels are copied without asking the cloud', async () => {
  const { node } = await bring(
    initialised({ labels: { 'failure-domain.beta.kubernetes.io/zone': 'z', 'topology.kubernetes.io/zone': 'wrong' } }),
  );
  assert.equal(node.metadata?.labels?.['topology.kubernetes.io/zone'], 'z');
});

// --- Properties: any node, any answer.

// What comes out of JSON has a prototype, and a deep comparison tells an object that has none from it.
const address = fc.record(
  {
    type: fc.constantFrom<NodeAddress['type'][]>('InternalIP', 'ExternalIP', 'Hostname', 'InternalDNS'),
    address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1', 'host'),
  },
  { noNullPrototype: true },
);
const addresses = fc.array(address, { maxLength: 4 });
const value = fc.constantFrom('x', 'y', 'not valid');
const labels = fc.dictionary(
  fc.constantFrom(
    'own',
    'a/b',
    'a~b',
    'topology.kubernetes.io/zone',
    'failure-domain.beta.kubernetes.io/zone',
    'Bad key',
    'x.k8s.io/y',
  ),
  value,
  { noNullPrototype: true },
);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

function defined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, member]) => member !== undefined)) as T;
}

const anyNode: fc.Arbitrary<Node> = fc
  .record({
    labels: optional(labels),
    provided: optional(fc.constantFrom('10.0.0.1', '10.0.0.1,fd00::1', '10.7.7.7', 'bad')),
    deletionTimestamp: optional(fc.constant('2026-01-01T00:00:00Z')),
    providerID: optional(fc.constantFrom('fake://1', 'aws:///x', 'opaque')),
    taints: fc.array(fc.constantFrom(uninitialized, other, { ...uninitialized, effect: 'NoExecute' as const }), {
      maxLength: 3,
    }),
    addresses,
    conditions: fc.subarray([
      { type: 'Ready', status: 'False' },
      { type: 'NetworkUnavailable', status: 'False' },
    ]),
  })
  .map(({ labels, provided, deletionTimestamp, providerID, taints, addresses, conditions }) => ({
    metadata: defined({
      name: 'node0',
      uid: 'u0',
      labels: labels as Record<string, string>,
      deletionTimestamp: deletionTimestamp as string,
      annotations: { keep: 'me', ...(provided !== undefined && { 'alpha.kubernetes.io/provided-node-ip': provided }) },
    }),
    spec: { ...defined({ providerID: providerID as string }), taints, unknownSpec: { keep: 1 } },
    status: { addresses, conditions, unknownStatus: ['keep'] },
    unknown: 'keep',
  }));

const anyResult: fc.Arbitrary<InstanceResult> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        providerID: fc.constantFrom('fake://1', '', 'aws:///x', 'opaque'),
        addresses: optional(addresses),
        zone: optional(value),
        labels: optional(labels),
      })
      .map((instance): InstanceResult => ({
        kind: 'found',
        instance: { state: 'running', ...defined(instance) } as Instance,
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<InstanceResult[]>(
      { kind: 'missing' },
      { kind: 'absent', proof: '404' },
      { kind: 'failed', error: new CloudError('timeout', 'x') },
    ),
  },
);

const tainted = (node: Node): boolean => (node.spec?.taints ?? []).some(({ key }) => key === uninitializedTaintKey);

test('for any node and any answer: two writes at most, nothing of another writer lost, and the second pass writes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(anyNode, optional(anyResult), fc.boolean(), async (before, result, runsRoutes) => {
      const { node: after, api } = await bring(before, result, { runsRoutes });
      assert.ok(api.writes.length <= 2);

      const strip = (node: Node): unknown => {
        const { metadata = {}, spec = {}, status = {}, ...rest } = node;
        const { labels: _labels, resourceVersion: _version, ...otherMetadata } = metadata;
        const { taints: _taints, providerID: _id, ...otherSpec } = spec;
        const { addresses: _addresses, conditions: _conditions, ...otherStatus } = status;
        return { ...rest, otherMetadata, otherSpec, otherStatus };
      };
      assert.deepEqual(strip(after), strip(before));
      const others = (node: Node): unknown => node.spec?.taints?.filter(({ key }) => key !== uninitializedTaintKey);
      assert.deepEqual(others(after), others(before));
      assert.deepEqual(
        after.status?.conditions?.slice(0, before.status?.conditions?.length),
        before.status?.conditions,
      );
      if (before.spec?.providerID) assert.equal(after.spec?.providerID, before.spec.providerID);
      for (const [key, was] of Object.entries(before.metadata?.labels ?? {})) {
        if (!key.includes('kubernetes.io')) assert.equal(after.metadata?.labels?.[key], was);
      }
      if (before.status?.addresses?.length) assert.ok(after.status?.addresses?.length);

      const second = await bring(after, result, { runsRoutes });
      assert.deepEqual(second.api.writes, []);
      assert.deepEqual(second.node.spec, after.spec);
    }),
    { numRuns: 500 },
  );
});

test('for any node and any answer: the taint goes only together with a provider ID and addresses', async () => {
  await fc.assert(
    fc.asyncProperty(anyNode, optional(anyResult), async (before, result) => {
      const { node: after, api } = await bring(before, result);
      if (!tainted(before) || tainted(after)) return;
      assert.equal(result?.kind, 'found');
      assert.ok(after.spec?.providerID && after.status?.addresses?.length);
      assert.equal(api.writes.at(-1)?.subresource, '');
    }),
    { numRuns: 500 },
  );
});

test('for any node: an answer that is no instance writes nothing to a tainted node, and no address to any', async () => {
  await fc.assert(
    fc.asyncProperty(anyNode, anyResult, async (before, result) => {
      if (result.kind === 'found') return;
      const { node: after, api } = await bring(before, result);
      if (tainted(before)) assert.deepEqual(api.writes, []);
      assert.deepEqual(after.status, before.status);
    }),
  );
});
