import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance } from '@outrigger/cloud-provider';
import { StatusError } from '@outrigger/kube';
import { machine, NODE_1_ADDRESSES, nodeOf, ServingRig, type AskedName } from './serving-rig.suite.ts';

const ALL: readonly AskedName[] = NODE_1_ADDRESSES.map(({ address, type }) => [
  type.endsWith('IP') ? 'ip' : 'dns',
  address,
]);

for (const [what, names] of [
  ['its name and address', undefined],
  ['all that the cloud gives', ALL],
  ['one address', [['ip', '10.0.0.1']]],
  ['one name', [['dns', 'node-1.cloud.internal']]],
] satisfies (readonly [string, readonly AskedName[] | undefined])[]) {
  test(`approved, by one read of its machine: a kubelet asks for ${what}`, async () => {
    await using rig = new ServingRig();
    await rig.start();
    await rig.ask('csr-1', names && { names });
    assert.equal(rig.verdict('csr-1'), 'Approved');
    assert.equal(rig.reads.length, 1);
    assert.deepEqual(rig.events, []);
    const [condition] = rig.get('csr-1').status?.conditions ?? [];
    assert.equal(condition?.reason, 'ConfirmedByCloud');
  });
}

test('approved: a key that encrypts, a host name in capitals in the cloud, and a short name before the cloud has named the node', async () => {
  await using rig = new ServingRig();
  rig.cloud.set('fake://node-1', machine('fake://node-1', [{ type: 'Hostname', address: 'Node-1.Cloud' }]));
  await rig.start();
  await rig.ask('rsa', {
    usages: ['key encipherment', 'digital signature', 'server auth'],
    names: [['dns', 'Node-1.Cloud']],
  });
  await rig.ask('small', { names: [['dns', 'node-1.cloud']] });
  await rig.ask('short', { names: [['dns', 'node-1']] });
  assert.deepEqual(
    ['rsa', 'small', 'short'].map((name) => rig.verdict(name)),
    ['Approved', 'Approved', 'Approved'],
  );
});

test('approved: the cloud gives addresses alone, and calls the machine as the node is', async () => {
  await using rig = new ServingRig();
  const { instance } = machine('fake://node-1', [{ type: 'InternalIP', address: '10.0.0.1' }]) as {
    instance: Instance;
  };
  rig.cloud.set('fake://node-1', { kind: 'found', instance: { ...instance, name: 'node-1' } });
  await rig.start();
  await rig.ask('own');
  await rig.ask('other', { names: [['dns', 'node-2']] });
  assert.deepEqual([rig.verdict('own'), rig.verdict('other')], ['Approved', 'Denied']);
});

