/** When a node may be deleted: only where its machine is proved to be gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { REFERENCE_ANNOTATION } from './reference.ts';
import { IDENTITIES, node, TwoVcenters, uuidOf } from './two-vcenters.suite.ts';

const there = (number: number): string => `running vsphere://${uuidOf(number)}`;
const noted = (number: number, vcenter: string = IDENTITIES[0]): { readonly annotations: Record<string, string> } => ({
  annotations: { [REFERENCE_ANNOTATION]: `${vcenter}/vm-${number}` },
});

/** `node-1` was seen in the first vCenter, `node-2` is there. */
async function seen(): Promise<TwoVcenters> {
  const site = new TwoVcenters();
  site.put(site.a, 1);
  site.put(site.a, 2);
  assert.deepEqual(await site.kinds(node(1), node(2)), [there(1), there(2)]);
  return site;
}

test('gone from all vCenters: the proof names the calls', async () => {
  const site = await seen();
  site.a.inventory.delete('vm-1');
  assert.deepEqual(await site.kinds(node(1), node(2)), ['missing', there(2)]);
  const answer = await site.instances.read(node(1), 'state', site.call);
  assert.deepEqual(answer.result, {
    kind: 'absent',
    proof: `none of the 2 vCenters has a machine with the BIOS UUID ${uuidOf(1)} in either byte order, and ${IDENTITIES[0]}/vm-1 is ManagedObjectNotFound`,
    wasHere: true,
  });
  assert.equal(answer.place, IDENTITIES.join(','));
});

test('after a restart, by the annotation of the node; without it, nothing is proved', async () => {
  const site = await seen();
  site.a.inventory.delete('vm-1');
  site.restart();
  assert.match(await site.read(node(1)), /^failed: node node-1: no vCenter has .*delete the node$/);
  assert.match(await site.read(node(1, noted(1))), /^absent: /);
  for (const text of ['', 'vm-1', `${IDENTITIES[0]}/`, '../..', `${IDENTITIES[0]}/vm 1`]) {
    const annotations = { [REFERENCE_ANNOTATION]: text };
    assert.match(await site.read(node(1, { annotations })), /^failed: /);
  }
});

test('a node without a provider ID is never gone', async () => {
  const site = await seen();
  site.a.inventory.delete('vm-1');
  assert.equal(await site.read(node(1, { ...noted(1), providerID: undefined })), 'missing');
  assert.equal(await site.read(node(1, { ...noted(1), providerID: undefined, systemUUID: uuidOf(1) })), 'missing');
});

