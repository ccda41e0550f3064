/** What is decided about Services and nodes; the cases are those of upstream's `controller_test.go` and `helper_test.go`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBalancerOwnerAnnotation, type LoadBalancerFeatures } from '@outrigger/cloud-provider';
import type { Node, Service } from '@outrigger/kube';
import * as fc from 'fast-check';
import { shareWithAnnotation } from '../load-balancer/tenancy.ts';
import { adoptCondition } from './adoption.ts';
import { isBackEnd, wakesLoadBalancers } from './back-ends.ts';
import { identityOf, loadBalancerServiceOf } from './load-balancer-service.ts';
import { roleOf, type Role } from './role.ts';
import { letGoPatch, servedPatch } from './service-patch.ts';
import { sourceRangesOf } from './source-ranges.ts';
import { wakingText } from './waking-text.ts';
import { unservedOf } from './unserved.ts';
import { cleanupFinalizer, sourceRangesAnnotation } from './well-known-names.ts';

type Spec = NonNullable<Service['spec']>;
type Meta = NonNullable<Service['metadata']>;

const serviceWith = (spec: Spec = {}, metadata: Meta = {}, status: Service['status'] = {}): Service => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_080 }], ...spec },
  status,
});

const FAKE = { providerName: 'fake', isDefault: true };
const finalizers = [cleanupFinalizer];
const recorded = { finalizers, annotations: { [loadBalancerOwnerAnnotation]: 'fake' } };
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

/** `TestSyncLoadBalancerIfNeeded`, `TestNeedsCleanup`, and what the recorded owner adds. */
const roles: readonly (readonly [string, Service, Role])[] = [
  ['a Service of another type', serviceWith({ type: 'ClusterIP' }), 'leave'],
  ['one that wants a load balancer', serviceWith(), 'serve'],
  ['one with UDP', serviceWith({ ports: [{ port: 1, protocol: 'UDP' }] }), 'serve'],
  ['one of another class', serviceWith({ loadBalancerClass: 'x.example/y' }), 'leave'],
  ['one of a class that is served', serviceWith({ loadBalancerClass: 'fake.example/lb' }), 'serve'],
  ['our finalizer, wanted no more', serviceWith({ type: 'ClusterIP' }, recorded), 'clean'],
  ['our finalizer, deleted', serviceWith({}, { ...recorded, ...deleted }), 'clean'],
  ['our finalizer, still wanted', serviceWith({}, recorded), 'serve'],
  ['our finalizer, of another class now', serviceWith({ loadBalancerClass: 'x.example/y' }, recorded), 'clean'],
  ['deleted, with nothing of ours', serviceWith({}, deleted), 'leave'],
  ['a finalizer from before, deleted', serviceWith({}, { finalizers, ...deleted }), 'clean'],
  ['a finalizer from before, wanted', serviceWith({}, { finalizers }), 'serve'],
  ['a finalizer from before, another type now', serviceWith({ type: 'NodePort' }, { finalizers }), 'unclaimed'],
  [
    'a finalizer from before, another class',
    serviceWith({ loadBalancerClass: 'x.example/y' }, { finalizers }),
    'leave',
  ],
  [
    'recorded for another provider',
    serviceWith({}, { finalizers, annotations: { [loadBalancerOwnerAnnotation]: 'other' } }),
    'leave',
  ],
];

for (const [what, service, expected] of roles) {
  test(`role of ${what}: ${expected}`, () => {
    const options = { providerName: 'fake', classes: ['fake.example/lb'], isDefault: true };
    assert.equal(roleOf(service, options), expected);
  });
}

test('without being the default, a provider serves its classes only', () => {
  const options = { providerName: 'fake', classes: ['fake.example/lb'], isDefault: false };
  assert.equal(roleOf(serviceWith(), options), 'leave');
  assert.equal(roleOf(serviceWith({ loadBalancerClass: 'fake.example/lb' }), options), 'serve');
});

