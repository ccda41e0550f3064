/** Services that share a load balancer have its addresses in their statuses: when one loses an address, the others are looked at too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancerPart } from '@outrigger/cloud-provider';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { actionOn, IDLE, partOf } from './told-cloud.suite.ts';

const VIP = '10.9.0.1';
const FLOATING = '192.0.2.7';

interface Shared {
  readonly rig: Rig;
  /** How often each Service was looked at, by name. */
  readonly looks: Map<string, number>;
}

/** Many Services on one load balancer, of which `s0` drops the floating IP once it has the port 82, and goes with it when it is deleted. */
async function createShared(services: number): Promise<Shared> {
  const rig = await createRig();
  const { provider } = rig;
  const looks = new Map<string, number>();
  let addresses: readonly string[] = [VIP, FLOATING];
  const shares = new Map<string, LoadBalancerPart>();
  rig.api.nodes.put(nodeOf('n1'));
  provider.lockKey = () => 'shared';
  provider.planMembers = () => ({ ...IDLE, complete: true });
  provider.observe = (asked) => {
    provider.observes += 1;
    return Promise.resolve(
      asked.map(({ name, uid }) => {
        looks.set(name, (looks.get(name) ?? 0) + 1);
        const part = shares.get(uid);
        return { kind: 'parts', asOf: rig.clock.monotonic(), parts: part ? [{ ...part, addresses }] : [] };
      }),
    );
  };
  provider.plan = ({ owner, service, wanted }, [part]) => {
    const id = `share-${service.uid}`;
    if (!wanted) return part ? { ...IDLE, actions: [actionOn('delete', `share ${id}`)] } : { ...IDLE, complete: true };
    if (!part) return { ...IDLE, actions: [{ ...actionOn('create', 'share'), input: { owner, id } }] };
    const drops = service.ports[0]?.port === 82 && addresses.includes(FLOATING);
    if (drops) return { ...IDLE, actions: [actionOn('update', `share ${id}`)] };
    return { actions: [], complete: true, ingress: [{ ip: addresses.at(-1) }] };
  };
  provider.apply = ({ kind }, { owner, service }) => {
    if (kind === 'create') shares.set(owner.uid, { ...partOf(`share share-${owner.uid}`), owner });
    else if (service.name === 's0') addresses = [VIP];
    if (kind === 'delete') shares.delete(owner.uid);
    return Promise.resolve({ kind: 'done' });
  };
  for (let i = 0; i < services; i++) rig.api.apply(`s${i}`, webSpec);
  await rig.start();
  await rig.clock.advance(60_000);
  assert.equal(CLUSTER, [...shares.values()][0]?.owner?.clusterId);
  return { rig, looks };
}

const ipOf = ({ rig }: Shared, name: string): string | undefined =>
  rig.api.get(name)?.status?.loadBalancer?.ingress?.[0]?.ip;

for (const [what, drop] of [
  ['changes', ({ rig }: Shared) => rig.api.apply('s0', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] })],
  ['goes', ({ rig }: Shared) => rig.api.delete('s0')],
] as const) {
  test(`a settled Service does not keep an address that was dropped when another ${what}`, async () => {
    const shared = await createShared(2);
    assert.deepEqual([ipOf(shared, 's0'), ipOf(shared, 's1')], [FLOATING, FLOATING]);
    drop(shared);
    await shared.rig.clock.advance(20_000);
    assert.equal(ipOf(shared, 's1'), VIP);
    await shared.rig.stop();
  });
}

for (const how of ['changes', 'goes'] as const) {
  test(`an address that was dropped when another ${how} is not written back after another program had replaced it`, async () => {
    const shared = await createShared(2);
    const { api, clock } = shared.rig;
    for (const ms of [100, 1_500, 6_000, 100]) {
      const service = api.get('s1') ?? {};
      api.services.put({
        ...service,
        status: { ...service.status, loadBalancer: { ingress: [{ ip: '198.51.100.7' }] } },
      });
      await clock.advance(ms);
    }
    assert.equal(ipOf(shared, 's1'), '198.51.100.7');
    if (how === 'goes') api.delete('s0');
    else api.apply('s0', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
    const said = new Set<string | undefined>();
    for (let i = 0; i < 20; i++) {
      await clock.advance(30_000);
      said.add(ipOf(shared, 's1'));
    }
    assert.ok(!said.has(FLOATING), [...said].join());
    await shared.rig.stop();
  });
}

test('… nor does one that is refused, long before its next try', async () => {
  const shared = await createShared(2);
  const { api, clock } = shared.rig;
  api.apply('s1', { ...webSpec, ports: [{ port: 81, protocol: 'SCTP', nodePort: 30_081 }] });
  await clock.advance(3_600_000);
  assert.equal(ipOf(shared, 's1'), FLOATING);
  api.apply('s0', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
  await clock.advance(1_000);
  await clock.advance(119_000);
  assert.equal(ipOf(shared, 's1'), undefined);
  await shared.rig.stop();
});

test('of many, each is looked at once for it, and those of other addresses not at all', async () => {
  const shared = await createShared(200);
  const { api, clock, provider } = shared.rig;
  const service = api.get('s199');
  assert.ok(service);
  shared.looks.clear();
  const { observes } = provider;
  api.apply('s0', { ...webSpec, ports: [{ port: 82, nodePort: 30_082 }] });
  await clock.advance(60_000);
  assert.deepEqual(new Set(Array.from({ length: 200 }, (_, i) => ipOf(shared, `s${i}`))), new Set([VIP]));
  shared.looks.delete('s0');
  assert.deepEqual(new Set(shared.looks.values()), new Set([1]));
  assert.ok(provider.observes - observes < 20, `${provider.observes - observes} looks`);
  // Nodes, ports and the like cost the others nothing.
  shared.looks.clear();
  api.apply('s0', { ...webSpec, ports: [{ port: 83, nodePort: 30_083 }] });
  await clock.advance(60_000);
  assert.deepEqual([...shared.looks.keys()], ['s0']);
  await shared.rig.stop();
});
