import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from '../fake-openstack.ts';
import { FAKE_ORIGIN, inProcessFetch } from '../in-process-fetch.ts';
import { seedProject } from '../seed-project.ts';
import { seededRandom } from '../seeded-random.ts';

function start() {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  const seeded = seedProject(cloud);
  const send = inProcessFetch(cloud);
  const ask = async (identity: object, scope?: object) => {
    const body = JSON.stringify({ auth: { identity, ...(scope ? { scope } : {}) } });
    const answer = await send(`${FAKE_ORIGIN}/identity/v3/auth/tokens`, { method: 'POST', body });
    return { status: answer.status, token: answer.headers.get('x-subject-token') ?? '' };
  };
  const works = async (token: string): Promise<boolean> => {
    const { status } = await send(`${FAKE_ORIGIN}/network/v2.0/ports`, { headers: { 'x-auth-token': token } });
    return status === 200;
  };
  const password = { methods: ['password'], password: { user: { id: seeded.user.id, password: 'k8s' } } };
  return { clock, cloud, seeded, ask, works, password };
}

test('an application credential is its own scope; another beside it is refused', async () => {
  const { cloud, seeded, ask, works } = start();
  const { id, name, secret } = cloud.identity.addApplicationCredential('ccm', seeded.user, seeded.project);
  const method = (application_credential: object) => ({ methods: ['application_credential'], application_credential });
  const issued = await ask(method({ id, secret }));
  assert.equal(issued.status, 201);
  assert.ok(await works(issued.token));
  assert.equal((await ask(method({ name, user: { id: seeded.user.id }, secret }))).status, 201);
  assert.equal((await ask(method({ id, secret: 'other' }))).status, 401);
  assert.equal((await ask(method({ id, secret }), { project: { id: seeded.project.id } })).status, 401);
});

test('a trust leads into the project of him who gave it, and no one else but its trustee', async () => {
  const { cloud, seeded, ask, password } = start();
  const other = cloud.identity.addProject('other');
  const own = cloud.identity.addTrust(seeded.user, other);
  const foreign = cloud.identity.addTrust(cloud.identity.addUser('x', 'x', other, ['member']), other);
  assert.equal((await ask(password, { project: { id: other.id } })).status, 401);
  assert.equal((await ask(password, { 'OS-TRUST:trust': { id: own } })).status, 201);
  assert.equal((await ask(password, { 'OS-TRUST:trust': { id: foreign } })).status, 401);
});

test('tokens end by themselves and by revocation', async () => {
  const { clock, cloud, ask, works, password } = start();
  cloud.identity.tokenLifetimeMs = 1000;
  const { token: short } = await ask(password);
  assert.ok(await works(short));
  await clock.advance(1000);
  assert.ok(!(await works(short)));
  const { token } = await ask(password);
  cloud.identity.revokeAll();
  assert.ok(!(await works(token)));
});