/** `TestNeedsUpdate`. */
const ports = (port: number, more: object = {}): Spec => ({ ports: [{ port, protocol: 'TCP', ...more }] });
const updates: readonly (readonly [string, Service, Service, boolean])[] = [
  ['the type', serviceWith(), serviceWith({ type: 'ClusterIP' }), true],
  ['the ports', serviceWith(ports(8000)), serviceWith(ports(8001)), true],
  ['the number of ports', serviceWith(ports(1)), serviceWith({ ports: [{ port: 1 }, { port: 2 }] }), true],
  ['the node port', serviceWith(ports(1, { nodePort: 20 })), serviceWith(ports(1, { nodePort: 21 })), true],
  ['the protocol', serviceWith(ports(1)), serviceWith(ports(1, { protocol: 'UDP' })), true],
  ['the name of a port', serviceWith(ports(1)), serviceWith(ports(1, { name: 'http' })), true],
  ['the UID', serviceWith({}, { uid: 'old' }), serviceWith({}, { uid: 'new' }), true],
  ['the traffic policy', serviceWith(), serviceWith({ externalTrafficPolicy: 'Local' }), true],
  [
    'the health-check port',
    serviceWith({ externalTrafficPolicy: 'Local', healthCheckNodePort: 1 }),
    serviceWith({ externalTrafficPolicy: 'Local', healthCheckNodePort: 2 }),
    true,
  ],
  ['appProtocol set', serviceWith(ports(1)), serviceWith(ports(1, { appProtocol: 'http' })), true],
  [
    'appProtocol changed',
    serviceWith(ports(1, { appProtocol: 'http' })),
    serviceWith(ports(1, { appProtocol: 'tcp' })),
    true,
  ],
  ['one family more', serviceWith({ ipFamilies: ['IPv4'] }), serviceWith({ ipFamilies: ['IPv4', 'IPv6'] }), true],
  ['one family less', serviceWith({ ipFamilies: ['IPv4', 'IPv6'] }), serviceWith({ ipFamilies: ['IPv4'] }), true],
  ['the source ranges', serviceWith(), serviceWith({ loadBalancerSourceRanges: ['10.0.0.0/8'] }), true],
  ['the affinity', serviceWith(), serviceWith({ sessionAffinity: 'ClientIP' }), true],
  ['the requested IP', serviceWith(), serviceWith({ loadBalancerIP: '192.0.2.1' }), true],
  ['an annotation', serviceWith(), serviceWith({}, { annotations: { a: 'b' } }), true],
  ['a deletion', serviceWith(), serviceWith({}, deleted), true],
  ['nothing', serviceWith(), serviceWith(), false],
  ['our own finalizer and record', serviceWith(), serviceWith({}, recorded), false],
  ['a finalizer of another', serviceWith({}, { finalizers: ['x.example/y'] }), serviceWith(), true],
  [
    'our own finalizer beside that of another',
    serviceWith({}, { finalizers: ['x.example/y'] }),
    serviceWith({}, { ...recorded, finalizers: [cleanupFinalizer, 'x.example/y'] }),
    false,
  ],
  [
    'the order of finalizers',
    serviceWith({}, { finalizers: ['x.example/y', 'x.example/z'] }),
    serviceWith({}, { finalizers: ['x.example/z', 'x.example/y'] }),
    false,
  ],
  ['the status', serviceWith(), serviceWith({}, {}, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }), false],
];

for (const [what, before, after, wakes] of updates) {
  test(`a change of ${what} ${wakes ? 'is looked at' : 'wakes nothing'}`, () => {
    assert.equal(wakingText(before) !== wakingText(after), wakes);
  });
}

