import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from './fake-openstack.ts';
import { seedProject } from './seed-project.ts';
import { seededRandom } from './seeded-random.ts';
import { signIn } from './sign-in.ts';

const SERVERS = '/compute/v2.1/servers/detail';
const GROUPS = '/network/v2.0/security-groups';
const GROUP = { security_group: { name: 'web' } };

async function start() {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const { addNode } = seedProject(cloud);
  return { clock, cloud, addNode, ...(await signIn(cloud)) };
}

test('a lost answer: the work is done, and the client does not know', async () => {
  const { cloud, post } = await start();
  const { groups } = cloud.networking.securityGroups;
  const before = groups.all().length;
  cloud.faults.set({ operation: 'POST /security-groups', effect: 'lost', times: 1 });
  await assert.rejects(post(GROUPS, GROUP), TypeError);
  assert.equal(groups.all().length, before + 1);
  assert.equal((await post(GROUPS, GROUP)).status, 201);
});

test('refused: nothing is done', async () => {
  const { cloud, post } = await start();
  const { groups } = cloud.networking.securityGroups;
  const before = groups.all().length;
  cloud.faults.set({ operation: 'POST', effect: 'refused' });
  await assert.rejects(post(GROUPS, GROUP), TypeError);
  assert.equal(groups.all().length, before);
});

test('the second page alone fails, in the words of its service', async () => {
  const { cloud, addNode, get } = await start();
  const { server } = addNode({ name: 'a' });
  cloud.faults.set({ effect: 'status', status: 503, when: ({ query }) => query.has('marker') });
  assert.equal((await get(`${SERVERS}?limit=1`)).status, 200);
  assert.deepEqual(await get(`${SERVERS}?limit=1&marker=${server.id}`), {
    status: 503,
    body: { serviceUnavailable: { code: 503, message: 'fault 503' } },
  });
});

test('the n-th call, and no other', async () => {
  const { cloud, get } = await start();
  cloud.faults.set({ service: 'compute', effect: 'status', status: 500, nth: 2 });
  const statuses: number[] = [];
  for (let call = 0; call < 3; call++) statuses.push((await get(SERVERS)).status);
  assert.deepEqual(statuses, [200, 500, 200]);
});

test('an empty list has no entries and no next page', async () => {
  const { cloud, addNode, get } = await start();
  addNode({ name: 'a' });
  cloud.faults.set({ operation: 'GET /servers/detail', effect: 'empty' });
  assert.deepEqual((await get(`${SERVERS}?limit=1`)).body, { servers: [] });
});

test('half an answer is no JSON', async () => {
  const { cloud, get } = await start();
  cloud.faults.set({ effect: 'cut' });
  await assert.rejects(get(SERVERS), SyntaxError);
});

test('a slow answer comes when its time has passed on the clock', async () => {
  const { clock, cloud, get } = await start();
  cloud.faults.set({ effect: 'slow', delayMs: 5000 });
  let isThere = false;
  const answer = get(SERVERS).then((each) => {
    isThere = true;
    return each;
  });
  await clock.advance(4999);
  assert.equal(isThere, false);
  await clock.advance(1);
  assert.equal((await answer).status, 200);
});

test('calls are counted by service and operation, failed ones too', async () => {
  const { cloud, addNode, get } = await start();
  const { server } = addNode({ name: 'a' });
  cloud.calls.reset();
  cloud.faults.set({ operation: 'GET /servers/{id}', effect: 'status', status: 500, times: 1 });
  await get(`/compute/v2.1/servers/${server.id}`);
  await get(`/compute/v2.1/servers/${server.id}`);
  await get('/network/v2.0/ports');
  await get('/load-balancer/v2.0/lbaas/loadbalancers');
  assert.deepEqual(cloud.calls.counts(), {
    'compute GET /servers/{id}': 2,
    'load-balancer GET /loadbalancers': 1,
    'network GET /ports': 1,
  });
});
