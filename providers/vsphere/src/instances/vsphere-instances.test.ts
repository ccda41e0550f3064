import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type InstanceHint } from '@outrigger/cloud-provider';
import type { InventoryObject } from '../inventory/vcenter.ts';
import { swapped } from './bios-uuid.ts';
import { nic } from './machine.suite.ts';
import { IDENTITIES, node, TwoVcenters, uuidOf } from './two-vcenters.suite.ts';

const down = (): Error => new CloudError('unavailable', 'it is down');
const there = (number: number): string => `running vsphere://${uuidOf(number)}`;
const isNew = { providerID: undefined };
const nodes = (...numbers: readonly number[]): ReturnType<typeof node>[] => numbers.map((number) => node(number));

test('one list a vCenter for all nodes, in the order of the question', async () => {
  const site = new TwoVcenters();
  for (const number of [1, 3, 5]) site.put(site.a, number);
  for (const number of [2, 4]) site.put(site.b, number);
  assert.deepEqual(await site.kinds(...nodes(5, 2, 9, 1, 4)), [there(5), there(2), 'missing', there(1), there(4)]);
  assert.deepEqual(
    [site.a.requests, site.b.requests],
    [
      ['identify', 'machines'],
      ['identify', 'machines'],
    ],
  );
  const [answer] = await site.lookUp(nodes(1, 2, 3));
  assert.equal(answer?.place, IDENTITIES.join(','));
  // Who each is, is asked for once.
  assert.deepEqual(site.a.requests.slice(2), ['machines']);
  assert.deepEqual(await site.kinds(), []);
});

test('who a vCenter is, is asked once by all who ask at the same time', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1);
  await Promise.all([site.kinds(node(1)), site.kinds(node(1)), site.read(node(1))]);
  assert.equal(site.a.requests.filter((method) => method === 'identify').length, 1);
});

test('a new node is found by the UUID that its kubelet reports, in either byte order and in any case', async () => {
  const site = new TwoVcenters();
  site.put(site.b, 1);
  for (const systemUUID of [uuidOf(1), swapped(uuidOf(1)), uuidOf(1).toUpperCase()]) {
    assert.deepEqual(await site.kinds(node(1, { ...isNew, systemUUID })), [there(1)]);
    assert.deepEqual(await site.kinds(node(1, { ...isNew, systemUUID }), ...nodes(7, 8, 9)), [
      there(1),
      'missing',
      'missing',
      'missing',
    ]);
  }
  // One alone needs no list.
  assert.ok(site.a.requests.includes('findByUuid'));
});

test('the name is a hint of a node that reports no UUID: of the guest, as a whole, in any case', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1, { guestHostName: 'Node-1' });
  site.put(site.a, 2, { guestHostName: 'node-2.example' });
  assert.deepEqual(await site.kinds(node(1, isNew), node(2, isNew)), [there(1), 'missing']);
  assert.deepEqual(await site.kinds(node(1, { ...isNew, systemUUID: uuidOf(7) })), ['missing']);
  assert.equal(await site.read(node(1, isNew)), there(1));
  assert.equal(await site.read(node(2, isNew)), 'missing');
});

test('several machines of one name or UUID are a conflict, unless one alone runs', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1);
  site.put(site.b, 7, { guestHostName: 'node-1', biosUuid: uuidOf(1) });
  const [byName = '', byID = ''] = await site.kinds(node(1, isNew), node(1), node(8));
  for (const said of [byName, byID])
    assert.match(said, /^failed: node node-1: 2 machines have its BIOS UUID or its host name: /);
  site.put(site.b, 7, { guestHostName: 'node-1', biosUuid: uuidOf(1), powerState: 'poweredOff' });
  assert.deepEqual(await site.kinds(node(1, isNew), node(1)), [there(1), there(1)]);
});

test('a copy that runs while the machine of the node is off, in the same vCenter, is not taken for it', async () => {
  const site = new TwoVcenters();
  const reference = { annotations: { 'vsphere.outrigger.dev/machine': `${IDENTITIES[0]}/vm-1` } };
  site.put(site.a, 1, { powerState: 'poweredOff' });
  site.put(site.a, 7, { biosUuid: uuidOf(1) });
  const both =
    'failed: node node-1: 2 machines have its BIOS UUID or its host name: machine-1 (vm-1), machine-7 (vm-7); give all but one another';
  assert.deepEqual(await site.kinds(node(1, reference), node(8)), [both, 'missing']);
  assert.equal(await site.read(node(1, reference)), both);
  // As long as vCenter knows it: what is orphaned may have been registered anew.
  site.put(site.a, 1, { powerState: 'poweredOff', connectionState: 'orphaned' });
  assert.equal(await site.read(node(1, reference)), there(1));
  // A replica has taken its place.
  site.put(site.a, 1, { powerState: 'poweredOff' });
  site.a.inventory.delete('vm-7');
  site.put(site.b, 7, { biosUuid: uuidOf(1) });
  assert.equal(await site.read(node(1, reference)), there(1));
});