/** `Test_shouldSyncUpdatedNode_*` and `Test_respectsPredicates`; readiness counts nowhere. */
const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers';
const nodeWith = (more: { spec?: Node['spec']; metadata?: Meta; ready?: string; address?: string } = {}): Node => ({
  metadata: { name: 'n', uid: 'n', ...more.metadata },
  spec: { providerID: 'fake://n', ...more.spec },
  status: {
    addresses: [{ type: 'InternalIP', address: more.address ?? '10.0.0.1' }],
    conditions: [{ type: 'Ready', status: more.ready ?? 'True' }],
  },
});
const tainted = nodeWith({ spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } });
const excluded = (value: string): Node => nodeWith({ metadata: { labels: { [exclude]: value } } });
const nodes: readonly (readonly [string, Node, boolean, boolean])[] = [
  ['a node that is not Ready', nodeWith({ ready: 'False' }), true, false],
  [
    'a node without a Ready condition',
    { ...nodeWith(), status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } },
    true,
    false,
  ],
  ['an excluded node', excluded(''), false, true],
  ['excluded=true', excluded('true'), false, true],
  ['excluded=false', excluded('false'), true, false],
  ['excluded=0', excluded('0'), true, false],
  ['excluded=no (no boolean)', excluded('no'), false, true],
  ['the taint of the autoscaler', tainted, false, false],
  ['a node that is being deleted', nodeWith({ metadata: deleted }), false, false],
  ['another provider ID', nodeWith({ spec: { providerID: 'fake://m' } }), true, true],
  ['an ID without a scheme', nodeWith({ spec: { providerID: 'i-1' } }), true, true],
  ["another provider's node", nodeWith({ spec: { providerID: 'aws:///a/i-1' } }), false, true],
  ['other addresses', nodeWith({ address: '10.0.0.2' }), true, true],
];

for (const [what, node, takesTraffic, wakes] of nodes) {
  test(`${what}: ${takesTraffic ? 'a back end' : 'no back end'}, ${wakes ? 'wakes' : 'wakes nothing'}`, () => {
    assert.equal(isBackEnd(node, FAKE), takesTraffic);
    const change = { type: 'update', key: 'n', object: node, previous: nodeWith() } as const;
    assert.equal(wakesLoadBalancers(change, FAKE), wakes);
  });
}

test('a removal that the autoscaler has called off wakes: the node may have left meanwhile', () => {
  assert.ok(wakesLoadBalancers({ type: 'update', key: 'n', object: nodeWith(), previous: tainted }, FAKE));
  assert.ok(!wakesLoadBalancers({ type: 'update', key: 'n', object: tainted, previous: tainted }, FAKE));
});

test("a node that comes wakes when it takes traffic, one that goes always; unknown machines are nobody's", () => {
  const unknown: Node = { metadata: { name: 'n' } };
  assert.ok(wakesLoadBalancers({ type: 'add', key: 'n', object: nodeWith() }, FAKE));
  assert.ok(!wakesLoadBalancers({ type: 'add', key: 'n', object: unknown }, FAKE));
  assert.ok(wakesLoadBalancers({ type: 'delete', key: 'n', previous: tainted }, FAKE));
  assert.deepEqual([isBackEnd(unknown, FAKE), isBackEnd(nodeWith(), FAKE)], [false, true]);
});

test('where a provider takes nodes of nobody known, only those of another provider of this program are left out', () => {
  const north = { providerName: 'north', isDefault: false, providers: ['north', 'south'], takesForeignNodes: true };
  const without = nodeWith();
  const uninitialized = nodeWith({
    spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }] },
  });
  for (const node of [without, uninitialized]) delete node.spec?.providerID;
  const ofProvider = (providerID: string): Node => nodeWith({ spec: { providerID } });
  const nodes = [ofProvider('north://1'), ofProvider('rke2://1'), ofProvider('south://1'), without, uninitialized];
  assert.deepEqual(
    nodes.map((node) => isBackEnd(node, north)),
    [true, true, false, true, false],
  );
  assert.ok(wakesLoadBalancers({ type: 'update', key: 'n', object: without, previous: uninitialized }, north));
  assert.ok(!wakesLoadBalancers({ type: 'update', key: 'n', object: without, previous: without }, north));
});