for (const restarted of [false, true]) {
  const when = restarted ? ', after a restart' : '';
  const setUp = async (): Promise<TwoVcenters> => {
    const site = await seen();
    if (restarted) site.restart();
    return site;
  };
  const one = restarted ? node(1, noted(1)) : node(1);

  test(`inaccessible, orphaned or invalid: vCenter knows no UUID, and the machine is there, or may be${when}`, async () => {
    for (const connectionState of ['inaccessible', 'orphaned', 'invalid', 'disconnected'] as const) {
      const site = await setUp();
      const lost =
        connectionState === 'disconnected' ? {} : { biosUuid: undefined, guestHostName: undefined, nics: [] };
      site.put(site.a, 1, { connectionState, ...lost });
      // This process has not seen which UUID the machine of the annotation has.
      const isDoubtful = restarted && connectionState !== 'disconnected';
      const machine = `^failed: node node-1: the machine machine-1 .vm-1. is ${connectionState} and may be its machine`;
      assert.match(await site.read(one), new RegExp(isDoubtful ? machine : there(1), 'u'));
      const kinds = [isDoubtful ? 'missing' : there(1), there(2), 'missing'];
      assert.deepEqual(await site.kinds(one, node(2), node(3)), kinds);
    }
  });

  test(`in a folder that may not be read any more${when}`, async () => {
    const site = await setUp();
    site.a.forbidden.add('vm-1');
    assert.deepEqual(await site.kinds(one), ['missing']);
    assert.match(
      await site.read(one),
      /^failed: node node-1: its machine vm-1 of the vCenter a may not be read: grant .*; NoPermission: vm-1$/,
    );
  });

  test(`registered anew under another reference, and inaccessible${when}`, async () => {
    const site = await setUp();
    site.a.inventory.delete('vm-1');
    site.put(site.b, 9, {
      name: '/vmfs/volumes/ds/NODE-1/node-1.vmx',
      biosUuid: undefined,
      guestHostName: undefined,
      connectionState: 'inaccessible',
    });
    assert.match(await site.read(one), /^failed: node node-1: the machine .* is inaccessible and may be its machine/);
    // Another's that is lost says nothing of it.
    site.put(site.b, 9, { name: 'other', biosUuid: undefined, guestHostName: undefined, connectionState: 'orphaned' });
    assert.match(await site.read(one), /^absent: /);
  });

  test(`registered anew, and well${when}`, async () => {
    const site = await setUp();
    site.a.inventory.delete('vm-1');
    site.put(site.b, 9, { biosUuid: uuidOf(1) });
    assert.equal(await site.read(one), there(1));
  });

  test(`machines that a list withholds${when}`, async () => {
    const site = await setUp();
    site.a.inventory.delete('vm-1');
    site.b.withheld.push({ reference: 'vm-77', fault: 'NoPermission' });
    assert.match(await site.read(one), /^failed: node node-1: the vCenter b withholds vm-77 \(NoPermission\)/);
    site.b.withheld.splice(0, 1, { reference: 'vm-77', fault: 'ManagedObjectNotFound' });
    assert.match(await site.read(one), /^absent: /);
  });

  test(`any request of any vCenter that fails leaves it unknown${when}`, async () => {
    for (const method of ['identify', 'findByUuid', 'machine', 'machines']) {
      for (const vcenter of ['a', 'b'] as const) {
        if (vcenter === 'b' && method === 'machine') continue;
        for (const code of ['not-found', 'unavailable', 'unauthenticated', 'forbidden', 'timeout'] as const) {
          const site = await setUp();
          site.a.inventory.delete('vm-1');
          site[vcenter].fault = (asked) => (asked === method ? new CloudError(code, `${method}: ${code}`) : undefined);
          assert.ok((await site.read(one)).endsWith(`${method}: ${code}`));
          site[vcenter].fault = undefined;
          assert.match(await site.read(one), /^absent: /);
        }
      }
    }
  });

  test(`another vCenter at the address, in which all seem to be gone${when}`, async () => {
    const site = await setUp();
    site.a.inventory.clear();
    site.a.identity = 'cccccccc-0000-4000-8000-000000000003';
    const expected = restarted
      ? /^failed: node node-1: its machine vm-1 was in the vCenter aaaaaaaa-.* not among those of the cloud config/
      : /^failed: the vCenter at a was aaaaaaaa-.* and is now cccccccc-/;
    assert.match(await site.read(one), expected);
  });

  test(`searches and lists that are empty${when}`, async () => {
    const site = await setUp();
    site.a.isEmpty = true;
    assert.deepEqual(await site.kinds(one), ['missing']);
    assert.equal(await site.read(one), there(1));
  });
}

test('the machine was given another UUID', async () => {
  const site = await seen();
  site.put(site.a, 1, { biosUuid: uuidOf(8) });
  assert.match(await site.read(node(1)), /^failed: .* has the BIOS UUID .*000000000008 now; delete the node/);
});

test('the kubelet reports another machine, which is there', async () => {
  const site = await seen();
  site.a.inventory.delete('vm-1');
  site.put(site.b, 8, { guestHostName: 'node-1' });
  assert.match(
    await site.read(node(1, { systemUUID: uuidOf(8) })),
    /^failed: .* its kubelet reports the machine vm-8 /,
  );
  assert.match(await site.read(node(1, { systemUUID: uuidOf(9) })), /^absent: /);
});

test('reads at the same time share a list that began after each of them', async () => {
  const site = new TwoVcenters();
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  for (const number of numbers) site.put(site.a, number);
  await site.kinds(...numbers.map((number) => node(number)));
  site.a.inventory.clear();
  site.a.requests.length = 0;
  const said = await Promise.all(numbers.map((number) => site.read(node(number))));
  assert.ok(said.every((one) => one.startsWith('absent: ')));
  const lists = site.a.requests.filter((method) => method === 'machines').length;
  assert.ok(lists <= 3, `${lists} lists`);
});