test('two sections of one vCenter show the same machine', async () => {
  const site = new TwoVcenters();
  site.b.identity = site.a.identity;
  for (const vcenter of [site.a, site.b]) site.put(vcenter, 1);
  assert.deepEqual(await site.kinds(node(1), node(1, isNew)), [there(1), there(1)]);
  assert.equal(await site.read(node(1)), there(1));
  for (const vcenter of [site.a, site.b]) vcenter.inventory.clear();
  assert.match(await site.read(node(1)), /^absent: /);
});

test('a provider ID names one machine in either byte order and in any case', () => {
  const { instances } = new TwoVcenters();
  const forms = [uuidOf(1), uuidOf(1).toUpperCase(), swapped(uuidOf(1))];
  const machines = new Set(forms.map((uuid) => instances.machineOf(`vsphere://${uuid}`)));
  assert.equal(machines.size, 1);
  assert.notEqual(instances.machineOf(`vsphere://${uuidOf(2)}`), [...machines][0]);
  assert.equal(instances.machineOf(`aws://${uuidOf(1)}`), undefined);
});

test("templates, broken IDs and another provider's are no machine of ours", async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1, { isTemplate: true });
  assert.deepEqual(
    await site.kinds(node(1), node(1, { providerID: `aws://${uuidOf(1)}` }), node(1, { providerID: 'vsphere://x' })),
    ['missing', 'missing', 'failed: node node-1: the provider ID vsphere://x is not vsphere://<BIOS UUID>'],
  );
});

test('a vCenter that is down fails its nodes, and holds up none of the others', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1);
  site.put(site.b, 2);
  site.b.fault = down;
  assert.deepEqual(await site.kinds(...nodes(1, 2, 3)), [there(1), 'failed: it is down', 'failed: it is down']);
  assert.deepEqual(await site.kinds(...nodes(1)), [there(1)]);
  assert.equal(await site.read(node(1)), there(1));
  assert.equal(await site.read(node(2)), 'failed: it is down');
  site.a.fault = down;
  await assert.rejects(site.lookUp(nodes(1, 2)), /it is down/);
});

test('a replica that is off tells nothing of a machine whose vCenter is down', async () => {
  const site = new TwoVcenters();
  const one = node(1, { annotations: { 'vsphere.outrigger.dev/machine': `${IDENTITIES[0]}/vm-1` } });
  site.put(site.a, 1);
  site.put(site.b, 7, { biosUuid: uuidOf(1), powerState: 'poweredOff' });
  site.a.fault = down;
  assert.deepEqual(await site.kinds(one), ['failed: it is down']);
  assert.deepEqual(await site.kinds(one, ...nodes(7, 8, 9)), Array(4).fill('failed: it is down'));
  assert.equal(await site.read(one), 'failed: it is down');
  // It has taken the other's place.
  site.put(site.b, 7, { biosUuid: uuidOf(1) });
  assert.equal(await site.read(one), there(1));
  site.put(site.b, 7, { biosUuid: uuidOf(1), powerState: 'poweredOff' });
  assert.equal(await site.read(one), `shutdown vsphere://${uuidOf(1)}`, 'where the node was seen last');
});

test('only of datacenters that are configured', async () => {
  const site = new TwoVcenters({ datacenters: ['dc1'] });
  site.put(site.a, 1, { parent: 'dc1' });
  site.put(site.a, 2, { parent: 'dc2' });
  assert.deepEqual(await site.kinds(...nodes(1, 2)), [there(1), 'missing']);
});

test('off and suspended are shut down, where vCenter knows it', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1, { powerState: 'poweredOff' });
  site.put(site.a, 2, { powerState: 'suspended' });
  site.put(site.a, 3, { powerState: 'poweredOff', connectionState: 'disconnected' });
  site.put(site.a, 4, { powerState: undefined });
  const kinds = await site.kinds(...nodes(1, 2, 3, 4));
  assert.deepEqual(
    kinds.map((kind) => kind.split(' ')[0]),
    ['shutdown', 'shutdown', 'running', 'running'],
  );
});

