import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from '../fake-openstack.ts';
import { seedProject } from '../seed-project.ts';
import { seededRandom } from '../seeded-random.ts';
import { signIn, type Answer, type Headers } from '../sign-in.ts';

async function start() {
  const cloud = createFakeOpenStack({ clock: new FakeClock(), random: seededRandom(1) });
  const seeded = seedProject(cloud);
  const root = '/network/v2.0';
  const { get, post, put, remove } = await signIn(cloud);
  return {
    cloud,
    seeded,
    get: (path: string) => get(`${root}${path}`),
    post: (path: string, body: object) => post(`${root}${path}`, body),
    put: (path: string, body: object, revision?: number) => put(`${root}${path}`, body, ifMatch(revision)),
    remove: (path: string, revision?: number) => remove(`${root}${path}`, ifMatch(revision)),
  };
}

const ifMatch = (revision: number | undefined): Headers =>
  revision === undefined ? {} : { 'if-match': `revision_number=${revision}` };

const typeOf = ({ body }: Answer): string => (body as { NeutronError: { type: string } }).NeutronError.type;

test('a change that names an old revision is refused, and changes nothing', async () => {
  const { cloud, seeded, put } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  const pairs = [{ ip_address: '10.244.1.0/24' }];
  const body = { port: { allowed_address_pairs: pairs } };
  assert.equal((await put(`/ports/${port.id}`, body, port.revision_number)).status, 200);
  const stale = await put(`/ports/${port.id}`, { port: { allowed_address_pairs: [] } }, port.revision_number);
  assert.deepEqual([stale.status, typeOf(stale)], [412, 'RevisionNumberConstraintFailed']);
  assert.equal(cloud.networking.ports.ports.get(port.id)?.allowed_address_pairs.length, 1);
});

test('each change of a floating IP is a new revision: its tags, its description, its port, and its status', async () => {
  const { cloud, seeded, put, remove } = await start();
  const { floatingIps } = cloud.networking.floatingIps;
  const { port } = seeded.addNode({ name: 'node' });
  const { id } = cloud.networking.floatingIps.add({
    floating_network_id: seeded.publicNetwork.id,
    project_id: seeded.project.id,
  });
  const path = `/floatingips/${id}`;
  const changes = [
    () => put(`${path}/tags`, { tags: ['a'] }),
    () => put(path, { floatingip: { description: 'b' } }),
    () => put(path, { floatingip: { port_id: port.id } }),
    () => floatingIps.change(id, { status: 'DOWN' }),
  ];
  for (const change of changes) {
    const before = floatingIps.get(id)?.revision_number ?? -1;
    await change();
    assert.equal(floatingIps.get(id)?.revision_number, before + 1);
    const stale = [await put(path, { floatingip: { port_id: null } }, before), await remove(path, before)];
    assert.deepEqual(
      stale.map((answer) => [answer.status, typeOf(answer)]),
      [
        [412, 'RevisionNumberConstraintFailed'],
        [412, 'RevisionNumberConstraintFailed'],
      ],
    );
  }
  assert.equal(floatingIps.get(id)?.port_id, port.id);
  assert.equal((await remove(path, floatingIps.get(id)?.revision_number)).status, 204);
});

test('the same again is no new revision', async () => {
  const { cloud, seeded, put } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  const body = { router: { routes: [{ destination: '10.244.1.0/24', nexthop: port.fixed_ips[0]?.ip_address }] } };
  const path = `/routers/${seeded.router.id}/add_extraroutes`;
  await put(path, body);
  const once = cloud.networking.routers.routers.get(seeded.router.id)?.revision_number;
  await put(path, body);
  assert.equal(cloud.networking.routers.routers.get(seeded.router.id)?.revision_number, once);
});

test('one hop that cannot be, and no route of the batch is added', async () => {
  const { cloud, seeded, put } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  const good = { destination: '10.244.1.0/24', nexthop: port.fixed_ips[0]?.ip_address };
  const bad = { destination: '10.244.2.0/24', nexthop: '192.0.2.1' };
  const refused = await put(`/routers/${seeded.router.id}/add_extraroutes`, { router: { routes: [good, bad] } });
  assert.deepEqual([refused.status, typeOf(refused)], [400, 'InvalidRoutes']);
  assert.deepEqual(cloud.networking.routers.routers.get(seeded.router.id)?.routes, []);
});

