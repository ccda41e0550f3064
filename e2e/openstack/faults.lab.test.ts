/** Services while things go wrong: kill -9, an octavia and a keystone that are away, tokens that end. Nothing is leaked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../seeded-random.ts';
import { killAmid } from './kill-round.ts';
import { differenceOf, listProject } from './lab-listing.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';
import { voidTokens } from './void-tokens.ts';

/** More of them: `make chaos PART=openstack`. */
const ROUNDS = 5;
const SEED = Number(process.env['SEED'] ?? 1);

const plain = (name: string): ReturnType<typeof serviceOf> => serviceOf({ name, listeners: [] }, '');

test('services while things go wrong', async (t) => {
  const cluster = await OpenStackCluster.start(t);
  if (!cluster) return;
  const { lab } = cluster;
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
    async (t) => {
      const random = seededRandom(SEED);
      for (let round = 0; round < ROUNDS; round++) {
        const killedAt = await killAmid(cluster, `killed-${round}`, random);
        t.diagnostic(`round ${round}: killed with the load balancer ${killedAt.join(' and ')}`);
      }
      await services.untilGone(...Array.from({ length: ROUNDS }, (_, round) => `killed-${round}`));
      await nothingIsLeft();
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

  await t.test(
    'all tokens become void, and keystone goes away, while load balancers are made and deleted',
    async () => {
      await services.create(plain('signed-out'));
      await cluster.until(
        'octavia makes its load balancer',
        async () => (await services.statuses('signed-out')).length > 0,
      );
      await voidTokens(lab);
      await services.untilActive('signed-out');
      await services.create(plain('unknown'));
      await cluster.until('octavia makes the other one', async () => (await services.statuses('unknown')).length > 0);
      await lab.stop('keystone');
      try {
        await services.beginDelete('signed-out');
        await services.create(plain('later'));
        await cluster.until(
          'an Event says what is wrong',
          async () => (await cluster.eventsAbout('later', 'Service', 'Warning')).length > 0,
        );
      } finally {
        await lab.start('keystone');
      }
      await services.untilGone('signed-out');
      for (const name of ['unknown', 'later']) {
        const addresses = await services.untilServed(name);
        assert.deepEqual(addresses, [(await services.untilActive(name)).floatingIP]);
      }
      await services.delete('unknown', 'later');
      await nothingIsLeft();
    },
  );
});
