import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAddress } from '@outrigger/cloud-provider';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

const claimed = (address: string): NodeAddress[] => [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'InternalIP', address },
];

/** A node whose kubelet claims an address, before the program starts. Notes what becomes a member. */
async function openRig(): Promise<{ rig: Rig; members: () => readonly string[] }> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1', { status: { addresses: claimed('10.0.0.66') } }));
  rig.api.nodes.put({ ...nodeOf('unknown'), spec: {} });
  rig.api.apply('web', webSpec);
  const seen = new Set<string>();
  rig.provider.before = (_, { backEnds }) => {
    for (const { addresses } of backEnds) for (const { address } of addresses) seen.add(address);
  };
  return { rig, members: () => [...seen] };
}

test('what a kubelet claims while nobody looks is no member: nodes are asked about before any load balancer is', async () => {
  const { rig, members } = await openRig();
  const asked: string[] = [];
  const known = new Map<string, readonly NodeAddress[]>();
  const answer = Promise.withResolvers<void>();
  await rig.start(
    {},
    {
      cloudAddresses: ({ metadata }) => known.get(metadata?.name ?? ''),
      confirmAddress: async ({ name }) => {
        asked.push(name);
        await answer.promise;
      },
    },
  );
  await rig.clock.advance(5_000);
  assert.deepEqual(asked, ['n1']);
  assert.deepEqual(rig.cloud.parts(), []);
  known.set('n1', [{ type: 'InternalIP', address: '10.0.0.1' }]);
  answer.resolve();
  await rig.clock.advance(1_000);
  assert.equal(rig.partsOf('uid-1').length, 4);
  assert.deepEqual(members(), ['10.0.0.1']);
  await rig.stop();
});

for (const what of ['hangs', 'fails'] as const) {
  test(`a cloud that ${what} when it is asked about nodes at the start holds up load balancers for a while only`, async () => {
    const { rig, members } = await openRig();
    const confirmAddress = (): Promise<void> =>
      what === 'hangs' ? new Promise(() => {}) : Promise.reject(new Error('the cloud is down'));
    await rig.start({}, { cloudAddresses: () => undefined, confirmAddress });
    await rig.clock.advance(31_000);
    assert.equal(rig.partsOf('uid-1').length, 4);
    // It is not known that they are wrong: no member is taken away.
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.66']);
    await rig.stop();
  });
}

test('a node that cannot be asked about does not keep the answers about the others from being waited for', async () => {
  const { rig, members } = await openRig();
  rig.api.nodes.put(nodeOf('n2', { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] } }));
  const known = new Map<string, readonly NodeAddress[]>();
  await rig.start(
    {},
    {
      cloudAddresses: ({ metadata }) => known.get(metadata?.name ?? ''),
      confirmAddress: async ({ name }) => {
        if (name === 'n2') throw new Error('no such machine can be asked about');
        await rig.clock.sleep(5_000);
        known.set('n1', [{ type: 'InternalIP', address: '10.0.0.1' }]);
      },
    },
  );
  await rig.clock.advance(10_000);
  assert.equal(rig.partsOf('uid-1').length, 4);
  assert.deepEqual(members(), ['10.0.0.1', '10.0.0.2']);
  await rig.stop();
});
