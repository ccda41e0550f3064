/** What people read, whole: a changed word is a changed line here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adaptLoadBalancers, CloudError, type Route } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { factOfAnswer } from './answer-words.ts';
import { noEvidence, withLookUp, withRead } from './node-lifecycle/evidence.ts';
import { deletionFailedNote } from './node-lifecycle/lifecycle-notes.ts';
import { factsOfEvidence, factsOfLifecyclePlan } from './node-lifecycle/lifecycle-words.ts';
import { planNodeLifecycle } from './node-lifecycle/plan.ts';
import { factsOfNodePlan } from './node/node-words.ts';
import { planNode } from './node/plan.ts';
import { invalidLabelsNote } from './node/refresh.ts';
import { removalFailedNote } from './orphans/orphan-words.ts';
import type { Orphan } from './orphans/orphan.ts';
import { failureNote as routeFailureNote } from './route/failure-note.ts';
import type { CreateRoute } from './route/planned-route.ts';
import { factOfRoute, notedDelete } from './route/route-words.ts';
import { factsOfParts } from './load-balancer/load-balancer-words.ts';
import { factsOfService, factsOfServicePlan } from './service/service-words.ts';
import { planService } from './service/plan.ts';
import { heldNote, hiddenNote, missingNote, noNodesNote } from './service/service-events.ts';

const texts = (facts: readonly { readonly text: string }[]): readonly string[] => facts.map(({ text }) => text);

test('a node that waits: which answer it has, and when the cloud is asked again', () => {
  const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' as const }];
  const options = { providerName: 'memory', runsRoutes: false, nodeSyncedEvents: false };
  const answer = { asOf: 1_000, result: { kind: 'missing' } as const };
  const plan = planNode({ node: { metadata: { name: 'a' }, spec: { taints } }, answer, now: 0, options });
  assert.deepEqual(factsOfNodePlan(plan, 2_000), [
    {
      text: 'The cloud does not list a machine for node a. The taint stays; the look-up is retried. Check the name of the machine, or its provider ID.',
    },
    { text: 'Look it up in the cloud again.', inMs: 2_000 },
  ]);
  assert.deepEqual(factOfAnswer(answer, 5_000), {
    text: 'Look-up: the cloud did not list its machine (inconclusive).',
    agoMs: 4_000,
  });
});

test('a Warning says what to do', () => {
  const refused = new CloudError('forbidden', 'denied');
  const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' as const }];
  const options = { providerName: 'memory', runsRoutes: false, nodeSyncedEvents: false };
  const node = { metadata: { name: 'a' }, spec: { taints } };
  const answer = { asOf: 1_000, result: { kind: 'failed', error: refused } as const };
  const failing = planNode({ node, answer, now: 0, options });
  const route = { node, destination: '10.0.1.0/24' } as unknown as CreateRoute;
  const orphan: Orphan = { kind: 'load-balancer', uid: 'u', parts: [] } as unknown as Orphan;
  const told: readonly (readonly [string | undefined, string])[] = [
    [failing.kind === 'wait' ? failing.note.message : undefined, 'Check the cloud config and the credentials.'],
    [invalidLabelsNote('a', ['x']).message, 'Rename them in the cloud.'],
    [deletionFailedNote('a', new Error('denied')).message, 'It is retried; correct what the error names.'],
    [
      routeFailureNote(route, refused, 1)?.message,
      'It will be retried; check the routes, the quota and the credentials in the cloud.',
    ],
    [removalFailedNote(orphan, 'denied').message, 'Correct what the error names, or delete it by hand.'],
    [
      noNodesNote.message,
      'Check their provider IDs and the label node.kubernetes.io/exclude-from-external-load-balancers.',
    ],
    [
      heldNote(300).message,
      'Check their provider IDs and the label node.kubernetes.io/exclude-from-external-load-balancers.',
    ],
    [missingNote(['address a']).message, 'If it lasts, check the cloud and the permissions.'],
    [hiddenNote(['address a']).message, 'Check the tags of these parts and the permissions.'],
  ];
  for (const [message = '', remedy] of told) assert.ok(message.endsWith(` ${remedy}`), `${message} / ${remedy}`);
});

test('a node whose machine is gone: which proof there is, and until when the other is waited for', () => {
  const missing = { asOf: 1_000, result: { kind: 'missing' } as const };
  const absent = { asOf: 2_000, result: { kind: 'absent', proof: 'GET /i/1: 404' } as const };
  const evidence = withRead(withLookUp(noEvidence(0), missing), absent, 2_010);
  const node = { metadata: { name: 'a' }, spec: { providerID: 'memory://r/1' } };
  const options = { providerName: 'memory', deletionGraceMs: 30_000, unknownNodeDeletionMs: 0 };
  const plan = planNodeLifecycle({ node, evidence, now: 3_000, wallNow: 0, options });
  const situation = { plan, graceMs: 30_000, inMs: undefined, now: 3_000 };
  assert.deepEqual(factsOfLifecyclePlan(situation), [
    {
      text: 'It will be deleted if a second read after the grace period confirms that the machine does not exist. The grace period is 30 s.',
      inMs: 29_000,
    },
  ]);
  const surroundings = { isLargeShare: true, anyReady: true, isOwnPlace: false };
  const held = planNodeLifecycle({ node, evidence, now: 3_000, wallNow: 0, options, surroundings });
  const [why, again] = factsOfLifecyclePlan({ ...situation, plan: held });
  assert.match(why?.text ?? '', /--node-deletion-max-fraction/u);
  assert.deepEqual([why?.inMs, again?.text], [339_000, 'Look it up in the cloud again.']);
  assert.deepEqual(texts(factsOfEvidence(evidence, 3_000)), [
    'It was first seen not to be Ready; only later answers of the cloud count.',
    'Batched look-up: the cloud did not list its machine (inconclusive).',
    'Direct read: the cloud confirmed that its machine does not exist: GET /i/1: 404.',
    'First proof that the machine is gone: GET /i/1: 404.',
  ]);
});

test('a provider that is opaque is said to be opaque, in what there is and in what is planned', () => {
  const features = {
    protocols: ['TCP'] as const,
    mixedProtocols: false,
    ipFamilies: ['IPv4'] as const,
    dualStack: false,
    sessionAffinity: false,
    externalTrafficPolicyLocal: true,
    sourceRanges: true,
    withoutNodePorts: false,
    requestedIP: false,
  };
  const opaque = {
    exists: () => Promise.resolve(true),
    ensure: () => Promise.resolve([]),
    delete: () => Promise.resolve(),
  };
  const provider = adaptLoadBalancers(opaque, { clusterId: 'c', features, classes: [] });
  const service: Service = {
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'u',
      finalizers: ['service.kubernetes.io/load-balancer-cleanup'],
      annotations: { 'outrigger.dev/load-balancer-provider': 'old' },
    },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_080, protocol: 'TCP' }], ipFamilies: ['IPv4'] },
  };
  const options = { providerName: 'old', clusterId: 'c', classes: [], isDefault: true };
  const part = {
    kind: 'load-balancer',
    id: 'u',
    owner: { clusterId: 'c', uid: 'u' },
    state: 'ready',
    attributes: { opaque: true },
  } as const;
  const observation = { kind: 'parts', asOf: 0, parts: [part] } as const;
  const plan = planService({ service, observation, backEnds: [], believesEmpty: true, provider, options });
  assert.deepEqual(texts(factsOfServicePlan(plan)), [
    'Update load-balancer u: ensure the load balancer with 0 back ends (opaque to Outrigger).',
  ]);
  assert.deepEqual(factsOfParts([part], 7), [
    {
      text: 'The cloud has the load-balancer u: ready, owned by u of cluster c; the provider does not report what it consists of.',
      agoMs: 7,
    },
  ]);
  assert.deepEqual(texts(factsOfService(service, options)), [
    'The Service is of type LoadBalancer, without a class.',
    'This provider serves it.',
    'Its finalizer service.kubernetes.io/load-balancer-cleanup is there, and old is recorded as its owner.',
    'Its status has no address.',
  ]);
  assert.equal(
    texts(factsOfService(service, { ...options, providerName: 'new' }))[1],
    'This provider is not responsible for it.',
  );
  const { metadata } = service;
  const long = { ...metadata, annotations: { 'outrigger.dev/load-balancer-provider': 'x'.repeat(256) } };
  assert.equal(
    texts(factsOfService({ ...service, metadata: long }, options))[2],
    "Its finalizer service.kubernetes.io/load-balancer-cleanup is there, and annotation outrigger.dev/load-balancer-provider is too long: a provider's name has at most 255 characters.",
  );
});

test('a route says where it leads and whose it is, and its removal why', () => {
  const route: Route = { id: 'r-1', destination: '10.0.1.0/24', blackhole: true, ownership: 'owned' };
  assert.equal(
    factOfRoute(route, true, 0).text,
    'The cloud has the route r-1 of 10.0.1.0/24: it is a blackhole: its machine does not exist; this cluster created it.',
  );
  assert.equal(
    factOfRoute({ ...route, blackhole: false, targetNodeName: 'a', ownership: 'foreign' }, false, 0).text,
    'The cloud has the route r-1 of 10.0.1.0/24: it leads to a; this cluster did not create it and ignores it.',
  );
  assert.equal(
    notedDelete({ route, reason: 'blackhole' }).summary,
    'delete the route r-1 of 10.0.1.0/24: it leads nowhere',
  );
});