test('without the extension there are no batches of routes, and a PUT of all there is', async () => {
  const { cloud, seeded, put } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  cloud.extensions.aliases.delete('extraroute-atomic');
  const body = { router: { routes: [{ destination: '10.244.1.0/24', nexthop: port.fixed_ips[0]?.ip_address }] } };
  assert.equal((await put(`/routers/${seeded.router.id}/add_extraroutes`, body)).status, 404);
  assert.equal((await put(`/routers/${seeded.router.id}`, body)).status, 200);
});

test('a filter that neutron has not is refused, not ignored', async () => {
  const { get } = await start();
  assert.equal((await get('/ports?nonsense=1')).status, 400);
  assert.equal((await get('/ports?device_owner=compute:az-1&admin_state_up=True')).status, 200);
});

test('many device IDs are too long a line; fifty are not', async () => {
  const { cloud, get } = await start();
  const query = (count: number): string =>
    Array.from({ length: count }, () => `device_id=${cloud.ids.uuid()}`).join('&');
  assert.equal((await get(`/ports?${query(50)}`)).status, 200);
  assert.equal((await get(`/ports?${query(200)}`)).status, 414);
});

test('tags: all, any, none', async () => {
  const { seeded, get, post, put } = await start();
  const make = async (tags: readonly string[]): Promise<string> => {
    const floatingip = { floating_network_id: seeded.publicNetwork.id };
    const { id } = ((await post('/floatingips', { floatingip })).body as { floatingip: { id: string } }).floatingip;
    await put(`/floatingips/${id}/tags`, { tags });
    return id;
  };
  const both = await make(['a', 'b']);
  const one = await make(['a']);
  const found = async (query: string): Promise<ReadonlySet<string>> => {
    const { floatingips } = (await get(`/floatingips?${query}`)).body as { floatingips: { id: string }[] };
    return new Set(floatingips.map(({ id }) => id));
  };
  assert.deepEqual(await found('tags=a,b'), new Set([both]));
  assert.deepEqual(await found('tags-any=a,b'), new Set([both, one]));
  assert.deepEqual(await found('not-tags=a,b'), new Set([one]));
  assert.deepEqual(await found('not-tags-any=b'), new Set([one]));
});

test('quotas are refusals of their own, and end when something is given back', async () => {
  const { cloud, seeded, post, remove } = await start();
  cloud.networking.quotas.limits = { floatingip: 1 };
  const body = { floatingip: { floating_network_id: seeded.publicNetwork.id } };
  const made = await post('/floatingips', body);
  const refused = await post('/floatingips', body);
  assert.deepEqual([refused.status, typeOf(refused)], [409, 'OverQuota']);
  await remove(`/floatingips/${(made.body as { floatingip: { id: string } }).floatingip.id}`);
  assert.equal((await post('/floatingips', body)).status, 201);
});

test('a group that a port is in stays; its rules go with it', async () => {
  const { cloud, seeded, post, put, remove } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  const made = await post('/security-groups', { security_group: { name: 'web' } });
  const { id } = (made.body as { security_group: { id: string } }).security_group;
  await put(`/ports/${port.id}`, { port: { security_groups: [...port.security_groups, id] } });
  const refused = await remove(`/security-groups/${id}`);
  assert.deepEqual([refused.status, typeOf(refused)], [409, 'SecurityGroupInUse']);
  await put(`/ports/${port.id}`, { port: { security_groups: port.security_groups } });
  assert.equal((await remove(`/security-groups/${id}`)).status, 204);
  assert.equal(cloud.networking.securityGroups.rules.where('security_group_id', id).length, 0);
});

test('a rule with another description is the same rule, and so is one from everywhere', async () => {
  const { cloud, seeded, post } = await start();
  const { id } = cloud.networking.securityGroups.addGroup(seeded.project.id, 'web');
  const rule = { security_group_id: id, protocol: 'tcp', port_range_min: 80, port_range_max: 80 };
  const add = (more: object) => post('/security-group-rules', { security_group_rule: { ...rule, ...more } });
  assert.equal((await add({})).status, 201);
  assert.equal((await add({ description: 'other' })).status, 409);
  assert.equal((await add({ remote_ip_prefix: '0.0.0.0/0' })).status, 409);
  assert.equal((await add({ remote_ip_prefix: '10.0.0.0/8' })).status, 201);
});

test('trunks are there only with their extension', async () => {
  const { cloud, seeded, get } = await start();
  const { port } = seeded.addNode({ name: 'node' });
  cloud.networking.trunks.add({ project_id: seeded.project.id, port_id: port.id, sub_ports: [] });
  assert.equal((await get('/trunks')).status, 404);
  cloud.extensions.aliases.add('trunk');
  const { trunks } = (await get(`/trunks?port_id=${port.id}`)).body as { trunks: unknown[] };
  assert.equal(trunks.length, 1);
});