test('metadata: type, addresses with reasons, zone and region, and where it is', async () => {
  const site = new TwoVcenters({ zones: { zone: 'k8s-zone', region: 'k8s-region' } });
  for (const number of [1, 2, 3]) site.put(site.a, number, { parent: `group-${number}` });
  site.a.objects.set('host-1', { type: 'HostSystem', reference: 'host-1', name: 'esx' });
  site.a.objects.set('group-2', { type: 'Folder', reference: 'group-2', name: 'f' });
  site.a.attached.set('host-1', [{ category: 'k8s-zone', name: 'z1' }]);
  site.a.attached.set('group-2', [
    { category: 'k8s-zone', name: 'z2' },
    { category: 'k8s-region', name: 'r' },
  ]);
  const [first, second, third] = await site.lookUp(
    [node(1), node(2), node(3, { ...isNew, systemUUID: uuidOf(3) })],
    'metadata',
  );
  assert.deepEqual(second?.result, {
    kind: 'found',
    instance: {
      providerID: `vsphere://${uuidOf(2)}`,
      state: 'running',
      type: 'vsphere-vm.cpu-4.mem-16gb.os-ubuntu',
      zone: 'z2',
      region: 'r',
      addresses: [
        { type: 'Hostname', address: 'node-2' },
        { type: 'InternalIP', address: '10.0.0.5' },
        { type: 'ExternalIP', address: '10.0.0.5' },
      ],
      addressesBy: 'guest',
      annotations: { 'vsphere.outrigger.dev/machine': `${IDENTITIES[0]}/vm-2` },
    },
  });
  assert.deepEqual(second?.notes, [
    '10.0.0.5 in the network VM Network is InternalIP: the first ipv4 address, and is ExternalIP: the first ipv4 address.',
  ]);
  // Without tags of both categories, a node that is initialised keeps what it has, and a new one waits.
  assert.ok(first?.result.kind === 'found' && first.result.instance.zone === undefined);
  assert.ok(third?.result.kind === 'failed');
  assert.match(third.result.error.message, /^machine machine-3 \(vm-3\) of node node-3: neither its host/);
  assert.deepEqual(site.a.requests, ['identify', 'machines', 'tags', 'tags']);
});

test("a machine's name in vCenter is told where it is the node's; what the guest is called is not", async () => {
  const site = new TwoVcenters();
  const names = ['Node-1', 'node-2.example', 'node-33', 'other'];
  for (const [at, name] of names.entries()) site.put(site.a, at + 1, { name });
  const answers = await site.lookUp(nodes(1, 2, 3, 4), 'metadata');
  const told = answers.map(({ result }) => (result.kind === 'found' ? result.instance.name : result.kind));
  assert.deepEqual(told, ['Node-1', 'node-2.example', undefined, undefined]);
});

test('maintenance of the host: planned while it enters, in progress while it is in it', async () => {
  const site = new TwoVcenters({ zones: { zone: 'z', region: 'r' } });
  for (const number of [1, 2, 3]) site.put(site.a, number, { host: `host-${number}` });
  const told = async (): Promise<unknown> => {
    const answers = await site.lookUp(nodes(1, 2, 3), 'metadata');
    return answers.map(({ result }) => (result.kind === 'found' ? result.instance.maintenance : result.kind));
  };
  for (const [number, maintenance] of [undefined, 'entering', 'entered'].entries()) {
    const reference = `host-${number + 1}`;
    site.a.objects.set(reference, { type: 'HostSystem', reference, name: '', maintenance } as InventoryObject);
  }
  assert.deepEqual(await told(), [
    undefined,
    { state: 'planned', reason: 'its host enters maintenance mode' },
    { state: 'in-progress', reason: 'its host is in maintenance mode' },
  ]);
  site.a.objects.clear();
  assert.deepEqual(await told(), [undefined, undefined, undefined]);
});

test('tags that cannot be read fail the metadata of that vCenter, and no state', async () => {
  const site = new TwoVcenters({ zones: { zone: 'z', region: 'r' } });
  site.put(site.a, 1);
  site.put(site.b, 2);
  site.a.fault = (method) => (method === 'tags' ? down() : undefined);
  const [first, second] = await site.lookUp(nodes(1, 2), 'metadata');
  assert.deepEqual([first?.result.kind, second?.result.kind], ['failed', 'found']);
  assert.deepEqual(await site.kinds(...nodes(1, 2)), [there(1), there(2)]);
});

