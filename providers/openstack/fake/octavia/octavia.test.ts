import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from '../fake-openstack.ts';
import { seedProject } from '../seed-project.ts';
import { seededRandom } from '../seeded-random.ts';
import { signIn } from '../sign-in.ts';

async function start() {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  const { get, post, put, remove } = await signIn(cloud);
  const root = '/load-balancer/v2.0/lbaas';
  return {
    clock,
    cloud,
    seeded,
    get: (path: string) => get(`${root}${path}`),
    post: (path: string, body: object) => post(`${root}${path}`, body),
    put: (path: string, body: object) => put(`${root}${path}`, body),
    remove: (path: string) => remove(`${root}${path}`),
  };
}

type Shown = Record<string, never> & { id: string; provisioning_status: string };

function populated(subnetId: string): object {
  const member = { address: '10.0.0.11', protocol_port: 30_080, subnet_id: subnetId };
  const healthmonitor = { type: 'TCP', delay: 5, timeout: 3, max_retries: 3 };
  const default_pool = { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN', members: [member], healthmonitor };
  const listeners = [{ name: 'l', protocol: 'TCP', protocol_port: 80, default_pool }];
  return { loadbalancer: { name: 'web', vip_subnet_id: subnetId, listeners } };
}

test('one change at a time: pending refuses, the clock ends it', async () => {
  const { clock, cloud, seeded, get, post } = await start();
  Object.assign(cloud.octavia.settings, { createMs: 6000, updateMs: 1000 });
  const made = await post('/loadbalancers', { loadbalancer: { name: 'web', vip_subnet_id: seeded.subnet.id } });
  assert.equal(made.status, 201);
  const { id } = (made.body as { loadbalancer: Shown }).loadbalancer;
  const listener = { listener: { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 } };
  const refused = await post('/listeners', listener);
  assert.deepEqual(refused, {
    status: 409,
    body: {
      faultcode: 'Client',
      faultstring: `Load Balancer ${id} is immutable and cannot be updated.`,
      debuginfo: null,
    },
  });
  await clock.advance(6000);
  assert.equal((await post('/listeners', listener)).status, 201);
  assert.equal((await post('/listeners', { listener: { ...listener.listener, protocol_port: 81 } })).status, 409);
  await clock.advance(1000);
  const shown = (await get(`/loadbalancers/${id}`)).body as { loadbalancer: Shown };
  assert.equal(shown.loadbalancer.provisioning_status, 'ACTIVE');
});

test('children of a populated POST may come late: the pool refuses, a PUT of its own finishes it', async () => {
  const { cloud, seeded, get, post, put } = await start();
  cloud.octavia.settings.childrenLateMs = Number.POSITIVE_INFINITY;
  await post('/loadbalancers', populated(seeded.subnet.id));
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  const [pool] = pools;
  assert.ok(pool);
  assert.equal(pool.provisioning_status, 'PENDING_CREATE');
  const refused = await put(`/pools/${pool.id}/members`, { members: [] });
  assert.equal(
    (refused.body as { faultstring: string }).faultstring,
    `Pool ${pool.id} is immutable and cannot be updated.`,
  );
  assert.equal((await put(`/pools/${pool.id}`, { pool: { name: 'again' } })).status, 200);
  assert.equal((await put(`/pools/${pool.id}/members`, { members: [] })).status, 202);
});

test('a cascade delete takes the VIP port along, and the floating IP stays', async () => {
  const { cloud, seeded, post, remove, get } = await start();
  const made = await post('/loadbalancers', populated(seeded.subnet.id));
  const { id, vip_port_id } = (made.body as { loadbalancer: Shown & { vip_port_id: string } }).loadbalancer;
  const { floatingIps, ports } = cloud.networking;
  const floating = floatingIps.add({
    floating_network_id: seeded.publicNetwork.id,
    project_id: seeded.project.id,
    port_id: vip_port_id,
  });
  assert.equal((await remove(`/loadbalancers/${id}`)).status, 400);
  assert.equal((await remove(`/loadbalancers/${id}?cascade=true`)).status, 204);
  assert.equal((await get(`/loadbalancers/${id}`)).status, 404);
  assert.equal(ports.ports.get(vip_port_id), undefined);
  assert.equal(floatingIps.floatingIps.get(floating.id)?.port_id, null);
  assert.equal(cloud.octavia.store.members.size + cloud.octavia.store.monitors.size, 0);
});

test('two VIPs with source ranges end in an ERROR that no delete removes', async () => {
  const { seeded, get, post, remove } = await start();
  const listeners = [{ protocol: 'TCP', protocol_port: 80, allowed_cidrs: ['192.0.2.0/24'] }];
  const additional_vips = [{ subnet_id: seeded.subnet6.id }];
  const made = await post('/loadbalancers', {
    loadbalancer: { vip_subnet_id: seeded.subnet.id, additional_vips, listeners },
  });
  const { id } = (made.body as { loadbalancer: Shown }).loadbalancer;
  const statusNow = async () =>
    ((await get(`/loadbalancers/${id}`)).body as { loadbalancer: Shown }).loadbalancer.provisioning_status;
  assert.equal(await statusNow(), 'ERROR');
  assert.equal((await remove(`/loadbalancers/${id}?cascade=true`)).status, 204);
  assert.equal(await statusNow(), 'ERROR');
});

test('additive_only takes nobody away; without it the list is all there is', async () => {
  const { seeded, get, post, put } = await start();
  await post('/loadbalancers', populated(seeded.subnet.id));
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  const path = `/pools/${pools[0]?.id}/members`;
  const addresses = async () =>
    ((await get(path)).body as { members: { address: string }[] }).members.map(({ address }) => address).sort();
  const member = { address: '10.0.0.12', protocol_port: 30_080 };
  assert.equal((await put(`${path}?additive_only=true`, { members: [member] })).status, 202);
  assert.deepEqual(await addresses(), ['10.0.0.11', '10.0.0.12']);
  assert.equal((await put(path, { members: [member] })).status, 202);
  assert.deepEqual(await addresses(), ['10.0.0.12']);
});

test('what a batch does not say of a member is as if it were new; a PUT of its own leaves it as it is (seen on Zed)', async () => {
  const { seeded, get, post, put } = await start();
  await post('/loadbalancers', populated(seeded.subnet.id));
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  const path = `/pools/${pools[0]?.id}/members`;
  const member = { address: '10.0.0.11', protocol_port: 30_080 };
  const said = { monitor_address: '10.0.0.50', monitor_port: 30_999, weight: 7, backup: true };
  const unsaid = { monitor_address: null, monitor_port: null, weight: 1, backup: false };
  const shown = async () =>
    ((await get(path)).body as { members: [Shown & Record<keyof typeof said, unknown>] }).members[0];
  const settings = async () => {
    const { monitor_address, monitor_port, weight, backup } = await shown();
    return { monitor_address, monitor_port, weight, backup };
  };
  assert.equal((await put(path, { members: [{ ...member, ...said }] })).status, 202);
  assert.deepEqual(await settings(), said);
  assert.equal((await put(path, { members: [member] })).status, 202);
  assert.deepEqual(await settings(), unsaid);

  const own = `${path}/${(await shown()).id}`;
  assert.equal((await put(own, { member: said })).status, 200);
  assert.equal((await put(own, { member: { name: 'n' } })).status, 200);
  assert.deepEqual(await settings(), said);
  assert.equal((await put(own, { member: { monitor_address: null, monitor_port: null } })).status, 200);
  assert.deepEqual(await settings(), { ...said, monitor_address: null, monitor_port: null });

  assert.equal((await put(path, { members: [{ ...member, monitor_address: null, monitor_port: null }] })).status, 202);
  assert.deepEqual(await settings(), unsaid);
});

test('a member above the quota: none of the batch is made', async () => {
  const { cloud, seeded, get, post, put } = await start();
  await post('/loadbalancers', populated(seeded.subnet.id));
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  cloud.octavia.settings.quotas = { Member: 2 };
  const members = ['11', '12', '13'].map((last) => ({ address: `10.0.0.${last}`, protocol_port: 30_080 }));
  assert.equal((await put(`/pools/${pools[0]?.id}/members`, { members })).status, 403);
  assert.equal(cloud.octavia.store.members.size, 1);
});

test('a populated POST that is refused leaves nothing behind', async () => {
  const { cloud, seeded, post } = await start();
  const before = cloud.networking.ports.ports.all().length;
  const listener = { protocol: 'TCP', protocol_port: 80 };
  const refused = await post('/loadbalancers', {
    loadbalancer: { vip_subnet_id: seeded.subnet.id, listeners: [listener, listener] },
  });
  assert.equal(refused.status, 409);
  const { loadBalancers, listeners } = cloud.octavia.store;
  assert.equal(loadBalancers.size + listeners.size, 0);
  assert.equal(cloud.networking.ports.ports.all().length, before);
});

test('ovn takes one algorithm and no source ranges; amphora not that one', async () => {
  const { cloud, seeded, post } = await start();
  cloud.octavia.settings.providers = ['amphora', 'ovn'];
  const ask = async (provider: string, lb_algorithm: string, more: object = {}): Promise<number> => {
    const default_pool = { protocol: 'TCP', lb_algorithm };
    const listeners = [{ protocol: 'TCP', protocol_port: 80, default_pool, ...more }];
    return (await post('/loadbalancers', { loadbalancer: { provider, vip_subnet_id: seeded.subnet.id, listeners } }))
      .status;
  };
  assert.equal(await ask('ovn', 'SOURCE_IP_PORT'), 201);
  assert.equal(await ask('ovn', 'SOURCE_IP'), 201);
  assert.equal(await ask('ovn', 'ROUND_ROBIN'), 501);
  assert.equal(await ask('ovn', 'SOURCE_IP_PORT', { allowed_cidrs: ['192.0.2.0/24'] }), 501);
  assert.equal(await ask('amphora', 'SOURCE_IP_PORT'), 501);
});

test('a change that fails: what it was about is in ERROR, and what is above can be changed again', async () => {
  const { cloud, seeded, get, post, remove } = await start();
  const made = await post('/loadbalancers', populated(seeded.subnet.id));
  const { id } = (made.body as { loadbalancer: Shown }).loadbalancer;
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  cloud.octavia.settings.fails = (each) => each === id;
  const added = await post(`/pools/${pools[0]?.id}/members`, { member: { address: '10.0.0.12', protocol_port: 80 } });
  const { member } = added.body as { member: Shown };
  assert.equal(cloud.octavia.store.members.get(member.id)?.provisioning_status, 'ERROR');
  cloud.octavia.settings.fails = () => false;
  const statuses = cloud.octavia.store.treeOf(cloud.octavia.store.loadBalancers.get(id) as never);
  assert.deepEqual(
    statuses.filter(({ provisioning_status: status }) => status !== 'ACTIVE').map((each) => each.id),
    [member.id],
  );
  assert.equal((await remove(`/pools/${pools[0]?.id}/members/${member.id}`)).status, 204);
});

test('a load balancer in ERROR takes no change, and can be deleted', async () => {
  const { cloud, seeded, get, post, remove } = await start();
  cloud.octavia.settings.fails = () => true;
  const made = await post('/loadbalancers', { loadbalancer: { vip_subnet_id: seeded.subnet.id } });
  const { id } = (made.body as { loadbalancer: Shown }).loadbalancer;
  assert.equal(cloud.octavia.store.loadBalancers.get(id)?.provisioning_status, 'ERROR');
  cloud.octavia.settings.fails = () => false;
  const listener = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 1 };
  assert.equal((await post('/listeners', { listener })).status, 409);
  assert.equal((await remove(`/loadbalancers/${id}`)).status, 204);
  assert.equal((await get(`/loadbalancers/${id}`)).status, 404);
});

test('children that came late: a change of one pool makes every listener ACTIVE, and no other pool', async () => {
  const { cloud, seeded, get, post, put } = await start();
  cloud.octavia.settings.childrenLateMs = Number.POSITIVE_INFINITY;
  const listeners = [80, 81].map((protocol_port) => {
    return { protocol: 'TCP', protocol_port, default_pool: { protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' } };
  });
  await post('/loadbalancers', { loadbalancer: { vip_subnet_id: seeded.subnet.id, listeners } });
  const statusesOf = async (kind: string): Promise<readonly string[]> => {
    const { [kind]: all = [] } = (await get(`/${kind}`)).body as Record<string, Shown[]>;
    return all.map(({ provisioning_status }) => provisioning_status);
  };
  assert.deepEqual(await statusesOf('listeners'), ['PENDING_CREATE', 'PENDING_CREATE']);
  const { pools } = (await get('/pools')).body as { pools: Shown[] };
  await put(`/pools/${pools[0]?.id}`, { pool: { name: 'again' } });
  assert.deepEqual(await statusesOf('listeners'), ['ACTIVE', 'ACTIVE']);
  assert.deepEqual(await statusesOf('pools'), ['ACTIVE', 'PENDING_CREATE']);
});
