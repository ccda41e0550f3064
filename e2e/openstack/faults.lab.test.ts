/** Services while things go wrong: kill -9, an octavia that is away, quotas, a wrong password. Nothing is leaked, and one is told why. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { seededRandom } from '../seeded-random.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';

/** More of them: `ROUNDS=30 make e2e-openstack TESTS=faults`. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SEED = Number(process.env['SEED'] ?? 1);
/** In which the program is killed: longer than a load balancer takes. */
const WITHIN_MS = 8_000;
const WRONG_PASSWORD = 'wrong-password-of-the-lab';

const plain = (name: string): ReturnType<typeof serviceOf> => serviceOf({ name, listeners: [] }, '');

test('services while things go wrong', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab, manager } = cluster;
  const services = new LabServices(cluster);
  await cluster.join('lab-faulty-1');
  await cluster.until(
    'the node is initialised',
    async () => (await cluster.node('lab-faulty-1'))?.spec?.providerID !== undefined,
  );
  const before = await listProject(lab.user);
  const nothingIsLeft = async (): Promise<void> =>
    assert.deepEqual(differenceOf(before, await listProject(lab.user)), []);

  await t.test(
    `${ROUNDS} rounds of kill -9 (SEED=${SEED}): one load balancer and one address each, and nothing is left`,
    async () => {
      const random = seededRandom(SEED);
      const killed = async (): Promise<void> => {
        await systemClock.sleep(random() * WITHIN_MS);
        await manager.end('SIGKILL');
        manager.start();
      };
      for (let round = 0; round < ROUNDS; round++) {
        const name = `killed-${round}`;
        await services.create(plain(name));
        await killed();
        const addresses = await services.untilServed(name);
        const tree = await services.untilActive(name);
        assert.deepEqual(addresses, [tree.floatingIP], `round ${round}`);
        const floating = await lab.user.list('network', '/floatingips');
        assert.equal(floating.length, 1, `round ${round}: ${JSON.stringify(floating)}`);
        await services.beginDelete(name);
        await killed();
        await services.untilGone(name);
        await nothingIsLeft();
      }
    },
  );

  await t.test('octavia is away for a while: what was asked for meanwhile is done when it is back', async () => {
    await services.create(plain('before'));
    await services.untilActive('before');
    await lab.stop('octavia-api');
    try {
      await services.create(plain('meanwhile'));
      await services.beginDelete('before');
      await cluster.until('an Event says what is wrong', async () =>
        (await cluster.eventsAbout('meanwhile', 'Service')).some((event) => event.startsWith('SyncLoadBalancerFailed')),
      );
    } finally {
      await lab.start('octavia-api');
    }
    await services.untilGone('before');
    await services.untilActive('meanwhile');
    await services.delete('meanwhile');
    await nothingIsLeft();
  });

  await t.test('a quota that is met is one clear Event, and when it is raised the Service is served', async () => {
    const path = `/quotas/${await lab.user.projectId()}`;
    await lab.admin.request('load-balancer', 'PUT', path, { body: { quota: { load_balancer: 0 } } });
    try {
      await services.create(plain('too-many'));
      await cluster.until('an Event names the quota', async () =>
        (await cluster.eventsAbout('too-many', 'Service')).some((event) => /quota/iu.test(event)),
      );
    } finally {
      await lab.admin.request('load-balancer', 'DELETE', path);
    }
    // It is tried again after the longest delay, or when the Service changes.
    await services.patch('too-many', { metadata: { annotations: { example: 'raised' } } });
    await services.untilActive('too-many');
    await services.delete('too-many');
    await nothingIsLeft();
  });

  await t.test('a wrong password is one clear Event, told nowhere, and put right without a restart', async () => {
    await manager.end('SIGTERM');
    await cluster.configure({ password: WRONG_PASSWORD });
    manager.start();
    await services.create(plain('refused'));
    await cluster.until('an Event says that keystone refuses', async () =>
      (await cluster.eventsAbout('refused', 'Service')).some((event) =>
        /keystone|password|unauthenticated/iu.test(event),
      ),
    );
    const told = [await readFile(cluster.log, 'utf8'), ...(await cluster.eventsAbout('refused', 'Service'))];
    assert.ok(told.every((text) => !text.includes(WRONG_PASSWORD)));
    await cluster.configure({});
    await cluster.until('the file is read', async () =>
      (await readFile(cluster.log, 'utf8')).includes('"File reloaded"'),
    );
    // It is tried again after the longest delay, or when the Service changes.
    await services.patch('refused', { metadata: { annotations: { example: 'corrected' } } });
    await services.untilActive('refused');
    await services.delete('refused');
    await nothingIsLeft();
  });
});
