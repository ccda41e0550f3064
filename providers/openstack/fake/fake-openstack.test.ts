import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from './fake-openstack.ts';
import { seedProject } from './seed-project.ts';
import { seededRandom } from './seeded-random.ts';
import { signIn } from './sign-in.ts';

async function start() {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  return { clock, cloud, seeded, ...(await signIn(cloud)) };
}

test('a node has its server, its port and its addresses', async () => {
  const { seeded, get } = await start();
  const { server, port } = seeded.addNode({ name: 'node-1' });
  const answer = await get(`/compute/v2.1/servers/${server.id}`, { 'openstack-api-version': 'compute 2.79' });
  assert.equal(answer.status, 200);
  const { server: shown } = answer.body as { server: { addresses: Record<string, { addr: string }[]> } };
  assert.deepEqual(
    shown.addresses['cluster']?.map(({ addr }) => addr),
    port.fixed_ips.map(({ ip_address }) => ip_address),
  );
  const ports = (await get(`/network/v2.0/ports?device_id=${server.id}`)).body as { ports: { id: string }[] };
  assert.deepEqual(
    ports.ports.map(({ id }) => id),
    [port.id],
  );
});

test('a token ends, and another project sees nothing', async () => {
  const { clock, cloud, seeded, get } = await start();
  seeded.addNode({ name: 'node-1' });
  cloud.compute.addServer({ name: 'other', projectId: 'another' });
  const { servers } = (await get('/compute/v2.1/servers/detail')).body as { servers: { name: string }[] };
  assert.deepEqual(
    servers.map(({ name }) => name),
    ['node-1'],
  );
  await clock.advance(3_600_000);
  assert.equal((await get('/compute/v2.1/servers/detail')).status, 401);
});