/** `TestGetLoadBalancerSourceRanges`. */
const ranges: readonly (readonly [readonly string[], string | undefined, readonly string[] | undefined])[] = [
  [['1.2.3.4/33'], undefined, undefined],
  [['foo.bar'], undefined, undefined],
  [['foo.bar/32'], undefined, undefined],
  [[''], undefined, undefined],
  [['fe80::1%eth0/64'], undefined, undefined],
  [[], '192.168.0.1/33', undefined],
  [[], '192.168.0.1', undefined],
  [[], '10.0.0.0/8,', undefined],
  [['192.168.0.1/32'], '10.0.0.0/8', ['192.168.0.1/32']],
  [[], ' 192.168.0.1/32 , 192.168.0.1/32 ', ['192.168.0.1/32']],
  [['10.1.2.3/8', '10.0.0.0/8'], undefined, ['10.0.0.0/8']],
  [['2001:DB8::1/32'], undefined, ['2001:db8::/32']],
  [['0.0.0.0/0'], undefined, []],
  [[], '', []],
  [[], undefined, []],
];

for (const [field, annotation, expected] of ranges) {
  test(`source ranges ${JSON.stringify(field)} and annotation ${annotation}: ${expected?.join(' ') ?? 'refused'}`, () => {
    const annotations: Record<string, string> =
      annotation === undefined ? {} : { [sourceRangesAnnotation]: annotation };
    const service = serviceWith({ loadBalancerSourceRanges: [...field] }, { annotations });
    if (expected) assert.deepEqual(sourceRangesOf(service), expected);
    else assert.throws(() => sourceRangesOf(service), { code: 'invalid', message: /is not an IP range/ });
  });
}

test('all of IPv4 is a limit for a Service that has IPv6 too', () => {
  const both: Spec = { ipFamilies: ['IPv4', 'IPv6'] };
  assert.deepEqual(sourceRangesOf(serviceWith({ ...both, loadBalancerSourceRanges: ['0.0.0.0/0'] })), ['0.0.0.0/0']);
  assert.deepEqual(sourceRangesOf(serviceWith({ ...both, loadBalancerSourceRanges: ['0.0.0.0/0', '::/0'] })), []);
});

test('each feature that is asked for and not declared is named; a provider that declares all serves all', () => {
  const service = loadBalancerServiceOf(
    serviceWith({
      ports: [
        { port: 1, protocol: 'TCP' },
        { port: 1, protocol: 'SCTP' },
      ],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
      sessionAffinity: 'ClientIP',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_001,
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      loadBalancerIP: '192.0.2.1',
    }),
  );
  const none: LoadBalancerFeatures = {
    protocols: ['TCP'],
    mixedProtocols: false,
    ipFamilies: ['IPv4'],
    dualStack: false,
    sessionAffinity: false,
    externalTrafficPolicyLocal: false,
    sourceRanges: false,
    withoutNodePorts: false,
    requestedIP: false,
  };
  assert.equal(unservedOf(service, none).length, 9);
  const all = Object.fromEntries(Object.keys(none).map((name) => [name, true]));
  const everything = {
    ...none,
    ...all,
    protocols: ['TCP', 'SCTP'],
    ipFamilies: ['IPv4', 'IPv6'],
  } as LoadBalancerFeatures;
  assert.deepEqual(unservedOf(service, everything), []);
  assert.deepEqual([service.clientIPAffinitySeconds, service.healthCheckNodePort], [10_800, 30_001]);
});

test('a patch is only made where something differs', () => {
  const ingress = [{ ip: '192.0.2.1' }];
  const now = 0;
  assert.equal(
    servedPatch(serviceWith({}, {}, { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } }), {
      ingress,
      now,
    }),
    undefined,
  );
  const annotated = serviceWith({}, { annotations: { 'cloud.test/id': 'lb-1' } });
  const given = { ingress: [], now };
  for (const annotations of [{ 'cloud.test/id': 'lb-1' }, { 'cloud.test/other': null }]) {
    assert.equal(servedPatch(annotated, { ...given, annotations }), undefined);
  }
  for (const annotations of [{ 'cloud.test/id': 'lb-2' }, { 'cloud.test/id': null }]) {
    assert.ok(servedPatch(annotated, { ...given, annotations }));
  }
  assert.equal(letGoPatch(serviceWith()), undefined);
  const proxy = servedPatch(serviceWith({}, {}, { loadBalancer: { ingress } }), {
    ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }],
    now,
  });
  assert.deepEqual(proxy?.type === 'strategic' && proxy.body, {
    metadata: { uid: 'u' },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }] } },
  });
});