test('a machine that comes to another vCenter while the first is asked is not gone', async () => {
  const site = await seen();
  const moved = site.a.inventory.get('vm-1');
  assert.ok(moved);
  // Asked before it came; the first is asked after it went.
  site.b.fault = (method) => {
    if (method !== 'findByUuid') return undefined;
    site.a.inventory.delete('vm-1');
    setImmediate(() => site.b.put({ ...moved, reference: 'vm-50' }));
    return undefined;
  };
  site.a.inventory.delete('vm-1');
  const machine = site.a.machine.bind(site.a);
  site.a.machine = async (...asked) => {
    await new Promise((resolve) => void setImmediate(resolve));
    return machine(...asked);
  };
  assert.match(await site.read(node(1)), /^failed: node node-1: the search .* found no machine, and the list .*vm-50/);
  assert.equal(await site.read(node(1)), there(1));
});

test('what the search by UUID finds is not gone: a template, or one whose configuration is lost by then', async () => {
  for (const overrides of [{ isTemplate: true }, { biosUuid: undefined, connectionState: 'inaccessible' }] as const) {
    const site = await seen();
    site.a.inventory.delete('vm-1');
    site.put(site.b, 9, { name: 'other', guestHostName: undefined, ...overrides });
    site.b.findByUuid = async (uuid) => Promise.resolve(uuid === uuidOf(1) ? ['vm-9'] : []);
    assert.match(await site.read(node(1, noted(1))), /^failed: node node-1: the vCenter b finds other \(vm-9\)/);
  }
});

test('the host part of the name is enough for a hidden machine to be taken for it', async () => {
  const site = await seen();
  site.a.inventory.delete('vm-1');
  site.restart();
  const one = node(1, { ...noted(1), name: 'worker-1.example.com' });
  const lost = { biosUuid: undefined, guestHostName: undefined, connectionState: 'orphaned' } as const;
  for (const name of ['WORKER-1', '/vmfs/volumes/ds/worker-1/worker-1.vmx', 'worker-1.other.example']) {
    site.put(site.b, 9, { name, ...lost });
    assert.match(await site.read(one), /^failed: .* is orphaned and may be its machine/);
  }
  site.put(site.b, 9, { name: 'worker-10', ...lost });
  assert.match(await site.read(one), /^absent: /);
});

test('where two sections name one vCenter, or its copy, its machine is read by both', async () => {
  const site = await seen();
  site.b.identity = site.a.identity;
  site.a.inventory.delete('vm-1');
  site.restart();
  site.put(site.b, 1, { biosUuid: undefined, guestHostName: undefined, connectionState: 'inaccessible' });
  assert.match(await site.read(node(1, noted(1))), /^failed: .* \(vm-1\) is inaccessible and may be its machine/);
});

test('on the word of the annotation alone, which its kubelet may write, no machine is the node’s', async () => {
  const site = await seen();
  site.restart();
  const lost = { biosUuid: undefined, connectionState: 'inaccessible' } as const;
  // Node 1 says that it is on the machine of node 2, of which the UUID is known, and then is not.
  const hostile = node(1, noted(2));
  site.a.inventory.delete('vm-1');
  assert.deepEqual(await site.kinds(hostile, node(8), node(9)), Array(3).fill('missing'));
  assert.match(await site.read(hostile), /^failed: .* has the BIOS UUID /);
  site.put(site.a, 2, lost);
  assert.deepEqual(await site.kinds(hostile, node(8), node(9)), Array(3).fill('missing'));
  assert.match(await site.read(hostile), /^failed: .* is inaccessible and may be its machine; repair it/);
  const [answer] = await site.lookUp([hostile, node(8), node(9)], 'metadata');
  assert.equal(answer?.result.kind, 'missing');
  // What this process has seen itself is no such word.
  const other = await seen();
  other.put(other.a, 1, lost);
  assert.equal(await other.read(node(1, noted(1))), there(1));
});
