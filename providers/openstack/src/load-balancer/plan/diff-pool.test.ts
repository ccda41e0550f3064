import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredMember } from '../desired/desired-tree.ts';
import type { ObservedMember, ObservedPool } from '../observed-tree.ts';
import { Rig, served, serviceNamed } from '../rig.suite.ts';
import { loadBalancerIn } from '../observed-tree.ts';
import { diffMembers } from './diff-pool.ts';

const MOST_NODES = 2_000;

for (const serial of [false, true]) {
  test(`the members of a large pool are read a few times each, not once for each other; serial: ${serial}`, async () => {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    const [part] = await rig.look(served(web, await rig.bring(web)));
    const loadBalancer = loadBalancerIn(part!);
    let reads = 0;
    const counted = <T extends DesiredMember | ObservedMember>(member: T): T =>
      Object.defineProperty({ ...member }, 'address', {
        get: () => {
          reads++;
          return member.address;
        },
      });
    const wanted = Array.from({ length: MOST_NODES }, (_, i): DesiredMember => {
      return { name: `node-${i}`, address: `10.1.${i >> 8}.${i & 255}`, port: 30_080 };
    });
    const there = wanted.map((one, i): ObservedMember => {
      return { ...one, id: `${i}`, status: 'ACTIVE', late: 'no', monitorPort: null, subnetId: null };
    });
    const pool: ObservedPool = { ...loadBalancer.children!.listeners[0]!.pool!, members: there.slice(1).map(counted) };
    const { steps } = diffMembers(wanted.slice(0, -1).map(counted), pool, { loadBalancer, serial });
    assert.equal(steps.length, serial ? 2 : 1);
    assert.ok(reads <= 20 * MOST_NODES, `${reads} reads`);
  });
}

test('a change of members that failed is held for the same members, wherever they are checked, and not for others', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const [part] = await rig.look(served(web, await rig.bring(web)));
  const loadBalancer = loadBalancerIn(part!);
  const pool = loadBalancer.children!.listeners[0]!.pool!;
  const wanted = pool.members.map(({ address, name, port }): DesiredMember => ({ address, name, port }));
  const inError = (tried?: string): ObservedPool => ({
    ...pool,
    members: pool.members.map((one) => ({ ...one, status: 'ERROR', late: tried ? 'no' : 'finish', tried })),
  });
  const options = { loadBalancer, serial: false };
  const wish = diffMembers(wanted, inError(), options).steps[0]?.mends?.wish;
  assert.ok(wish);
  const isHeld = (members: readonly DesiredMember[]): boolean =>
    diffMembers(members, inError(wish), options).isHeld === true;
  const elsewhere = wanted.map((one) => ({ ...one, monitorPort: 31_000 }));
  assert.deepEqual([wanted, elsewhere, wanted.slice(1)].map(isHeld), [true, true, false]);
});