test('no back end is ever chosen or dropped by readiness', () => {
  const status = fc.constantFrom('True', 'False', 'Unknown');
  const node = fc.record({ label: fc.option(fc.constantFrom('true', 'false', 'x')), taint: fc.boolean() });
  fc.assert(
    fc.property(node, status, status, ({ label, taint }, a, b) => {
      const taints = taint ? (tainted.spec?.taints ?? []) : [];
      const make = (ready: string): Node =>
        nodeWith({ ready, spec: { taints }, metadata: label === null ? {} : { labels: { [exclude]: label } } });
      assert.equal(isBackEnd(make(a), FAKE), isBackEnd(make(b), FAKE));
      assert.ok(!wakesLoadBalancers({ type: 'update', key: 'n', object: make(a), previous: make(b) }, FAKE));
    }),
  );
});

test('a text that is longer than it may be is refused by its name and the limit, and a provider never sees all of it', () => {
  const long = (length: number): string => '-eyJ'.repeat(length / 4);
  const read = [
    { name: 'fake.example/name', description: '', values: 'string' },
    { name: 'fake.example/list', description: '', values: 'string', maxLength: 4_096 },
  ] as const;
  const refusal = (spec: Spec, annotations: Record<string, string> = {}): string => {
    try {
      loadBalancerServiceOf(serviceWith(spec, { annotations }), read);
      return '';
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
  };
  assert.equal(refusal({}, { 'fake.example/name': 'x'.repeat(255), 'fake.example/list': 'x'.repeat(4_096) }), '');
  for (const [name, limit] of [
    ['fake.example/name', 255],
    ['fake.example/list', 4_096],
    [sourceRangesAnnotation, 4_096 * 64],
    [shareWithAnnotation, 4_096],
  ] as const) {
    const message = `annotation ${name} is too long: shorten it to at most ${limit} characters`;
    assert.equal(refusal({}, { [name]: long(limit + 4) }), message);
  }
  assert.match(refusal({ loadBalancerIP: long(256) }), /^spec.loadBalancerIP is too long/);
  assert.match(refusal({ loadBalancerSourceRanges: Array(4_097).fill('10.0.0.0/24') }), /more than 4096 ranges/);

  // Nor a list of more than are looked at: its length is told, and nothing of it.
  const ports = (count: number): Spec => ({ ports: Array.from({ length: count }, (_, i) => ({ port: i + 1 })) });
  assert.equal(refusal(ports(1_000)), '');
  assert.equal(refusal(ports(1_001)), 'spec.ports has more than 1000 ports; use several Services');
  const adopting = (count: number): Service => {
    const message = Array.from({ length: count }, (_, i) => `address/a-${i}`).join(' ');
    const condition = { type: adoptCondition, status: 'True' as const, reason: 'A', message, lastTransitionTime: '' };
    return serviceWith({}, {}, { conditions: [condition] });
  };
  assert.equal(loadBalancerServiceOf(adopting(200), read).adopt?.length, 200);
  assert.throws(() => loadBalancerServiceOf(adopting(201), read), {
    code: 'invalid',
    message: `the condition ${adoptCondition} names more than 200 parts`,
  });
  for (const many of [serviceWith(ports(15_000)), adopting(3_000)]) {
    const { adopt = [], ports: seen } = identityOf(many);
    assert.ok(
      seen.length <= 1_001 && adopt.length <= 201,
      'of one that is only cleaned up no more is looked at either',
    );
  }

  // Nobody reads it: kubectl's own, with the whole object in it.
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': long(240_000), 'fake.example/x': 'x' };
  const seen = loadBalancerServiceOf(serviceWith({}, { annotations: applied }), read).annotations;
  assert.deepEqual(
    Object.values(seen).map((value) => value.length),
    [4_096, 1],
  );
});