test("a guest's word for its addresses and its host name approves none of them, and denies none", async () => {
  await using rig = new ServingRig();
  const claimed: Instance = {
    providerID: 'fake://node-1',
    state: 'running',
    addresses: [
      { type: 'Hostname', address: 'kubernetes.default.svc' },
      { type: 'Hostname', address: 'node-1' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ],
    addressesBy: 'guest',
  };
  rig.cloud.set('fake://node-1', { kind: 'found', instance: claimed });
  await rig.start();
  await rig.ask('nameless', { names: [['dns', 'node-1']] });
  assert.equal(rig.verdict('nameless'), 'pending');
  rig.cloud.set('fake://node-1', { kind: 'found', instance: { ...claimed, name: 'node-1' } });
  await rig.ask('name', { names: [['dns', 'node-1']] });
  await rig.ask('address');
  await rig.ask('another', { names: [['dns', 'kubernetes.default.svc']] });
  await rig.ask('unsaid', { names: [['ip', '10.0.0.2']] });
  assert.deepEqual(
    ['name', 'address', 'another', 'unsaid'].map((name) => rig.verdict(name)),
    ['Approved', 'pending', 'pending', 'pending'],
  );
});

test('what is approved, denied, failed or signed already is left alone', async () => {
  await using rig = new ServingRig();
  await rig.start();
  for (const type of ['Approved', 'Denied', 'Failed']) {
    await rig.ask(type, { status: { conditions: [{ type, status: 'True' }] } });
  }
  await rig.ask('signed', { status: { certificate: 'AAAA' } });
  await rig.settle(60_000);
  assert.equal(rig.reads.length + rig.writes.length, 0);
});

test('a node that comes, and one that gets its provider ID, is looked at at once', async () => {
  await using rig = new ServingRig();
  rig.nodes.remove('node-1');
  rig.nodes.put(nodeOf('node-2', ''));
  await rig.start();
  await rig.ask('csr-1');
  await rig.ask('csr-2', { node: 'node-2', names: [['dns', 'node-2']] });
  assert.deepEqual([rig.verdict('csr-1'), rig.verdict('csr-2'), rig.reads.length], ['pending', 'pending', 0]);
  rig.nodes.put(nodeOf('node-1'));
  rig.nodes.put(nodeOf('node-2'));
  await rig.settle();
  assert.deepEqual([rig.verdict('csr-1'), rig.verdict('csr-2')], ['Approved', 'Approved']);
});

test('what the cloud could not say is asked again with back-off, told once, and approved when it can', async () => {
  await using rig = new ServingRig();
  rig.cloud.set('fake://node-1', { kind: 'missing' });
  await rig.start();
  await rig.ask('csr-1');
  await rig.settle(4_000);
  assert.equal(rig.reads.length, 1);
  await rig.settle(600_000);
  assert.ok(rig.reads.length < 12, `${rig.reads.length} reads`);
  assert.deepEqual(
    rig.events.map(({ about, reason }) => `${about} ${reason}`),
    ['node-1 ServingCertificatePending'],
  );
  rig.cloud.set('fake://node-1', machine('fake://node-1', NODE_1_ADDRESSES));
  await rig.settle(310_000);
  assert.equal(rig.verdict('csr-1'), 'Approved');
});

test('a request that was seen while a read was under way is answered by the next read, not by that one', async () => {
  await using rig = new ServingRig();
  let open = (): void => {};
  rig.gate = new Promise((resolve) => (open = resolve));
  await rig.start();
  await rig.ask('csr-1');
  await rig.clock.advance(10);
  await rig.ask('csr-2');
  assert.equal(rig.reads.length, 1);
  open();
  await rig.settle();
  assert.deepEqual([rig.verdict('csr-1'), rig.verdict('csr-2'), rig.reads.length], ['Approved', 'Approved', 2]);
});

test('a kubelet that makes a thousand requests costs the cloud no more than a few reads, and holds up no other', async () => {
  await using rig = new ServingRig();
  await rig.start();
  for (let i = 0; i < 1_000; i++) {
    await rig.ask(`flood-${i}`, { names: i % 2 === 0 ? [['ip', '10.0.0.2']] : undefined });
    if (i === 500)
      await rig.ask('honest', {
        node: 'node-2',
        names: [
          ['dns', 'node-2'],
          ['ip', '10.0.0.2'],
        ],
      });
    await rig.clock.advance(100);
  }
  const reads = rig.reads.filter(({ name }) => name === 'node-1');
  assert.ok(reads.length <= 7, `${reads.length} reads in 100 s`);
  assert.equal(rig.verdict('honest'), 'Approved');
  await rig.settle(600_000);
  for (let i = 0; i < 1_000; i++) assert.notEqual(rig.verdict(`flood-${i}`), 'Approved');
  assert.ok(rig.reads.length < 20, `${rig.reads.length} reads in 11 min`);
});

test('who decided between the read and the write is not overruled', async () => {
  await using rig = new ServingRig();
  rig.beforeWrite = (name) => {
    rig.beforeWrite = () => {};
    rig.put({ ...rig.get(name), status: { conditions: [{ type: 'Denied', status: 'True' }] } });
  };
  await rig.start();
  await rig.ask('csr-1');
  await rig.settle(60_000);
  assert.equal(rig.verdict('csr-1'), 'Denied');
  assert.equal(rig.writes.length, 0);
});

test('a write that fails is tried again; one whose request is gone is not', async () => {
  await using rig = new ServingRig();
  let failures = 0;
  rig.beforeWrite = (name) => {
    failures += 1;
    if (name === 'gone') throw new StatusError('PATCH', 404, { reason: 'NotFound', code: 404 });
    if (failures < 3) throw new StatusError('PATCH', 500, { reason: 'InternalError', code: 500 });
  };
  await rig.start();
  await rig.ask('csr-1');
  await rig.settle(30_000);
  assert.equal(rig.verdict('csr-1'), 'Approved');
  await rig.ask('gone');
  await rig.settle(600_000);
  assert.equal(failures, 4);
});

test('where the write fails, the machine is read again before the next try: what it was called then is not what counts', async () => {
  await using rig = new ServingRig();
  rig.beforeWrite = () => {
    rig.beforeWrite = () => {};
    rig.cloud.set(
      'fake://node-1',
      machine('fake://node-1', [
        { type: 'Hostname', address: 'node-1' },
        { type: 'InternalIP', address: '10.0.0.7' },
      ]),
    );
    throw new StatusError('PATCH', 500, { reason: 'InternalError', code: 500 });
  };
  await rig.start();
  await rig.ask('csr-1');
  await rig.settle(30_000);
  assert.deepEqual([rig.verdict('csr-1'), rig.reads.length], ['Denied', 2]);
});

test('of several providers, the one whose node it is decides, and the first says what belongs to none', async () => {
  const providerNames = ['other', 'fake'];
  await using first = new ServingRig({ providerName: 'other', providerNames, isDefault: true });
  await using second = new ServingRig({ providerName: 'fake', providerNames, isDefault: false });
  for (const rig of [first, second]) {
    rig.nodes.put(nodeOf('node-2', ''));
    await rig.start();
    await rig.ask('ours');
    await rig.ask('malformed', { usages: [] });
    await rig.ask('unknown', { node: 'node-9', usages: [] });
    await rig.ask('late', { node: 'node-2', names: [['dns', 'node-2']] });
    await rig.settle(60_000);
  }
  const verdicts = (rig: ServingRig): readonly string[] =>
    ['ours', 'malformed', 'unknown', 'late'].map((name) => rig.verdict(name));
  assert.deepEqual(verdicts(first), ['pending', 'pending', 'Denied', 'pending']);
  assert.deepEqual(verdicts(second), ['Approved', 'Denied', 'pending', 'pending']);
  assert.deepEqual(
    second.events.map(({ reason }) => reason),
    ['ServingCertificateDenied'],
  );
  second.nodes.put(nodeOf('node-2'));
  await second.settle();
  assert.equal(second.verdict('late'), 'Approved');
});

test('in a dry run nothing is approved, and what would be is shown', async () => {
  await using rig = new ServingRig({ dryRun: true });
  await rig.start();
  await rig.ask('good');
  await rig.ask('bad', { usages: [] });
  assert.deepEqual(
    rig.journal.plans().map(({ actions, subject }) => `${subject.name}: ${actions[0]?.kind}`),
    ['bad: deny-request', 'good: approve-request'].toReversed(),
  );
  assert.deepEqual(
    rig.journal.plans().map(({ actions }) => actions[0]?.changes?.map(({ field, from }) => [field, from])),
    [[['status.conditions[Approved]', undefined]], [['status.conditions[Denied]', undefined]]],
  );
  assert.equal(rig.writes.length + rig.events.length, 0);
});

/** Of a request: when it is looked at again is at the end of a line. */
function told({ controller }: ServingRig, name: string): readonly string[] {
  const { observed = [], planned = [] } = controller.explain(name) ?? {};
  return [...observed, ...planned].map(({ inMs, text }) => (inMs === undefined ? text : `${text} in ${inMs}`));
}

test('an explanation says what a request waits for, and when it is looked at again', async () => {
  await using rig = new ServingRig();
  rig.cloud.set('fake://node-1', { kind: 'missing' });
  assert.equal(rig.controller.explain('csr-1'), undefined, 'it does not run');
  await rig.start();
  assert.equal(rig.controller.explain('csr-1'), undefined, 'it is not there, or of another signer');
  await rig.ask('csr-1');
  assert.deepEqual(rig.controller.explain('csr-1')?.about, ['uid-csr-1', 'uid-node-1']);
  const observed = [
    'It was requested by "system:node:node-1".',
    'It is for "node-1", "10.0.0.1".',
    'Its node has the provider ID "fake://node-1".',
    'Direct read: the cloud did not list its machine (inconclusive).',
  ];
  const pending = 'It stays pending: the cloud does not show its machine.';
  assert.deepEqual(told(rig, 'csr-1'), [...observed, pending, 'Read its machine in the cloud. in 5000']);
  await rig.ask('csr-2', { node: 'node-9', names: [['dns', 'node-9']] });
  assert.deepEqual(told(rig, 'csr-2').slice(1), [
    'It is for "node-9".',
    'It stays pending: there is no node "node-9".',
    'Look at it again. in 5000',
  ]);
  const gate = Promise.withResolvers<void>();
  rig.gate = gate.promise;
  await rig.settle(5_000);
  assert.deepEqual(told(rig, 'csr-1').slice(-2), [
    pending,
    'Read its machine in the cloud. The request is in progress.',
  ]);
  gate.resolve();
  await rig.settle(3_600_000);
  await rig.settle(600_000);
  assert.equal(told(rig, 'csr-1').at(-1), 'Nothing: it is older than an hour; its kubelet has made another one since.');
});

test('an explanation says what was decided, what would be, and why nothing is', async () => {
  await using rig = new ServingRig();
  await rig.start();
  await rig.ask('good');
  assert.deepEqual(told(rig, 'good').slice(-2), [
    'It is Approved (ConfirmedByCloud): The cloud gives each of its names and addresses for machine "fake://node-1".',
    'Nothing: it has been decided on, or is being deleted.',
  ]);
  await rig.ask('person', { username: 'jane' });
  assert.deepEqual(told(rig, 'person'), ['It was requested by "jane".', 'Nothing: who requests it is not a kubelet.']);
  await using second = new ServingRig({ providerNames: ['fake', 'other'], dryRun: true });
  second.nodes.put(nodeOf('node-2', 'other://node-2'));
  await second.start();
  await second.ask('other', { node: 'node-2', names: [['dns', 'node-2']] });
  await second.ask('good');
  await second.ask('bad', { names: [['dns', 'node-2']] });
  assert.equal(told(second, 'other').at(-1), "Nothing: its node is another provider's.");
  assert.equal(
    told(second, 'good').at(-1),
    'Approve it: the cloud gives each of its names and addresses for machine "fake://node-1".',
  );
  assert.equal(
    told(second, 'bad').at(-1),
    'Deny it: it asks for "node-2", which the cloud does not give for machine "fake://node-1".',
  );
});

test('an explanation says that a write failed, and when it is tried again', async () => {
  await using rig = new ServingRig();
  rig.beforeWrite = () => {
    throw new StatusError('PATCH', 500, { reason: 'InternalError', code: 500 });
  };
  await rig.start();
  await rig.ask('csr-1');
  assert.equal(told(rig, 'csr-1').at(-1), 'Read its machine in the cloud. The last attempt failed. in 1000');
  assert.equal(rig.journal.applied('uid-csr-1').at(-1)?.result, 'failed');
});