test('Tools that are not up: a new node waits, one that is initialised keeps its addresses', async () => {
  const site = new TwoVcenters();
  site.put(site.a, 1, { nics: [] });
  const [known, fresh] = await site.lookUp([node(1), node(1, { ...isNew, systemUUID: uuidOf(1) })], 'metadata');
  assert.ok(known?.result.kind === 'found' && known.result.instance.addresses === undefined);
  assert.deepEqual(known.notes, ['VMware Tools report no network interfaces of the guest yet.']);
  assert.ok(fresh?.result.kind === 'failed');
  assert.match(fresh.result.error.message, /VMware Tools report no network interfaces/);
  site.put(site.a, 1, { nics: [nic('lan', '10.0.0.9')] });
  const [up] = await site.lookUp([node(1, { ...isNew, systemUUID: uuidOf(1) })], 'metadata');
  assert.ok(up?.result.kind === 'found' && up.result.instance.addresses?.length === 3);
});

test('changes of machines that are nodes are hints, of all vCenters, until the call ends', async () => {
  const site = new TwoVcenters();
  for (const number of [1, 2]) site.put(site.a, number);
  site.put(site.b, 3);
  await site.lookUp(nodes(1, 3, 4));
  const hints: InstanceHint[] = [];
  const listening = (async () => {
    for await (const hint of site.instances.changes(site.call)) hints.push(hint);
  })();
  await site.clock.settle();
  hints.length = 0;
  site.a.change({ reference: 'vm-1', kind: 'modify' });
  site.a.change({ reference: 'vm-2', kind: 'modify' });
  site.b.change({ reference: 'vm-3', kind: 'leave' });
  await site.clock.settle();
  assert.deepEqual(hints, [{ providerID: `vsphere://${uuidOf(1)}` }, { providerID: `vsphere://${uuidOf(3)}` }]);
  site.a.fault = down;
  site.a.change({ kind: 'modify' });
  site.b.change({ kind: 'modify' });
  await site.clock.settle();
  assert.deepEqual(hints.slice(2), [{}]);
  site.a.fault = undefined;
  await site.clock.advance(5_000);
  site.a.change({ reference: 'vm-1', kind: 'modify' });
  await site.clock.settle();
  assert.ok(hints.slice(3).some(({ providerID }) => providerID === `vsphere://${uuidOf(1)}`));
  site.aborter.abort();
  await listening;
});

test('while nothing changes, a refresh asks nothing: for half an hour, and only of nodes whose machines are known', async () => {
  const site = new TwoVcenters({ zones: { zone: 'z', region: 'r' } });
  for (const number of [1, 2, 3]) site.put(site.a, number);
  site.put(site.b, 4);
  const all = nodes(1, 2, 3, 4);
  const refresh = async (...asked: readonly ReturnType<typeof node>[]): Promise<number> => {
    await site.clock.advance(1);
    const before = site.a.requests.length + site.b.requests.length;
    await site.lookUp(asked.length > 0 ? asked : all, 'metadata');
    return site.a.requests.length + site.b.requests.length - before;
  };
  assert.ok((await refresh()) > 0);
  // Nobody follows the changes yet.
  assert.ok((await refresh()) > 0);
  const listening = (async () => {
    for await (const _ of site.instances.changes(site.call));
  })();
  await site.clock.advance(1);
  assert.ok((await refresh()) > 0);
  assert.equal(await refresh(), 0);
  assert.equal(await refresh(node(2)), 0);
  const [before, after] = [await site.lookUp(all, 'metadata'), await site.lookUp(all, 'metadata')];
  assert.deepEqual(before, after);
  assert.ok((after[0]?.asOf ?? Infinity) < site.clock.monotonic());
  // State decides about taints and deletions.
  assert.ok((await site.lookUp(all, 'state')).every(({ asOf }) => asOf === site.clock.monotonic()));
  assert.ok((await refresh(node(2), node(9))) > 0);
  assert.ok((await refresh(node(2, { ...isNew, systemUUID: uuidOf(2) }))) > 0);
  site.a.change({ reference: 'vm-77', kind: 'modify' });
  await site.clock.advance(1);
  assert.equal(await refresh(), 0, 'a machine that is no node has changed');
  site.put(site.b, 4, { nics: [nic('lan', '10.0.0.44')] });
  await site.clock.advance(1);
  const [, , , fourth] = await site.lookUp(all, 'metadata');
  assert.ok(
    fourth?.result.kind === 'found' && fourth.result.instance.addresses?.some(({ address }) => address === '10.0.0.44'),
  );
  assert.equal(await refresh(), 0);
  await site.clock.advance(1_800_000);
  assert.ok((await refresh()) > 0, 'tags change without a hint');
  assert.equal(await refresh(), 0);
  site.a.fault = down;
  site.a.change({ kind: 'modify' });
  await site.clock.advance(1);
  site.a.fault = undefined;
  assert.ok((await refresh()) > 0, 'changes may have been missed');
  assert.ok((await refresh()) > 0, 'and are still');
  site.aborter.abort();
  await listening;
});
