import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { createFakeOpenStack } from './fake-openstack.ts';
import { seedProject } from './seed-project.ts';
import { seededRandom } from './seeded-random.ts';
import { serveFakeOpenStack } from './serve-fake-openstack.ts';

test('over HTTP: the catalogue leads to where it is served, a lost answer breaks the connection', async () => {
  const cloud = createFakeOpenStack({ clock: systemClock, random: seededRandom(1) });
  seedProject(cloud);
  await using served = await serveFakeOpenStack(cloud);
  const domain = { id: 'default' };
  const auth = {
    identity: { methods: ['password'], password: { user: { name: 'k8s', password: 'k8s', domain } } },
    scope: { project: { name: 'k8s', domain } },
  };
  const issued = await fetch(`${served.authUrl}/auth/tokens`, { method: 'POST', body: JSON.stringify({ auth }) });
  const token = issued.headers.get('x-subject-token') ?? '';
  const { catalog } = (
    (await issued.json()) as { token: { catalog: { type: string; endpoints: { url: string }[] }[] } }
  ).token;
  const network = catalog.find(({ type }) => type === 'network')?.endpoints[0]?.url ?? '';
  assert.ok(network.startsWith(served.origin));
  const ports = await fetch(`${network}/v2.0/ports`, { headers: { 'x-auth-token': token } });
  assert.equal(ports.status, 200);
  cloud.faults.set({ effect: 'lost' });
  await assert.rejects(fetch(`${network}/v2.0/ports`, { headers: { 'x-auth-token': token } }), TypeError);
});
