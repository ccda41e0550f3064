/** However many nodes there are, the members of a Service that is refused stay within the bound. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { BackEnd, LoadBalancerPart } from '@outrigger/cloud-provider';
import { backEndOf } from '../desired/tree-inputs.suite.ts';
import { loadBalancerIn, type ObservedListener } from '../observed-tree.ts';
import { Rig, served, serviceNamed } from '../rig.suite.ts';
import { changeOf } from './change.ts';

const nodeOf = (i: number): BackEnd => backEndOf(`node-${String(i).padStart(4, '0')}`, [`10.1.${i >> 8}.${i & 255}`]);
const nodesOf = (count: number): readonly BackEnd[] => Array.from({ length: count }, (_, i) => nodeOf(i));

/** A load balancer with so many listeners, each with these nodes as members: what would be changed for `backEnds`, by pool. */
async function plannedFor(
  listeners: number,
  there: readonly BackEnd[],
  change: (all: readonly ObservedListener[]) => readonly ObservedListener[] = (all) => all,
): Promise<(backEnds: readonly BackEnd[]) => readonly (readonly string[])[]> {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const { others, parts } = await rig.lookAround(was);
  const widened = parts.map((part): LoadBalancerPart => {
    if (part.kind !== 'load-balancer') return part;
    const loadBalancer = loadBalancerIn(part);
    const [one] = loadBalancer.children?.listeners ?? [];
    const [member] = one?.pool?.members ?? [];
    assert.ok(loadBalancer.children && one?.pool && member);
    const { pool } = one;
    const members = there.map(({ addresses, node }) => ({
      ...member,
      name: node.name,
      address: addresses[0]?.address ?? '',
    }));
    const all = Array.from({ length: listeners }, (_, i): ObservedListener => ({
      ...one,
      port: 80 + i,
      pool: { ...pool, id: `pool-${i}`, members },
    }));
    const children = { ...loadBalancer.children, listeners: change(all) };
    return { ...part, attributes: { ...part.attributes, loadBalancer: { ...loadBalancer, children } } };
  });
  return (backEnds) =>
    rig.provider.planMembers({ ...rig.desired(was), others, backEnds }, widened).actions.map((action) => {
      const change = changeOf(action);
      assert.ok(change.op === 'octavia');
      const { members } = change.request.body as { readonly members: readonly { readonly name: string }[] };
      return members.map(({ name }) => name);
    });
}

const namesOf = (nodes: readonly BackEnd[]): readonly string[] => nodes.map(({ node }) => node.name);

test('of more nodes than there is room for, those that are members stay, and others take the places of those that have gone', async () => {
  const last = [nodeOf(4_997), nodeOf(4_998), nodeOf(4_999)];
  const planned = await plannedFor(1_000, last);
  const all = nodesOf(5_000);
  const pools = planned(all.slice(0, -1));
  assert.equal(pools.length, 1_000);
  for (const names of [pools[0], pools.at(-1)]) {
    assert.deepEqual(names, namesOf([...all.slice(0, 98), nodeOf(4_997), nodeOf(4_998)]));
  }
  assert.equal(pools.flat().length, 100_000);
});

test('where more members are there than there is room for, each stays, and none is added', async () => {
  const there = nodesOf(150).slice(1);
  const planned = await plannedFor(1_000, there);
  assert.deepEqual(planned(nodesOf(400)), []);
  assert.deepEqual(planned(there.slice(1))[0], namesOf(there.slice(1)));
});

test('where pools differ, nothing that serves goes for want of room', async () => {
  const there = nodesOf(150);
  const uneven: Readonly<Record<string, (one: ObservedListener) => ObservedListener>> = {
    'no pool': (one) => ({ ...one, pool: null }),
    'no member': (one) => ({ ...one, pool: one.pool && { ...one.pool, members: [] } }),
    'a member less': (one) => ({ ...one, pool: one.pool && { ...one.pool, members: one.pool.members.slice(1) } }),
  };
  for (const [what, change] of Object.entries(uneven)) {
    const planned = await plannedFor(1_000, there, ([first, ...others]) => (first ? [change(first), ...others] : []));
    // A pool that had no member says nothing of its node port: the Service's first one has it.
    const filled = what === 'no member' ? [namesOf(there.slice(0, 100))] : [];
    assert.deepEqual(planned(there), filled, what);
  }
});
